package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// news is what the stream tells next; heartbeats are passed by.
func (s *stream) news() string {
	s.t.Helper()
	for {
		text := s.block()
		if text == "" {
			s.t.Fatalf("the stream has ended: %v", s.scanner.Err())
		}
		if _, data, ok := strings.Cut(text, "data: "); ok && !strings.HasPrefix(text, "event: heartbeat") {
			var line struct{ What []oapi.LiveWhat }
			must(s.t, json.Unmarshal([]byte(data), &line))
			return fmt.Sprint(line.What)
		}
	}
}

// tells reads on until each of the words was told.
func (s *stream) tells(words ...oapi.LiveWhat) {
	s.t.Helper()
	for len(words) > 0 {
		told := s.news()
		words = slices.DeleteFunc(words, func(w oapi.LiveWhat) bool { return strings.Contains(told, string(w)) })
	}
}

func TestWhatChangesIsToldAndNotWhatItIs(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s := w.followAt("live", "")
	w.put("a-secret-name")
	if got := s.news(); got != "[revision receipt findings]" {
		t.Errorf("a write is told as %s", got)
	}
	w.settledNode(w.fleet.ID, "n", 1)
	s.tells("nodes", "receipt", "findings")
	w.happens("n2")
	s.tells("nodes", "events")
	w.do(http.MethodPatch, w.at(), `{"references": "strict"}`).is(200, nil)
	s.tells("settings")
	_ = s.resp.Body.Close()
	w.put("b")
	again := w.beside().followAt("live", "", "Last-Event-ID", s.id) // another process
	if got := again.news(); !strings.HasPrefix(got, "[revision ") || strings.Contains(got, "settings") {
		t.Errorf("what was missed is told as %s", got)
	}
}

func TestLivePolls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var got oapi.LiveNews
	w.do(http.MethodGet, w.at("live"), "").is(200, &got)
	if len(got.What) != 0 || len(got.Position) != 48 {
		t.Fatalf("%+v", got)
	}
	from := got.Position
	w.do(http.MethodGet, w.at("live")+"?wait=20ms&after="+from, "").is(200, &got)
	if len(got.What) != 0 {
		t.Errorf("nothing has changed: %+v", got)
	}
	answered := make(chan answer)
	go func() { answered <- w.do(http.MethodGet, w.at("live")+"?wait=30s&after="+from, "") }()
	w.put("a")
	(<-answered).is(200, &got)
	if !slices.Contains(got.What, oapi.LiveWhatRevision) {
		t.Errorf("%+v", got)
	}
	w.do(http.MethodGet, w.at("live")+"?after="+from, "").is(200, &got)
	if !slices.Contains(got.What, oapi.LiveWhatRevision) {
		t.Errorf("at once: %+v", got)
	}
	for query, where := range map[string]string{"?after=x": "?after", "?after=" + strings.Repeat("g", 48): "?after", "?wait=2m": "?wait"} {
		w.do(http.MethodGet, w.at("live")+query, "").isProblem(400, "invalid_request", where)
	}
	w.do(http.MethodGet, w.at("live"), "", "Last-Event-ID", from).isProblem(400, "invalid_request", "?Last-Event-ID")
	w.do(http.MethodGet, w.at("live"), "", "Last-Event-ID", "1", "Accept", eventStreamType).isProblem(400, "invalid_request", "?Last-Event-ID")
}

func TestLiveStreamsEndAndAreBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	owner := w.owner
	id, token, hash := auth.NewAPIToken(auth.RoleViewer.TokenKind())
	_, err := w.store.CreateToken(t.Context(), w.tenant.ID, tester, store.APIToken{ID: id, Hash: hash, Role: auth.RoleViewer, Name: "v"})
	must(t, err)
	w.owner = token
	s := w.followAt("live", "")
	w.owner = owner
	two := int64(2)
	must(t, w.store.SetLimits(t.Context(), w.tenant.ID, tester, map[store.LimitName]*int64{store.LimitWaitingPolls: &two}))
	fresh := w.beside() // it does not know the limits of before
	other := fresh.followAt("live", "")
	fresh.followAt("events", "")
	fresh.do(http.MethodGet, w.at("live"), "", "Accept", eventStreamType).isProblem(429, "too_many_waiting", "")
	must(t, w.store.RevokeToken(t.Context(), w.tenant.ID, tester, id, store.Revocation{Within: auth.Roles()}))
	if got := s.end(); got != ": the token has ended" {
		t.Errorf("%q", got)
	}
	must(t, w.store.DeleteFleet(t.Context(), w.tenant.ID, tester, w.fleet.ID))
	if got := other.end(); got != ": the fleet is gone" {
		t.Errorf("%q", got)
	}
}

// A page says that it is live once an event has come through: it does not wait for the time of a heartbeat.
func TestALiveStreamBeginsWithAHeartbeat(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.liveBeat = time.Hour
	for _, path := range []string{w.at("live"), "/v1/live"} {
		s := w.followPath(path)
		defer time.AfterFunc(time.Minute, func() { _ = s.resp.Body.Close() }).Stop()
		if got := s.block(); got != "event: heartbeat\ndata: {\"what\":[]}\n" {
			t.Errorf("%s begins with %q", path, got)
		}
	}
}

func TestLiveStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.liveBeat = 50 * time.Millisecond
	s := w.followAt("live", "")
	if got := s.block(); got != "event: heartbeat\ndata: {\"what\":[]}\n" {
		t.Errorf("a heartbeat is %q", got)
	}
	w.api.Drain()
	if got := s.end(); got != ": the server stops" {
		t.Errorf("%q", got)
	}
}
