package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
)

func TestEveryKindOfErrorIsOneProblem(t *testing.T) {
	t.Parallel()
	const internal = "select from secret_table"
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{fleet.ErrNotFound, 404, "not_found"},
		{fleet.ErrInvalid, 400, "invalid_request"},
		{fleet.ErrConflict, 409, "conflict"},
		{fleet.ErrPrecondition, 412, "precondition_failed"},
		{fleet.ErrUnauthenticated, 401, "unauthenticated"},
		{fleet.ErrForbidden, 403, "forbidden"},
		{fleet.ErrLimit, 422, "limit_exceeded"},
		{fleet.ErrUnavailable, 503, "unavailable"},
		{context.DeadlineExceeded, 503, "unavailable"},
		{errors.New("something"), 500, "internal"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/whoami", nil)
		fail(w, r, fmt.Errorf("%s: %w", internal, c.err))
		var got oapi.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if w.Code != c.status || got.Code != c.code || int(got.Status) != c.status || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%v: %d %+v", c.err, w.Code, got)
		}
		if strings.Contains(w.Body.String(), internal) {
			t.Errorf("%v: what is internal leaks: %s", c.err, w.Body)
		}
		if (c.status == 503) != (w.Header().Get("Retry-After") == "1") {
			t.Errorf("%v: Retry-After is %q", c.err, w.Header().Get("Retry-After"))
		}
	}
}

func TestFaultsOfADocumentAreToldByField(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("apply: %w", resource.Errors{{Pointer: "/body/a~1b", Code: "unknown_field", Detail: "no such field"}})
	p := problemOf(err)
	if p.status != 422 || len(p.faults) != 1 || *p.faults[0].Pointer != "/body/a~1b" || p.faults[0].Code != "unknown_field" {
		t.Errorf("%+v", p)
	}
}

func TestT36_PanicIsContained(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&lines, nil))
	h := logged(log)(contained(log)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("the roof") })))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	var got oapi.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 500 || got.Code != "internal" {
		t.Fatalf("%d %s %v", w.Code, w.Body, err)
	}
	if got.RequestId == "" || got.RequestId != w.Header().Get("X-Request-Id") || !strings.Contains(lines.String(), got.RequestId) {
		t.Errorf("request id: body %q, header %q, log %s", got.RequestId, w.Header().Get("X-Request-Id"), &lines)
	}
	if strings.Contains(w.Body.String(), "roof") || !strings.Contains(lines.String(), "roof") {
		t.Errorf("the words of the panic belong into the log alone: %s", w.Body)
	}
}

func TestT38_LogLinesHoldTogether(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&lines, nil))
	h := logged(log)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r).fleet = "a\r\nINFO \x1b[31m\"b"
		fail(w, r, errors.New("one\ntwo"))
	}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	if n := strings.Count(lines.String(), "\n"); n != 1 || !json.Valid(lines.Bytes()) {
		t.Errorf("%d lines: %q", n, &lines)
	}
}

// TestT16_RequestsWithoutATokenAreOneLineASecond, however long what they send; those with a good one have a line each.
func TestT16_RequestsWithoutATokenAreOneLineASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		credential := ""
		h := logged(slog.New(slog.NewJSONHandler(&lines, nil)))(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			note(r).credential = credential
		}))
		ask := func(n int) int {
			lines.Reset()
			for range n {
				r := httptest.NewRequest(http.MethodGet, "/v1/"+strings.Repeat("a", 4000), nil)
				r.Method = strings.Repeat("B", 30_000)
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if most := 1000 * strings.Count(lines.String(), "\n"); lines.Len() > most {
				t.Errorf("%d bytes, want at most %d", lines.Len(), most)
			}
			return strings.Count(lines.String(), "\n")
		}
		if n := ask(100); n != 2 || !strings.Contains(lines.String(), `"more":98`) {
			t.Errorf("%d lines, want two: %s", n, &lines)
		}
		credential = "known"
		if n := ask(100); n != 100 {
			t.Errorf("%d lines of a good token's, want 100", n)
		}
	})
}

func TestIfNoneMatchReadsLists(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		``: false, `"1-a"`: true, `W/"1-a"`: true, `"0-b", "1-a"`: true, `*`: true, `"1-b"`: false, `1-a`: false,
	} {
		if got := matches(header, `"1-a"`); got != want {
			t.Errorf("%q: %t", header, got)
		}
	}
}
