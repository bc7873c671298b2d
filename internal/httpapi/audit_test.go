package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/httpapi/oapi"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lived()
	w.do(http.MethodPatch, w.at(), `{"references": "strict"}`).is(200, nil)
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "*"}`).is(201, nil)
	path := "/v1/tenants/" + w.tenant.Slug + "/audit"
	list := func(query string) (out oapi.AuditList) {
		a := w.do(http.MethodGet, path+query, "").is(200, &out)
		if bytes.Contains(a.body, []byte("hush")) {
			t.Errorf("a secret is told: %s", a.body)
		}
		return out
	}
	kinds := func(es []oapi.AuditEvent) (out []string) {
		for _, e := range es {
			out = append(out, e.Kind)
		}
		return out
	}
	all := list("").Items
	if d := cmp.Diff([]string{"credential.create", "fleet.update", "resources.apply", "resources.delete"}, kinds(all)[:4]); d != "" {
		t.Error(d)
	}
	if e := all[1]; deref(e.Address) != "127.0.0.1" || deref(e.RequestId) == "" || e.By.Name != "owner" || e.By.Id == nil || deref(e.Fleet) != "edge" {
		t.Errorf("%+v", e)
	}
	if e := all[2]; deref(e.OldRevision) != 3 || deref(e.NewRevision) != 4 {
		t.Errorf("%+v", e)
	}
	for query, want := range map[string]int{"?kind=resources.put": 1, "?actor=editor": 1, "?actor=nobody": 0, "?fleet=other": 0, "?kind=resources.apply&fleet=edge": 2, "?until=2020-01-01T00:00:00Z": 0, "?since=2020-01-01T00:00:00Z": len(all), "?since=2999-01-01T00:00:00Z": 0} {
		if got := list(query); len(got.Items) != want || got.NextCursor != nil {
			t.Errorf("%s: %d events, want %d", query, len(got.Items), want)
		}
	}
	var paged []string
	for cursor := "?limit=2"; cursor != ""; {
		page := list(cursor)
		paged = append(paged, kinds(page.Items)...)
		if cursor = ""; page.NextCursor != nil {
			cursor = "?limit=2&cursor=" + *page.NextCursor
		}
	}
	if d := cmp.Diff(kinds(all), paged); d != "" {
		t.Error(d)
	}
	for query, where := range map[string]string{"?format=xml": "?format", "?cursor=x": "?cursor", "?since=x": "?since", "?who=x": "?who"} {
		w.do(http.MethodGet, path+query, "").isProblem(400, "invalid_request", where)
	}
}

// An export has every event, more than a page of them, one on a line.
func TestExportOfTheAudit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	super := w.db.Connect(t, w.db.Owner)
	_, err := super.Exec(t.Context(), `INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object)
		SELECT $1, now() - interval '1 day' - interval '1 second' * (g / 3), 'bulk', '', '', 'test', g::text FROM generate_series(1, 1700) g`, w.tenant.ID.String())
	must(t, err)
	must(t, super.Close(t.Context()))
	a := w.do(http.MethodGet, "/v1/tenants/"+w.tenant.Slug+"/audit?format=jsonl&actor=bulk", "").is(200, nil)
	if ct := a.header.Get("Content-Type"); ct != "application/jsonl" {
		t.Errorf("content type %q", ct)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(a.body) {
		var e oapi.AuditEvent
		must(t, json.Unmarshal(line, &e))
		seen[e.Object] = true
	}
	for i := range 1700 {
		if !seen[fmt.Sprint(i+1)] {
			t.Fatalf("%d is missing of %d", i+1, len(seen))
		}
	}
	t.Run("what fails on its way is in the log", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &call{tenant: w.tenant, note: &requestNote{}}
		out, err := w.api.ListAudit(ctx, c, oapi.ListAuditRequestObject{Params: oapi.ListAuditParams{Format: new(oapi.Jsonl)}})
		must(t, err)
		cancel()
		defer func() {
			v := recover()
			if cut, _ := v.(error); !errors.Is(cut, http.ErrAbortHandler) || !errors.Is(c.note.err, context.Canceled) {
				t.Errorf("it ends with %v, and the log has %v", v, c.note.err)
			}
		}()
		_, err = io.ReadAll(out.(oapi.ListAudit200ApplicationjsonlResponse).Body)
		t.Errorf("it ends like a whole one: %v", err)
	})
}
