package conformance

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var rest = []xdstest.Protocol{xdstest.REST}

// Polled is a server that answers polls.
type Polled interface{ REST() http.Handler }

// REST answers polls.
func (o ours) REST() http.Handler { return o.Server }

// Poller polls for a type; it does not wait for changes unless its Query says so.
func (b *Bed) Poller(t fleet.Type, names ...string) *xdstest.Poller {
	return b.pollerOf(b.Server, t, names...)
}

func (b *Bed) pollerOf(s Server, t fleet.Type, names ...string) *xdstest.Poller {
	b.Helper()
	polled, ok := s.(Polled)
	if !ok {
		b.Fatal("it answers no polls")
	}
	p := xdstest.PollerOf(b, polled.REST(), Node, t, names...)
	p.Query = "?wait=0"
	return p
}

// post sends a poll for clusters and fails unless it is answered with a status.
func (b *Bed) post(path, body string, want int, words string) {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer *")
	w := httptest.NewRecorder()
	b.Server.(Polled).REST().ServeHTTP(w, r) //nolint:forcetypeassert // Poller has looked
	if w.Code != want || !strings.Contains(w.Body.String(), words) {
		b.Errorf("%s %s is answered %d %q, want %d with %q", path, body, w.Code, w.Body, want, words)
	}
}

var polls = []Check{
	{
		Rule: 27, Name: "EveryTypeIsServed", In: rest,
		Shows: "Each type but virtual hosts is answered over its URL, to who names it.",
		Run: func(b *Bed) {
			for _, t := range fleet.Types() {
				if t != fleet.VirtualHost {
					b.Publish(put(t, "a", "1"))
					b.Poller(t, "a").Want("200 " + text(t, "a@1"))
				}
			}
		},
	},
	{
		Rule: 27, Name: "WithoutNames", In: rest,
		Shows: "No names mean everything for clusters and listeners, and nothing for other types.",
		Run: func(b *Bed) {
			b.Publish(both(cluster("a"), cluster("b"))...)
			b.Poller(fleet.Cluster).Want("200 clusters a@1 b@1")
			if a := b.Poller(fleet.Endpoint).Poll(); a.Code == http.StatusOK && a.Set != "endpoints" {
				b.Errorf("got %s", a)
			}
		},
	},
	{
		Rule: 27, Name: "CurrentIs304", In: rest,
		Shows: "A version that is current, for the same names, is answered 304, as often as it is asked.",
		Run: func(b *Bed) {
			b.Publish(cluster("a")...)
			for _, p := range []*xdstest.Poller{b.Poller(fleet.Cluster), b.Poller(fleet.Endpoint, "a")} {
				p.Poll()
				p.Want("304")
				p.Want("304")
			}
		},
	},
	{
		Rule: 27, Name: "ANewSubscriptionIsAnswered", In: rest,
		Shows: "A poll without a version is answered with the set, although the node has it by another subscription: 304 would leave a cluster warming.",
		Run: func(b *Bed) {
			b.Publish(cluster("a")...)
			for range 2 {
				b.Poller(fleet.Endpoint, "a").Want("200 endpoints a@1")
			}
		},
	},
	{
		Rule: 27, Name: "AChangeIsAnswered", In: rest,
		Shows: "A change is answered with the whole set of the names, and another version.",
		Run: func(b *Bed) {
			b.Publish(both(cluster("a"), cluster("b"))...)
			p := b.Poller(fleet.Endpoint, "a", "b")
			first := p.Want("200 endpoints a@1 b@1")
			b.Publish(put(fleet.Endpoint, "b", "2"))
			if a := p.Want("200 endpoints a@1 b@2"); a.Version == first.Version {
				b.Error("it has the same version")
			}
			p.Want("304")
		},
	},
	{
		Rule: 27, Name: "NamesThatChanged", In: rest,
		Shows: "Other names are answered with their set, whatever the version.",
		Run: func(b *Bed) {
			b.Publish(route("a", "1"), route("b", "1"))
			p := b.Poller(fleet.Route, "a")
			p.Want("200 routes a@1")
			p.Names = []string{"a", "b"}
			p.Want("200 routes a@1 b@1")
			p.Names = []string{"b"}
			p.Want("200 routes b@1")
		},
	},
	{
		Rule: 27, Name: "NamesThatChangeNothing", In: rest,
		Shows: "So it is where the set is the same: one more name that does not exist.",
		Run: func(b *Bed) {
			b.Publish(route("a", "1"))
			p := b.Poller(fleet.Route, "a")
			p.Want("200 routes a@1")
			p.Names = []string{"a", "missing"}
			p.Want("200 routes a@1")
		},
	},
	{
		Rule: 27, Name: "TheLastOneGoes", In: rest,
		Shows: "An empty set is an answer, with a version, once the last cluster is gone.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			p := b.Poller(fleet.Cluster)
			p.Want("200 clusters a@1")
			b.Publish(xdstest.Delete(fleet.Cluster, "a"))
			p.Want("200 clusters")
			p.Want("304")
		},
	},
	{
		Rule: 27, Name: "AnErrorIsNoEmptySet", In: rest, Needs: Nobody,
		Shows: "Of what is not known nothing is answered but an error: from an empty set an Envoy drops everything.",
		Run: func(b *Bed) {
			if w, ok := b.Server.(ours); ok {
				w.Away(fleet.ErrUnavailable)
			}
			if a := b.Poller(fleet.Cluster).Poll(); a.Code < 500 || a.Words == "" {
				b.Errorf("got %s", a)
			}
		},
	},
	{
		Rule: 27, Name: "TheSameOnEveryReplica", In: rest,
		Shows: "Another server of the same content, by other steps, answers 304.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "1"))
			p := b.Poller(fleet.Cluster)
			p.Poll()
			other := b.Replica()
			other.Publish(put(fleet.Cluster, "b", "1"))
			other.Publish(put(fleet.Cluster, "a", "1"))
			q := b.pollerOf(other, fleet.Cluster)
			q.Version = p.Version
			q.Want("304")
		},
	},
	{
		Rule: 27, Name: "AWaitingPoll", In: rest,
		Shows: "A poll that asks to wait is answered at the change, or 304 when its time is over.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			p := b.Poller(fleet.Cluster)
			p.Poll()
			p.Query = "?wait=20"
			began := time.Now()
			p.Want("304")
			if took := time.Since(began); took != 20*time.Second {
				b.Errorf("304 after %s", took)
			}
			answer := make(chan xdstest.Polled, 1)
			go func() { answer <- p.Poll() }()
			synctest.Wait()
			time.Sleep(moment)
			began = time.Now()
			b.Publish(put(fleet.Cluster, "a", "2"))
			if a := <-answer; a.String() != "200 clusters a@2" || time.Since(began) >= moment {
				b.Errorf("%s after %s", a, time.Since(began))
			}
		},
	},
	{
		Rule: 27, Name: "ALostAnswer", In: rest,
		Shows: "The version before is answered with the set again.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			p := b.Poller(fleet.Cluster)
			p.Poll()
			p.Want("304")
			b.Publish(put(fleet.Cluster, "a", "2"))
			p.Refuses = true
			p.Want("200 clusters a@2")
			p.Refuses = false
			p.Want("200 clusters a@2")
			p.Want("304")
		},
	},
	{
		Rule: 27, Name: "ProbablyRefused", In: rest, Needs: Records,
		Shows: "The version before twice is a refusal, which is told as presumed; the others are served.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "1"))
			p := b.Poller(fleet.Cluster)
			p.Poll()
			p.Want("304")
			b.Publish(put(fleet.Cluster, "a", "2"))
			p.Refuses = true
			p.Poll()
			p.Poll()
			p.Refuses = false
			p.Want("200 clusters a@1 b@1")
			b.Publish(put(fleet.Cluster, "b", "2"))
			p.Want("200 clusters a@1 b@2")
			if all := b.World().Refusals(); len(all) != 1 || !all[0].Presumed {
				b.Errorf("refusals %+v", all)
			}
		},
	},
	{
		Rule: 27, Name: "FieldsOfTomorrow", In: rest,
		Shows: "Fields that are not known are ignored, as gRPC does: a newer Envoy has some.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			p := b.Poller(fleet.Cluster)
			p.Newer = true
			p.Want("200 clusters a@1")
		},
	},
	{
		Rule: 27, Name: "BadRequests", In: rest,
		Shows: "No JSON, two nodes, no node, and another type than the URL's are each answered 400.",
		Run: func(b *Bed) {
			b.Poller(fleet.Cluster)
			for _, body := range []string{"", "{", `{"node":{"id":"n1"},"node":{"id":"n2"}}`, `{}`, `{"node":{"id":"n1"},"type_url":"type.googleapis.com/envoy.config.listener.v3.Listener"}`} {
				b.post("/v3/discovery:clusters", body, http.StatusBadRequest, "")
			}
		},
	},
	{
		Rule: 27, Name: "V2IsRefusedByName", In: rest,
		Shows: "A URL of v2 is answered 404 with a text that names v3.",
		Run: func(b *Bed) {
			b.Poller(fleet.Cluster)
			b.post("/v2/discovery:clusters", `{"node":{"id":"n1"}}`, http.StatusNotFound, "v3")
		},
	},
}
