package xds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protojson"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// polled runs a script of polls.
func polled(t *testing.T, script func(t *testing.T, w *xdstest.World)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		script(t, w)
		w.Server.Drain()
		synctest.Wait()
	})
}

// later polls in a goroutine.
func later(p *xdstest.Poller) <-chan xdstest.Polled {
	answer := make(chan xdstest.Polled, 1)
	go func() { answer <- p.Poll() }()
	synctest.Wait()
	return answer
}

func pending(t *testing.T, answer <-chan xdstest.Polled) {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-answer:
		t.Fatalf("a waiting poll was answered %q", a)
	default:
	}
}

func TestRESTPolls(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		first := p.Want("200 clusters a@1")
		p.Want("304")
		time.Sleep(time.Second)
		w.AwaitSettled(t, 1)
		w.Publish(cluster("a", "2")...)
		if a := p.Want("200 clusters a@2"); a.Version == first.Version {
			t.Error("two sets have one version")
		}
		p.Header = http.Header{"Prefer": {"wait=0"}}
		p.Want("304")
		w.AwaitSettled(t, 2)
	})
}

func TestRESTNames(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(append(cluster("a", "1"), cluster("b", "1")...)...)
		w.Publish(route("r", "1"), xdstest.Put(fleet.Secret, "s", "1"))
		p := w.Poller("n1", fleet.Endpoint, "a")
		p.Want("200 endpoints a@1")
		p.Query = "?wait=0"
		p.Want("304")
		p.Names = []string{"a", "b"}
		p.Want("200 endpoints a@1 b@1")
		p.Want("304")
		w.Publish(xdstest.Put(fleet.Endpoint, "b", "2"))
		p.Want("200 endpoints a@1 b@2") // the whole set
		p.Names = []string{"b"}
		p.Want("200 endpoints b@2")
		// Each cluster's endpoints are a subscription of their own.
		q := w.Poller("n1", fleet.Endpoint, "a")
		q.Query = "?wait=0"
		q.Want("200 endpoints a@1")
		p.Want("304")
		q.Want("304")
		w.Poller("n1", fleet.Route, "r").Want("200 routes r@1")
		w.Poller("n1", fleet.Secret, "s").Want("200 secrets s@1")
		// What does not exist is an empty set, and one whose names alone changed is a 200 too.
		none := w.Poller("n1", fleet.Route, "none")
		none.Query = "?wait=0"
		none.Want("200 routes")
		none.Want("304")
		none.Names = []string{"neither"}
		none.Want("200 routes")
		none.Want("304")
	})
}

// TestRESTNamesThatChangeNothing: a list that grew by what does not exist has the old list's version.
func TestRESTNamesThatChangeNothing(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(route("r", "1"))
		p := w.Poller("n1", fleet.Route, "r")
		p.Query = "?wait=0"
		p.Want("200 routes r@1")
		p.Names = []string{"r", "none"}
		p.Want("200 routes r@1")
		p.Want("304")
	})
}

// TestRESTLostAnswer: the version before once more is no refusal.
func TestRESTLostAnswer(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		p.Refuses = true
		p.Want("200 clusters a@1")
		p.Refuses = false
		p.Want("200 clusters a@1")
		p.Want("304")
		w.Publish(cluster("a", "2")...)
		p.Refuses = true
		p.Want("200 clusters a@2")
		p.Refuses = false
		p.Want("200 clusters a@2")
		p.Want("304")
		if n := len(w.Refusals()); n != 0 {
			t.Errorf("%d refusals were told", n)
		}
	})
}

// TestT41_ProcessesThatEndEarlyRefuseNothing: each process of a client ends before it polls a second time. None of them has a version, and that is no refusal, however many they are.
func TestT41_ProcessesThatEndEarlyRefuseNothing(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		for range 6 {
			p := w.WebPoller("n1", fleet.Cluster)
			p.Query = "?wait=0"
			p.Want("200 clusters a@1")
			w.HangUp()
			time.Sleep(time.Second)
		}
		p := w.WebPoller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		p.Want("200 clusters a@1")
		p.Want("304")
		if n := len(w.Refusals()); n != 0 {
			t.Errorf("%d refusals were told", n)
		}
	})
}

// TestRESTRefusedByAFreshProcess: one that has nothing yet and asks again on a connection by which it was answered, or that it had then, did not take that.
func TestRESTRefusedByAFreshProcess(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(append(cluster("bad", "1"), cluster("good", "1")...)...)
		p := w.WebPoller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		for range 20 {
			p.Refuses = true
			a := p.Poll()
			time.Sleep(time.Second)
			if a.Code == http.StatusOK && !strings.Contains(a.Set, "bad@") && strings.Contains(a.Set, "good@") {
				return
			}
			if a.Code == http.StatusOK && !strings.Contains(a.Set, "bad@") {
				p.Version = a.Version
			}
		}
		t.Error("it never got the good one alone")
	})
}

// TestRESTRefused: the version before twice is.
func TestRESTRefused(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(append(cluster("good", "1"), cluster("bad", "1")...)...)
		p := w.Poller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		p.Want("200 clusters bad@1 good@1")
		p.Want("304")
		w.Publish(cluster("bad", "2")...)
		p.Refuses = true
		p.Want("200 clusters bad@2 good@1")
		p.Want("200 clusters bad@2 good@1")
		p.Refuses = false
		p.Want("200 clusters bad@1 good@1") // an Envoy may have taken half of what it refused
		p.Want("304")
		all := w.Refusals()
		if len(all) != 1 || len(all[0].Blame) != 1 || all[0].Blame[0].Refused.Name != "bad" || !all[0].Presumed || all[0].Detail != planner.ProbablyRefused {
			t.Errorf("refusals %+v, want one of bad, presumed", all)
		}
		w.AwaitSettled(t, 2)
		w.Publish(cluster("good", "2")...)
		p.Want("200 clusters bad@1 good@2")
		p.Want("304")
	})
}

// TestRESTRefusedAmongOthers: which of several it was is found by halves, and the good ones serve.
func TestRESTRefusedAmongOthers(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		p.Want("200 clusters a@1")
		p.Want("304")
		w.Publish(append(append(cluster("b", "1"), cluster("bad", "1")...), append(cluster("c", "1"), cluster("d", "1")...)...)...)
		got := ""
		for range 30 {
			p.Refuses = true
			a := p.Poll()
			if a.Code == http.StatusNotModified {
				break
			}
			if got = a.Set; strings.Contains(got, "bad@") {
				continue
			}
			p.Refuses, p.Version = false, a.Version
		}
		if got != "clusters a@1 b@1 c@1 d@1" {
			t.Errorf("it ended with %q", got)
		}
		for _, r := range w.Refusals() {
			for _, b := range r.Blame {
				if b.Refused.Name != "bad" {
					t.Errorf("%s was blamed", b.Refused.Name)
				}
			}
		}
		w.AwaitSettled(t, 2)
	})
}

// TestRESTAnotherServer: a version that is current is settled, on a server that has never seen the client too.
func TestRESTAnotherServer(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(append(cluster("a", "1"), xdstest.Put(fleet.Listener, "l", "1"), route("r", "1"))...)
		for _, p := range []*xdstest.Poller{w.Poller("n1", fleet.Cluster), w.Poller("n1", fleet.Listener), w.Poller("n1", fleet.Route, "r"), w.Poller("n1", fleet.Endpoint, "a")} {
			p.Query = "?wait=0"
			p.Poll()
			p.Want("304")
			srv, err := xds.New(xds.Config{Authenticator: w.Source, Source: w.Source})
			if err != nil {
				t.Fatal(err)
			}
			// However the last stream ended: an Envoy reports what it took in.
			w.Left(xds.LastStream{Known: true})
			q := xdstest.PollerOf(t, srv, "n1", p.Type, p.Names...)
			q.Version, q.Query = p.Version, "?wait=0"
			q.Want("304")
			synctest.Wait()
			time.Sleep(2 * time.Second)
			q.Want("304")
			// A version that nobody knows is answered with the set.
			q.Version = "of-another-server"
			if a := q.Poll(); a.Version != p.Version {
				t.Errorf("%s: version %q, on the other server %q", p.Type, a.Version, p.Version)
			}
			srv.Drain()
			synctest.Wait()
		}
	})
}

func TestRESTBeginsAnew(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		p.Want("200 clusters a@1")
		p.Want("304")
		p.Version = "" // another process
		p.Want("200 clusters a@1")
		p.Want("304")
	})
}

// TestT08_TwoPollsOfOneNodeIDWait: two proxies with one node id, that say another thing of themselves, poll for the same and wait. Each is answered in
// its own session, and neither ends the other's.
func TestT08_TwoPollsOfOneNodeIDWait(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Want("200 clusters a@1")
		q := *p
		q.Newer = false // another node, of the same id
		p.Query, q.Query = "?wait=30", "?wait=30"
		one, other := later(p), later(&q)
		time.Sleep(29 * time.Second)
		pending(t, one)
		pending(t, other)
		if n := w.Streams(); n != 2 {
			t.Errorf("%d streams, want 2", n)
		}
		time.Sleep(1100 * time.Millisecond)
		for _, answer := range []<-chan xdstest.Polled{one, other} {
			if a := <-answer; a.String() != "304" {
				t.Errorf("a poll that waited got %q", a)
			}
		}
	})
}

// TestRESTAnotherProcessTakesThePlace: of one that says something else of itself and does not wait, as after an upgrade.
func TestRESTAnotherProcessTakesThePlace(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		p.Want("200 clusters a@1")
		p.Want("304")
		p.Newer, p.Version = false, ""
		p.Want("200 clusters a@1")
		synctest.Wait()
		if n := w.Streams(); n != 1 {
			t.Errorf("%d streams, want 1", n)
		}
		p.Want("304")
	})
}

// TestRESTAPollWaitsAsLongAsItSays: also one that goes on in another session, because another process of the client has come.
func TestRESTAPollWaitsAsLongAsItSays(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Want("200 clusters a@1")
		q := *p
		p.Query = "?wait=20"
		answer := later(p)
		time.Sleep(10 * time.Second)
		q.Version, q.Query = "", "?wait=0"
		if a := q.Poll(); a.String() != "200 clusters a@1" && a.Code != http.StatusServiceUnavailable { // who of the two begins is chance
			t.Errorf("another process got %q", a)
		}
		time.Sleep(11 * time.Second)
		select {
		case a := <-answer:
			if a.String() != "304" && a.Code != http.StatusServiceUnavailable {
				t.Errorf("got %q", a)
			}
		default:
			t.Error("a poll that asked to wait for 20 s waits after 21 s")
		}
	})
}

// TestT08_APollThatReadsNothing: a client that reads nothing is ended after Limits.Write, over REST too.
func TestT08_APollThatReadsNothing(t *testing.T) {
	for _, reads := range []bool{true, false} {
		t.Run(fmt.Sprint("it reads: ", reads), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				src := xdstest.NewSource()
				srv, err := xds.New(xds.Config{Authenticator: src, Source: src, Limits: xds.Limits{Write: 10 * time.Second}})
				if err != nil {
					t.Fatal(err)
				}
				for i := range 100 {
					src.Publish(cluster(fmt.Sprintf("%0400d", i), "1")...)
				}
				lis := &dated{Listener: bufconn.Listen(4 << 10)}
				gs := srv.NewGRPC()
				ctx, cancel := context.WithCancel(t.Context())
				var serving sync.WaitGroup
				serving.Go(func() { _ = gs.Serve(srv.Listener(lis)) })
				serving.Go(func() { _ = srv.ServeREST(ctx) })
				c, err := lis.DialContext(ctx)
				if err != nil {
					t.Fatal(err)
				}
				const body = `{"node": {"id": "n1"}}`
				if _, err := fmt.Fprintf(c, "POST /v3/discovery:clusters?wait=0 HTTP/1.1\r\nHost: fairlead\r\nAuthorization: Bearer *\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
					t.Fatal(err)
				}
				if !reads {
					time.Sleep(11 * time.Second)
				}
				got, err := io.ReadAll(io.LimitReader(c, 40_000)) // of more than that
				if whole := err == nil && len(got) == 40_000; whole != reads {
					t.Errorf("a client that reads in time (%t) is given %d bytes: %v", reads, len(got), err)
				}
				_ = c.Close()
				srv.Drain()
				cancel()
				gs.Stop()
				serving.Wait()
				if last := lis.set[len(lis.set)-1]; len(lis.set) != 2 || lis.set[0].IsZero() || !last.IsZero() {
					t.Errorf("gRPC's server set the deadlines of a connection of REST to %v", lis.set)
				}
			})
		})
	}
}

// dated notes how the deadlines of the only connection that it accepts are set, of reads and of writes together.
type dated struct {
	*bufconn.Listener
	set []time.Time
}

func (d *dated) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	return datedConn{c, d}, err
}

type datedConn struct {
	net.Conn
	of *dated
}

func (c datedConn) SetDeadline(at time.Time) error {
	c.of.set = append(c.of.set, at)
	return c.Conn.SetDeadline(at)
}

func TestRESTLongPoll(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Want("200 clusters a@1")
		for _, how := range []func(){func() { p.Query = "?wait=20" }, func() { p.Query, p.Header = "", http.Header{"Prefer": {"respond-async, wait=20"}} }} {
			how()
			answer := later(p)
			time.Sleep(19 * time.Second)
			pending(t, answer)
			time.Sleep(1100 * time.Millisecond)
			if a := <-answer; a.String() != "304" {
				t.Fatalf("a poll that waited got %q", a)
			}
			answer = later(p)
			time.Sleep(7 * time.Second)
			pending(t, answer)
			before := time.Now()
			w.Publish(cluster("a", time.Now().Format("150405"))...)
			if a := <-answer; a.Code != http.StatusOK || time.Since(before) > time.Millisecond {
				t.Fatalf("a change was answered with %q after %s", a, time.Since(before))
			}
			p.Header = nil
		}
		// Who polls faster than once in 5 s waits without asking for it, but not for longer than it says.
		p.Query = ""
		answer := later(p)
		pending(t, answer)
		time.Sleep(5100 * time.Millisecond)
		if a := <-answer; a.String() != "304" {
			t.Fatalf("got %q", a)
		}
		p.Header = http.Header{"X-Envoy-Expected-Rq-Timeout-Ms": {"1000"}}
		answer = later(p)
		time.Sleep(700 * time.Millisecond)
		pending(t, answer)
		time.Sleep(150 * time.Millisecond)
		if a := <-answer; a.String() != "304" {
			t.Fatalf("got %q", a)
		}
		p.Header = nil
		time.Sleep(6 * time.Second)
		p.Want("304") // it polls slowly
	})
}

// TestRESTNobodyWaits: what changes while nobody polls is worked out for the next poll, and not for the last.
func TestRESTNobodyWaits(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		p.Want("200 clusters a@1")
		p.Want("304")
		w.Publish(cluster("a", "2")...)
		synctest.Wait()
		time.Sleep(10 * time.Second)
		w.Publish(cluster("a", "3")...)
		synctest.Wait()
		p.Want("200 clusters a@3")
		p.Want("304")
		// A poll whose client goes away while it waits took nothing with it.
		ctx, cancel := context.WithCancel(t.Context())
		p.Query = "?wait=30"
		gone := make(chan struct{})
		go func() { p.PollUntil(ctx); close(gone) }()
		synctest.Wait()
		cancel()
		<-gone
		w.Publish(cluster("a", "4")...)
		p.Query = "?wait=0"
		p.Want("200 clusters a@4")
	})
}

// TestRESTSessionsEnd: a session without a poll ends, clean if nothing is unanswered, in a time that its client's own pace tells.
func TestRESTSessionsEnd(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Query = "?wait=0"
		p.Want("200 clusters a@1")
		p.Want("304")
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if n := w.Streams(); n != 1 {
			t.Fatalf("%d streams within 30 s, want 1", n)
		}
		p.Want("304")
		time.Sleep(86 * time.Second) // three times 29 s
		synctest.Wait()
		if n := w.Streams(); n != 1 {
			t.Fatalf("%d streams, want 1", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := w.Streams(); n != 0 {
			t.Fatalf("%d streams of a client that is gone", n)
		}
		p.Want("304")
	})
}

// TestRESTErrors: the right status in words, and an empty set never.
func TestRESTErrors(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		send := func(method, path, body string, edit ...func(*http.Request)) xdstest.Polled {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer *")
			for _, e := range edit {
				e(r)
			}
			rec := httptest.NewRecorder()
			w.Server.ServeHTTP(rec, r)
			return xdstest.Polled{Code: rec.Code, Words: rec.Body.String()}
		}
		const clusters = "/v3/discovery:clusters"
		for _, x := range []struct {
			name, method, path, body string
			edit                     func(*http.Request)
			code                     int
			words                    string
		}{
			{"xDS v2", "POST", "/v2/discovery:clusters", "{}", nil, 404, "/v3/discovery:clusters"},
			{"another path", "POST", "/v3/discovery:stars", "{}", nil, 404, "/v3/discovery:clusters"},
			{"no POST", "GET", clusters, "", nil, 405, "POST"},
			{"no JSON", "POST", clusters, "hello", nil, 400, "JSON"},
			{"an unfinished one", "POST", clusters, `{"node":{"id":"n1"}`, nil, 400, "JSON"},
			{"two of them", "POST", clusters, `{"node":{"id":"n1"}} {}`, nil, 400, "follows"},
			{"two nodes", "POST", clusters, `{"node":{"id":"n1"},"node":{"id":"n2"}}`, nil, 400, `"node" stands there twice`},
			{"no node", "POST", clusters, `{}`, nil, 400, "node.id"},
			{"no node id", "POST", clusters, `{"node":{}}`, nil, 400, "node.id"},
			{"a node that is none", "POST", clusters, `{"node":7}`, nil, 400, "node"},
			{"a list that is none", "POST", clusters, `{"node":{"id":"n1"},"resource_names":7}`, nil, 400, "resource_names"},
			{"another type", "POST", clusters, `{"node":{"id":"n1"},"type_url":"type.googleapis.com/envoy.config.listener.v3.Listener"}`, nil, 400, "/v3/discovery:clusters"},
			{"too large", "POST", clusters, `{"node":{"id":"` + strings.Repeat("a", 5<<20), nil, 413, "limit"},
			{"a large node", "POST", clusters, `{"node":{"id":"n1","metadata":{"a":"` + strings.Repeat("a", 300<<10) + `"}}}`, nil, 413, "node: it takes"},
			{"large metadata", "POST", clusters, `{"node":{"id":"n1","metadata":{"a":"` + strings.Repeat("a", 64<<10) + `"}}}`, nil, 413, "node.metadata takes"},
			{"a long node id", "POST", clusters, `{"node":{"id":"` + strings.Repeat("a", 513) + `"}}`, nil, 413, "node.id takes"},
			{"a long zone", "POST", clusters, `{"node":{"id":"n1","locality":{"zone":"` + strings.Repeat("a", 513) + `"}}}`, nil, 413, "node.locality.zone takes"},
			{"compressed", "POST", clusters, "\x1f\x8b", func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, 415, "Content-Encoding"},
			{"a body that is broken", "POST", clusters, "", func(r *http.Request) {
				r.Body = io.NopCloser(iotest.ErrReader(errors.New("malformed chunked encoding")))
			}, 400, "malformed"},
			{"deep", "POST", clusters, `{"node":{"id":"n1","metadata":` + strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 202), nil, 400, "node"},
			{"a wait that is none", "POST", clusters + "?wait=x", `{"node":{"id":"n1"}}`, nil, 400, "wait"},
			{"locators", "POST", clusters, `{"node":{"id":"n1"},"resource_locators":[{"name":"xdstp://a"}]}`, nil, 400, "xdstp"},
			{"no credential", "POST", clusters, "{}", func(r *http.Request) { r.Header.Del("Authorization") }, 401, "node token"},
			{"a bad one", "POST", clusters, "{}", func(r *http.Request) { r.Header.Set("Authorization", "Bearer bad") }, 401, ""},
			{"two", "POST", clusters, "{}", func(r *http.Request) { r.Header.Add("Authorization", "Bearer a") }, 401, "more than one"},
			{"of another node", "POST", clusters, `{"node":{"id":"n1"}}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer web-*") }, 403, "node id"},
			{"routed", "POST", clusters, `{"node":{"id":"n1"}}`, func(r *http.Request) { r.Header.Set("X-Request-Id", "1") }, 403, "x-request-id"},
			{"of a page", "POST", clusters, `{"node":{"id":"n1"}}`, func(r *http.Request) { r.Header.Set("Origin", "http://rebound.example:18003") }, 403, "browser"},
			{"of a page by another word", "POST", clusters, `{"node":{"id":"n1"}}`, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, 403, "browser"},
			{"mirrored", "POST", clusters, `{"node":{"id":"n1"}}`, func(r *http.Request) { r.Host = "fairlead_xds-shadow" }, 403, ":authority"},
		} {
			a := send(x.method, x.path, x.body, func(r *http.Request) {
				if x.edit != nil {
					x.edit(r)
				}
			})
			if a.Code != x.code || !strings.Contains(a.Words, x.words) {
				t.Errorf("%s: %d %q, want %d with %q", x.name, a.Code, a.Words, x.code, x.words)
			}
		}
		w.Away(fleet.ErrUnavailable)
		if a := p.Poll(); a.Code != 503 || a.Words == "" {
			t.Errorf("a fleet that cannot be had: %q", a)
		}
		w.Away(fleet.ErrForbidden)
		if a := p.Poll(); a.Code != 403 {
			t.Errorf("a fleet that is gone: %q", a)
		}
		w.Away(nil)
		p.Want("200 clusters a@1")
		p.Query = "?wait=30"
		answer := later(p)
		w.End(fleet.ErrUnauthenticated)
		if a := <-answer; a.Code != 401 {
			t.Errorf("a credential that is revoked while a poll waits: %q", a)
		}
		p.Want("304") // with another one
	})
}

// TestRESTABodyThatDoesNotEnd: its client is told so, and what it has not sent is not waited for. It is told of as a poll that was refused; one whose client has gone is not.
func TestRESTABodyThatDoesNotEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told atomic.Int64
		w := xdstest.New(t, func(c *xds.Config) {
			c.Denied = func(xds.Identity, fleet.DeniedReason, string, string, string) { told.Add(1) }
		})
		w.Publish(cluster("a", "1")...)
		p := w.WebPoller("n1", fleet.Cluster)
		unended := func() (*io.PipeReader, *io.PipeWriter) {
			r, w := io.Pipe()
			go func() { _, _ = w.Write([]byte("{")) }()
			return r, w
		}
		for _, p.Length = range []int64{0, 1000, 1 << 20} {
			body, more := unended()
			p.Body = body
			begun := time.Now()
			if a := p.Poll(); a.Code != http.StatusRequestTimeout || !strings.Contains(a.Words, "30s") {
				t.Errorf("of %d bytes: it is told %d %q", p.Length, a.Code, a.Words)
			}
			if took := time.Since(begun); took != 30*time.Second {
				t.Errorf("of %d bytes: it is told after %s", p.Length, took)
			}
			_ = more.Close()
		}
		body, more := unended()
		p.Body = body
		time.AfterFunc(time.Second, func() { _ = more.CloseWithError(io.ErrClosedPipe) })
		p.Poll()
		synctest.Wait()
		if n := told.Load(); n != 3 {
			t.Errorf("of four polls that did not end, one of which its client gave up, %d are told of", n)
		}
		w.Server.Drain()
		synctest.Wait()
	})
}

// TestT40_PollsThatAreReadShareTheirRoom: polls up to 256 KiB that do not end hold 16 MiB of a tenant together. What is above 4 KiB waits for one of them to end.
func TestT40_PollsThatAreReadShareTheirRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		w.Publish(cluster("a", "1")...)
		var slow []<-chan xdstest.Polled
		for i := range 64 {
			p := w.WebPoller(fmt.Sprint("slow", i), fleet.Cluster)
			body, more := io.Pipe()
			go func() { _, _ = more.Write([]byte("{")) }()
			t.Cleanup(func() { _ = more.Close() })
			p.Body, p.Length = body, int64(256<<10-i%2) // an odd one says less, and leaves no room for another
			slow = append(slow, later(p))
		}
		synctest.Wait()
		time.Sleep(time.Second)
		begun := time.Now()
		poll := func(node string, bytes int) *xdstest.Poller {
			p := w.WebPoller(node, fleet.Cluster)
			p.Query = "?wait=0"
			text := fmt.Sprintf(`{"node": {"id": %q}}%s`, node, strings.Repeat(" ", bytes))
			p.Body, p.Length = strings.NewReader(text), int64(len(text))
			return p
		}
		waits := later(poll("large", 100<<10))
		if a := poll("small", 100).Poll(); a.Code != http.StatusOK || time.Since(begun) != 0 {
			t.Errorf("a small poll is answered %d %q after %s", a.Code, a.Words, time.Since(begun))
		}
		if a := <-waits; a.Code != http.StatusOK || time.Since(begun) != 29*time.Second {
			t.Errorf("a poll of 100 KiB is answered %d %q after %s, want 200 when the others are given up", a.Code, a.Words, time.Since(begun))
		}
		for _, answer := range slow {
			if a := <-answer; a.Code != http.StatusRequestTimeout {
				t.Errorf("a poll that does not end got %q", a)
			}
		}
		w.Server.Drain()
		synctest.Wait()
	})
}

// TestRESTPrefersToWait: what RFC 7240 lets a client write is read, and what is too long is the longest.
func TestRESTPrefersToWait(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		for prefer, want := range map[string]time.Duration{
			"wait=7": 7 * time.Second, `wait="7"`: 7 * time.Second, "wait = 7": 7 * time.Second, "respond-async, WAIT=7; why=none": 7 * time.Second, "wait=7, wait=9": 7 * time.Second,
			"wait=56": 55 * time.Second, "wait=65536": 55 * time.Second, "wait=99999999999999999999999": 55 * time.Second,
		} {
			p := w.Poller("n1", fleet.Cluster)
			p.Want("200 clusters a@1")
			p.Want("304")
			p.Header = http.Header{"Prefer": {prefer}}
			begun := time.Now()
			if a := p.Poll(); a.String() != "304" || time.Since(begun) != want {
				t.Errorf("%s: %q after %s, want 304 after %s", prefer, a, time.Since(begun), want)
			}
		}
		for _, prefer := range []string{"wait", "wait=", "wait=-1", "wait=1.5", "wait=1e3", "wait=soon"} {
			p := w.Poller("n1", fleet.Cluster)
			p.Header = http.Header{"Prefer": {prefer}}
			if a := p.Poll(); a.Code != http.StatusBadRequest || !strings.Contains(a.Words, "number of seconds") {
				t.Errorf("%s: %q", prefer, a)
			}
		}
	})
}

// TestT24_NoPagePollsAnOpenPort: a port without a token gives a page nothing, under whatever name it reached it.
func TestT24_NoPagePollsAnOpenPort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		src := xdstest.NewSource()
		id, err := src.Authenticate(t.Context(), "*")
		if err != nil {
			t.Fatal(err)
		}
		w := xdstest.New(t, func(c *xds.Config) { c.Source, c.Anonymous = src, &id })
		src.Publish(cluster("a", "1")...)
		for origin, want := range map[string]int{"": 200, "http://rebound.example:18003": 403, "null": 403} {
			p := w.Poller("n1", fleet.Cluster)
			p.Query, p.Header = "?wait=0", http.Header{"Content-Type": {"text/plain"}}
			if origin != "" {
				p.Header.Set("Origin", origin)
			}
			if a := p.Poll(); a.Code != want {
				t.Errorf("of the origin %q: %q, want %d", origin, a, want)
			}
		}
		w.Server.Drain()
		synctest.Wait()
	})
}

// TestRESTDrains: a server that stops answers the polls that wait.
func TestRESTDrains(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Want("200 clusters a@1")
		p.Query = "?wait=50"
		answer := later(p)
		w.Server.Drain()
		if a := <-answer; a.String() != "304" {
			t.Errorf("a poll that waited got %q", a)
		}
		if a := p.Poll(); a.Code != 503 {
			t.Errorf("the next poll got %q", a)
		}
	})
}

// TestT08_RESTIsBounded: what one credential may have waiting, and how fast it may ask.
func TestT08_RESTIsBounded(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Want("200 clusters a@1")
		p.Query = "?wait=50"
		var answers []<-chan xdstest.Polled
		for range 16 {
			q := *p
			answers = append(answers, later(&q))
		}
		if a := p.Poll(); a.Code != 429 || !strings.Contains(a.Words, "node.id") {
			t.Errorf("one more got %q", a)
		}
		if n := w.Streams(); n != 1 {
			t.Errorf("%d streams for one session", n)
		}
		w.Publish(cluster("a", "2")...)
		for _, a := range answers {
			if got := <-a; got.String() != "200 clusters a@2" {
				t.Errorf("got %q", got)
			}
		}
		p.Query = "?wait=0"
		p.Version = ""
		p.Poll()
		fast := 0
		for range 1000 {
			if a := p.Poll(); a.Code == 429 {
				fast++
			}
		}
		if fast == 0 {
			t.Error("a thousand polls at once were answered")
		}
	})
}

// sharedBody is a ResponseWriter that notes where the body is.
type sharedBody struct {
	http.ResponseWriter
	at *byte
}

func (s *sharedBody) Write(p []byte) (int, error) {
	s.at = &p[0]
	return s.ResponseWriter.Write(p)
}

// TestRESTOneEncoding: what many polls of one state are answered with is encoded once, and once more for the first of them, of whom
// nobody knows that others follow.
func TestRESTOneEncoding(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(cluster("a", "1")...)
		ask := func(p *xdstest.Poller) *byte {
			body := &sharedBody{ResponseWriter: httptest.NewRecorder()}
			w.Server.ServeHTTP(body, p.Request(t.Context()))
			return body.at
		}
		encodings := map[*byte]int{}
		for i := range 100 {
			encodings[ask(w.Poller(fmt.Sprintf("n%d", i), fleet.Cluster))]++
		}
		if len(encodings) > 2 {
			t.Errorf("%d encodings of one answer", len(encodings))
		}
	})
}

// BenchmarkWaiting is how many goroutines a poll that waits and a stream take while nothing happens, their clients' included.
func BenchmarkWaiting(b *testing.B) {
	const many = 200
	for _, x := range []struct {
		name string
		wait func(w *xdstest.World, i int)
	}{
		{"stream", func(w *xdstest.World, i int) {
			c := xdstest.Open(b, w.Dial(), xdstest.SotW, xdstest.Envoy(fmt.Sprintf("n%d", i)))
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Next())
		}},
		{"poll", func(w *xdstest.World, i int) {
			p := w.WebPoller(fmt.Sprintf("n%d", i), fleet.Cluster)
			p.Poll()
			p.Query = "?wait=55"
			go p.Poll()
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				w := xdstest.New(b)
				w.Publish(cluster("a", "1")...)
				before := runtime.NumGoroutine()
				for i := range many {
					x.wait(w, i)
				}
				for w.Settled() != 1 || w.Streams() != many { // it is counted, not timed
					runtime.Gosched()
				}
				b.ReportMetric(float64(runtime.NumGoroutine()-before)/many, "goroutines/client")
			}
		})
	}
}

// TestRESTOnThePortOfGRPC: a connection is told by its first bytes.
func TestRESTOnThePortOfGRPC(t *testing.T) {
	t.Parallel()
	w := xdstest.New(t)
	w.Publish(cluster("a", "1")...)
	p := w.WebPoller("n1", fleet.Cluster)
	p.Want("200 clusters a@1")
	p.Query = "?wait=0"
	p.Want("304")
	c := w.Open(xdstest.SotW, "n2")
	c.Subscribe(fleet.Cluster)
	c.Ack(c.Want("clusters a@1"))
	p.Query = "?wait=50"
	answer := make(chan xdstest.Polled, 1)
	go func() { answer <- p.Poll() }()
	w.Publish(cluster("a", "2")...)
	c.Ack(c.Want("clusters a@2"))
	if a := <-answer; a.String() != "200 clusters a@2" {
		t.Errorf("got %q", a)
	}
	w.End(fleet.ErrUnauthenticated)
	p.Token = "bad"
	if a := p.Poll(); a.Code != http.StatusUnauthorized {
		t.Errorf("a credential that was revoked got %q", a)
	}
}

// FuzzPoll: a poll is decoded or refused, whatever it holds.
func FuzzPoll(f *testing.F) {
	for _, s := range []string{
		`{"node":{"id":"n1"}}`, `{"node":{"id":"n1","extensions":[{}]},"resource_names":["a"],"version_info":"1"}`, `{"node":null}`, `{"node":{"id":"n1"},"resourceNames":["a","a"],"typeUrl":""}`,
		`{"node":{"id":"n1","metadata":{"a":[1,{"b":null}]}},"error_detail":{"message":"x"}}`, `{"node":{"id":"\ud800"}}`, `[]`, `{`, `{"node":{"id":"n1","extensions":[}}`, "\xef\xbb\xbf{}",
	} {
		f.Add([]byte(s))
	}
	src := xdstest.NewSource()
	srv, err := xds.New(xds.Config{Authenticator: src, Source: src, Limits: xds.Limits{Requests: 1 << 30, Burst: 1 << 30}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(srv.Drain)
	src.Away(fleet.ErrForbidden) // what is decoded goes no further
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v3/discovery:clusters?wait=0", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer *")
		rec := httptest.NewRecorder()
		srv.ServeHTTP(rec, r)
		var whole discoveryv3.DiscoveryRequest
		err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, &whole)
		switch {
		case rec.Code == http.StatusForbidden && !json.Valid(body):
			t.Errorf("taken in: %q, which is no JSON", body)
		case rec.Code != http.StatusForbidden && rec.Code != http.StatusBadRequest && rec.Code != http.StatusTooManyRequests && rec.Code != http.StatusRequestEntityTooLarge:
			t.Errorf("%q got %d %s", body, rec.Code, rec.Body)
		case rec.Code == http.StatusForbidden && err == nil && whole.GetNode().GetId() == "":
			t.Errorf("taken in without a node.id: %q", body)
		}
	})
}

// TestRESTSlowFleet: a poll waits for the fleet as a stream does.
func TestRESTSlowFleet(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(xdstest.Put(fleet.Listener, "a", "1"))
		busy := make(chan struct{})
		w.Busy(busy) // the database is
		answer := later(w.Poller("n1", fleet.Listener))
		time.Sleep(4 * time.Second)
		pending(t, answer)
		close(busy)
		if a := <-answer; a.String() != "200 listeners a@1" {
			t.Errorf("got %q", a)
		}
	})
}

// TestRESTAClientThatGoes is no failure of the server's: Envoy does so at each of its timeouts.
func TestRESTAClientThatGoes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log bytes.Buffer
		w := xdstest.New(t, func(c *xds.Config) {
			c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		})
		w.Publish(cluster("a", "1")...)
		p := w.Poller("n1", fleet.Cluster)
		p.Poll()
		p.Query = "?wait=30"
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() { p.PollUntil(ctx); close(gone) }()
		synctest.Wait()
		cancel()
		<-gone
		if log.Len() > 0 {
			t.Errorf("it is logged: %s", &log)
		}
	})
}
