package httpapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// stream is a client of server-sent events.
type stream struct {
	t       testing.TB
	resp    *http.Response
	scanner *bufio.Scanner
	id      string // the last one
}

func (w *world) follow(query string, headers ...string) *stream {
	w.t.Helper()
	return w.followAt("events", query, headers...)
}

func (w *world) followAt(what, query string, headers ...string) *stream {
	w.t.Helper()
	return w.followPath(w.at(what)+query, headers...)
}

func (w *world) followPath(path string, headers ...string) *stream {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+path, http.NoBody)
	must(w.t, err)
	r.Header.Set("Authorization", "Bearer "+w.owner)
	r.Header.Set("Accept", eventStreamType)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	resp, err := http.DefaultClient.Do(r)
	must(w.t, err)
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != eventStreamType {
		w.t.Fatalf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	s := &stream{t: w.t, resp: resp, scanner: bufio.NewScanner(resp.Body)}
	if first := s.block(); !strings.Contains(first, "retry: ") || s.id == "" {
		w.t.Fatalf("it begins with %q", first)
	}
	return s
}

// block is what stands before the next empty line; "" at the end.
func (s *stream) block() (text string) {
	for s.scanner.Scan() && s.scanner.Text() != "" {
		line := s.scanner.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			s.id = id
		}
		text += line + "\n"
	}
	return text
}

// event passes heartbeats by.
func (s *stream) event() (e oapi.Event) {
	s.t.Helper()
	for {
		text := s.block()
		if text == "" {
			s.t.Fatalf("the stream has ended: %v", s.scanner.Err())
		}
		if _, data, ok := strings.Cut(text, "data: "); ok {
			must(s.t, json.Unmarshal([]byte(data), &e))
			return e
		}
	}
}

// end is the last thing that the stream says.
func (s *stream) end() (last string) {
	for text := s.block(); text != ""; text = s.block() {
		last = text
	}
	return strings.TrimSpace(last)
}

// endWithin is end, "" of a stream that goes on for longer.
func (s *stream) endWithin(d time.Duration) string {
	cut := time.AfterFunc(d, func() { _ = s.resp.Body.Close() })
	if last := s.end(); cut.Stop() {
		return last
	}
	return ""
}

func (w *world) happens(nodes ...string) {
	w.t.Helper()
	for _, n := range nodes {
		w.refusingNode(w.fleet.ID, n, fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: "v", Revision: 1, Detail: "no", At: time.Now()})
	}
}

func TestEventsAreStreamed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.happens("old")
	s := w.follow("")
	w.happens("n1", "n2")
	for _, want := range []string{"n1", "n2"} {
		if e := s.event(); e.Node != want || e.Kind != oapi.EventKindRefused || *e.Id != s.id {
			t.Errorf("%+v with the id %s, want %s", e, s.id, want)
		}
	}
	_ = s.resp.Body.Close()
	w.happens("n3")
	again := w.follow("?since=1h", "Last-Event-ID", s.id) // the client's first question again
	if e := again.event(); e.Node != "n3" {
		t.Errorf("%+v", e)
	}
	of := w.follow("?node=n5&since=1h")
	w.happens("n4", "n5")
	if e := of.event(); e.Node != "n5" {
		t.Errorf("%+v", e)
	}
	all := w.follow("?since=1h")
	for _, want := range []string{"old", "n1", "n2", "n3", "n4", "n5"} {
		if e := all.event(); e.Node != want {
			t.Errorf("%+v, want %s", e, want)
		}
	}
	grouped := w.follow("?since=1h&grouped=true")
	if e := grouped.event(); *e.Nodes != 6 || *e.Detail != "no" || !slices.Equal(*e.NodeIds, []string{"n1", "n2", "n3", "n4", "n5", "old"}) || e.Id != nil || grouped.id == "" {
		t.Errorf("%+v", e)
	}
}

// The server bounds how long an answer takes to write; that of a stream is as long as it lives,
// and something comes within each heartbeat.
func TestAStreamOutlivesTheTimeForAnAnswer(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.api.heartbeat = 60 * time.Millisecond
	server := httptest.NewUnstartedServer(w.api.Handler())
	server.Config.WriteTimeout, server.Config.ReadTimeout = 150*time.Millisecond, 150*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	w.url = server.URL
	s := w.follow("")
	for range 10 {
		if text := s.block(); text != ": nothing new\n" {
			t.Fatalf("%q, %v", text, s.scanner.Err())
		}
	}
	w.happens("n")
	if e := s.event(); e.Node != "n" {
		t.Errorf("%+v", e)
	}
}

func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	t.Run("with their token", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		owner := w.owner
		id, token, hash := auth.NewAPIToken(auth.RoleViewer.TokenKind())
		_, err := w.store.CreateToken(t.Context(), w.tenant.ID, tester, store.APIToken{ID: id, Hash: hash, Role: auth.RoleViewer, Name: "v"})
		must(t, err)
		w.owner = token
		s := w.follow("")
		w.owner = owner
		must(t, w.store.RevokeToken(t.Context(), w.tenant.ID, tester, id, store.Revocation{Within: auth.Roles()}))
		if got := s.end(); got != ": the token has ended" {
			t.Errorf("%q", got)
		}
	})
	t.Run("when it expires", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		w.owner = w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleViewer, Name: "v", ExpiresAt: time.Now().Add(time.Second)})
		if got := w.follow("").end(); got != ": the token has ended" {
			t.Errorf("%q", got)
		}
	})
	t.Run("with their fleet", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		s := w.follow("")
		must(t, w.store.DeleteFleet(t.Context(), w.tenant.ID, tester, w.fleet.ID))
		if got := s.end(); got != ": the fleet is gone" {
			t.Errorf("%q", got)
		}
	})
	t.Run("with the server", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		s := w.follow("")
		w.api.Drain()
		if got := s.end(); got != ": the server stops" {
			t.Errorf("%q", got)
		}
	})
}

func TestHeadBeginsNoStream(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if a := w.do(http.MethodHead, w.at("events"), "", "Accept", eventStreamType).is(200, nil); a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", a.header)
	}
}

func TestOpenStreamsAreBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	two := int64(2)
	must(t, w.store.SetLimits(t.Context(), w.tenant.ID, tester, map[store.LimitName]*int64{store.LimitWaitingPolls: &two}))
	first := w.follow("")
	w.follow("")
	w.do(http.MethodGet, w.at("events"), "", "Accept", eventStreamType).isProblem(429, "too_many_waiting", "")
	w.do(http.MethodGet, w.at("events")+"?wait=1s", "").isProblem(429, "too_many_waiting", "")
	_ = first.resp.Body.Close()
	for w.api.polls.Used(access.Counted{Whose: w.tenant.ID, What: store.LimitWaitingPolls}) > 1 { // its end is noticed
		w.do(http.MethodGet, w.at("events"), "").is(200, nil)
	}
	w.follow("")
}

func TestEventsArePolled(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.happens("n0")
	var list oapi.EventList
	w.do(http.MethodGet, w.at("events")+"?wait=0s", "").is(200, &list)
	if len(list.Items) != 0 || list.Position == "" {
		t.Fatalf("%+v", list)
	}
	answered := make(chan answer)
	from := list.Position
	go func() { answered <- w.do(http.MethodGet, w.at("events")+"?wait=30s&node=n2&after="+from, "") }()
	w.happens("n1", "n2")
	(<-answered).is(200, &list)
	if len(list.Items) != 1 || list.Items[0].Node != "n2" {
		t.Errorf("%+v", list.Items)
	}
	list = oapi.EventList{}
	w.do(http.MethodGet, w.at("events")+"?limit=1&after="+from, "").is(200, &list)
	var seen []string
	for len(list.Items) > 0 { // page by page, oldest first
		seen = append(seen, list.Items[0].Node)
		next := list.Position
		list = oapi.EventList{}
		w.do(http.MethodGet, w.at("events")+"?limit=1&after="+next, "").is(200, &list)
	}
	if !slices.Equal(seen, []string{"n1", "n2"}) {
		t.Errorf("%v", seen)
	}
	var since oapi.EventList
	w.do(http.MethodGet, w.at("events")+"?wait=0s&grouped=true&since=1h", "").is(200, &since)
	if len(since.Items) != 1 || *since.Items[0].Nodes != 3 {
		t.Errorf("%+v", since.Items)
	}
	begun := time.Now()
	w.do(http.MethodGet, w.at("events")+"?wait=20ms&after="+since.Position, "").is(200, &list)
	if len(list.Items) != 0 || time.Since(begun) > 30*time.Second {
		t.Errorf("%+v after %v", list, time.Since(begun))
	}
}

// A node that came back refused again what it was offered again: who reads the groups one after the other is not told
// at the end that it has recovered.
func TestGroupsStandInTheOrderOfTheirLastEvents(t *testing.T) {
	t.Parallel()
	at := time.Now()
	var es []store.Event
	for i, kind := range []string{"refused", "kept_back", "recovered", "refused", "kept_back"} {
		es = append(es, store.Event{Kind: kind, Node: "n", Revision: 5, At: at.Add(time.Duration(i) * time.Second)})
	}
	got := each(groupsOf(es), func(e oapi.Event) string { return string(e.Kind) })
	if want := []string{"recovered", "refused", "kept_back"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestEventsInGroupsArePaged(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.happens("n1", "n2", "n3")
	w.refusingNode(w.fleet.ID, "n4", fleet.Refusal{Type: fleet.Cluster, Name: "b", Version: "v", Revision: 1, Detail: "never"})
	var words []string
	for cursor := ""; ; {
		var list oapi.EventList
		w.do(http.MethodGet, w.at("events")+"?grouped=true&limit=1&cursor="+cursor, "").is(200, &list)
		for _, e := range list.Items {
			words = append(words, fmt.Sprintf("%d nodes: %s", *e.Nodes, *e.Detail))
		}
		if list.NextCursor == nil {
			break
		}
		cursor = *list.NextCursor
	}
	if !slices.Equal(words, []string{"1 nodes: never", "3 nodes: no"}) {
		t.Errorf("%q", words)
	}
}

func TestBadQuestionsForEvents(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for query, where := range map[string]string{
		"?after=x": "?after", "?after=4503599627370496": "?after", "?after=1-2": "?after", "?wait=2m": "?wait", "?since=yesterday": "?since", "?since=-1h": "?since",
		"?wait=1s&cursor=abc": "?cursor", "?grouped=true&cursor=" + *nextEvent("events", time.Now(), [16]byte{1}): "?cursor",
	} {
		w.do(http.MethodGet, w.at("events")+query, "").isProblem(400, "invalid_request", where)
	}
	w.do(http.MethodGet, w.at("events"), "", "Last-Event-ID", "1").isProblem(400, "invalid_request", "?Last-Event-ID")
	w.do(http.MethodGet, w.at("events"), "", "Last-Event-ID", "4503599627370496", "Accept", eventStreamType).isProblem(400, "invalid_request", "?Last-Event-ID")
	w.do(http.MethodGet, w.at("events")+"?dry_run=true", "", "Accept", eventStreamType).isProblem(400, "invalid_request", "?dry_run")
}

// A client that was refused before it was asked who it is, is no node of the id "".
func TestAGroupOfEventsOfNoNodeHasNone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	denied := fleet.Denied{Key: fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}, Reason: fleet.DeniedRevoked, Attempts: 3, First: time.Now(), Last: time.Now()}
	streamed := groupsOf([]store.Event{{Kind: "denied", At: time.Now(), Denied: denied}})
	must(t, w.nodes.TellDenied(t.Context(), []fleet.Denied{denied}))
	var list oapi.EventList
	w.do(http.MethodGet, w.at("events")+"?grouped=true", "").is(200, &list)
	for _, got := range [][]oapi.Event{streamed, list.Items} {
		if len(got) != 1 || *got[0].Nodes != 0 || *got[0].NodeIds == nil || len(*got[0].NodeIds) != 0 {
			t.Errorf("%+v", got)
		}
	}
}
