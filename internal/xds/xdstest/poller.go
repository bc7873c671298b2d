package xdstest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"fairlead/internal/fleet"
)

// Poller polls over REST as an Envoy does: it takes what it is given, and says so by the next poll's version.
type Poller struct {
	Type    fleet.Type
	Names   []string
	Node    string
	Token   string // "" is "*"
	Version string // that it has
	Refuses bool   // it takes nothing that it is given
	Newer   bool   // it says of itself what nobody knows yet
	Query   string
	Header  http.Header
	Body    io.Reader // what it sends; nil: the request
	Length  int64     // of Body, if it says so

	t       testing.TB
	handler http.Handler
}

// paths are the URLs' by type.
var paths = map[fleet.Type]string{
	fleet.Listener: "listeners", fleet.Route: "routes", fleet.ScopedRoute: "scoped-routes", fleet.Cluster: "clusters", fleet.Endpoint: "endpoints",
	fleet.Secret: "secrets", fleet.Runtime: "runtime", fleet.Extension: "extension_configs",
}

// Poller returns one of a node for a type.
func (w *World) Poller(node string, t fleet.Type, names ...string) *Poller {
	p := PollerOf(w.t, w.Server, node, t, names...)
	p.Newer = true
	return p
}

// PollerOf returns one that polls a handler.
func PollerOf(t testing.TB, h http.Handler, node string, typ fleet.Type, names ...string) *Poller {
	return &Poller{Type: typ, Names: names, Node: node, t: t, handler: h}
}

// Polled is the answer of a poll.
type Polled struct {
	Code    int
	Version string
	Words   string // what an error says
	Set     string // "clusters a@1 b@1", of 200
	Body    []byte
}

// String is short: "200 clusters a@1", "304".
func (p Polled) String() string {
	switch p.Code {
	case http.StatusOK:
		return "200 " + p.Set
	case http.StatusNotModified:
		return "304"
	}
	return http.StatusText(p.Code) + ": " + p.Words
}

// Request is a poll's.
func (p *Poller) Request(ctx context.Context) *http.Request {
	node := map[string]any{
		"id": p.Node, "cluster": "edge", "user_agent_name": "envoy", "user_agent_build_version": map[string]any{"version": map[string]any{"major_number": 1, "minor_number": 40}},
		"extensions": []any{map[string]any{"name": "envoy.filters.http.router", "category": "envoy.filters.http"}},
	}
	fields := map[string]any{"node": node, "type_url": p.Type.URL(), "resource_names": p.Names, "version_info": p.Version}
	if p.Newer {
		node["a_field_of_tomorrow"], fields["another_one"] = 1, map[string]any{}
	}
	body, err := json.Marshal(fields)
	if err != nil {
		p.t.Fatal(err)
	}
	var sent io.Reader = bytes.NewReader(body)
	if p.Body != nil {
		sent = p.Body
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v3/discovery:"+paths[p.Type]+p.Query, sent)
	token := p.Token
	if token == "" {
		token = "*"
	}
	if p.Length > 0 {
		r.ContentLength = p.Length
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for name, values := range p.Header {
		r.Header[name] = values
	}
	return r
}

// Poll polls once.
func (p *Poller) Poll() Polled { return p.PollUntil(p.t.Context()) }

// PollUntil polls once, until ctx ends at most.
func (p *Poller) PollUntil(ctx context.Context) Polled {
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, p.Request(ctx))
	a := Polled{Code: w.Code, Body: w.Body.Bytes()}
	if a.Code != http.StatusOK {
		a.Words = strings.TrimSpace(w.Body.String())
		return a
	}
	var got discoveryv3.DiscoveryResponse
	if err := protojson.Unmarshal(a.Body, &got); err != nil {
		p.t.Errorf("the answer is no DiscoveryResponse: %v\n%s", err, a.Body)
		return a
	}
	a.Version = got.GetVersionInfo()
	r := Response{Type: p.Type}
	for _, x := range got.GetResources() {
		name, version, _ := read(x)
		r.Resources = append(r.Resources, Item{Name: name, Label: version})
	}
	slices.SortFunc(r.Resources, func(a, b Item) int { return strings.Compare(a.Name, b.Name) }) // their order says nothing, and some servers have none
	a.Set = r.String()
	if a.Version == "" || got.GetTypeUrl() != p.Type.URL() {
		p.t.Errorf("version_info %q, type_url %q", a.Version, got.GetTypeUrl())
	}
	if !p.Refuses {
		p.Version = a.Version
	}
	return a
}

// Want polls and fails unless the answer is that.
func (p *Poller) Want(answer string) Polled {
	p.t.Helper()
	a := p.Poll()
	if a.String() != answer {
		p.t.Fatalf("a poll of %s %v got %q, want %q", p.Type, p.Names, a, answer)
	}
	return a
}

// web serves polls on the connections of a line.
func (w *World) web() {
	if w.polls != nil {
		return
	}
	w.polls = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.line.lis.DialContext(ctx) },
	}}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- w.Server.ServeREST(ctx) }()
	w.t.Cleanup(func() {
		w.polls.CloseIdleConnections()
		w.Server.Drain()
		cancel()
		if err := <-served; err != nil {
			w.t.Errorf("serve REST: %v", err)
		}
	})
}

// WebPoller is a Poller whose polls go over the connections that gRPC's go over.
func (w *World) WebPoller(node string, t fleet.Type, names ...string) *Poller {
	w.web()
	return PollerOf(w.t, forward{w.polls}, node, t, names...)
}

// HangUp ends the connections of the WebPollers: those that poll from then on are others.
func (w *World) HangUp() { w.polls.CloseIdleConnections() }

// forward asks a server.
type forward struct{ client *http.Client }

func (f forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Scheme, r.URL.Host, r.RequestURI = "http", "fairlead", ""
	resp, err := f.client.Do(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}
