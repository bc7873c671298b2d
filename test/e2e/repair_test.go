package e2e

import (
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/client"
	"fairlead/internal/fleet"
)

// oneNACK is how long it may take until a refusal is told, and until what was refused
// beside it is there all the same: a search in halves takes more than one round trip.
const oneNACK = 3 * time.Second

// poison is one resource that the API takes and Envoy refuses, with three good ones.
type poison struct {
	what string
	res  res
	good [3]string
	says string // Envoy, of it
}

// poisonClusters are refused at once, each in another way, and each stands elsewhere by
// name among the good ones.
func poisonClusters() []poison {
	of := func(name, fields string) res { return with(cluster(name, "1s"), fields) }
	return []poison{
		{"first: a file that is not there", of("k-a", `transport_socket: {name: tls, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext,
    common_tls_context: {validation_context: {trusted_ca: {filename: nope.pem}}}}}`), [3]string{"k-b", "k-c", "k-d"}, "nope.pem"},
		{"in the middle: a policy that only the cluster can bring", of("m-b", "lb_policy: CLUSTER_PROVIDED"), [3]string{"m-a", "m-c", "m-d"}, "did not provide one"},
		{"last: an unknown health checker", of("z-d", `health_checks: [{timeout: 1s, interval: 1s, unhealthy_threshold: 1, healthy_threshold: 1,
    custom_health_check: {name: envoy.health_checkers.nope}}]`), [3]string{"z-a", "z-b", "z-c"}, "envoy.health_checkers.nope"},
	}
}

func TestPoisonClusterAmongGoodOnes(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		for _, p := range poisonClusters() {
			r.step(p.what, func() {
				all := []res{p.res, endpoints(p.res.name, backend(t, p.res.name)), paths("r", p.good[:]...)}
				for _, name := range p.good {
					all = append(all, cluster(name, "1s"), endpoints(name, backend(t, name)))
				}
				revision := r.apply(together(all...))
				start := time.Now()
				r.awaitRefusal(revision, p.res.name, p.says)
				for _, name := range p.good {
					eventually(r.t, soon, "no answer from "+name, func() bool { _, body := get(r.proxy + "/" + name); return body == name })
				}
				r.within(oneNACK, start, "the good clusters serve")
				r.acked(func() int64 { return r.put(cluster(p.good[1], "2s")) })
				r.put(cluster(p.res.name, "3s"))
				promptly(r.t, "active when it is mended", func() bool { return activeClusters(r.t, r.envoy)[p.res.name] == "3s" })
				r.wantRefusedOnce()
			})
		}
	})
}

// paths is a route of which /<name> goes to the cluster of that name, all else to "a".
func paths(name string, clusters ...string) res {
	var b strings.Builder
	for _, c := range clusters {
		b.WriteString(sprintf("{match: {prefix: /%s}, route: {cluster: %s}}, ", c, c))
	}
	return res{"routes", name, sprintf(`{name: %s, virtual_hosts: [{name: all, domains: ["*"], routes: [%s{match: {prefix: /}, route: {cluster: a}}]}]}`, name, b.String())}
}

// awaitRefusal waits for the receipt of a revision of which n1 refuses one resource, in
// these words among others.
func (r *routed) awaitRefusal(revision int64, name, says string) {
	r.t.Helper()
	start := time.Now()
	got := r.receipt(revision)
	r.within(oneNACK, start, "the refusal is told")
	n := got.Nodes
	if got.State != client.ReceiptStateRejected || got.Counts.Nacked != 1 || len(n) != 1 || n[0].Resource == nil || n[0].Resource.Name != name ||
		n[0].Detail == nil || !strings.Contains(*n[0].Detail, says) {
		r.t.Fatalf("the receipt is %s, want %s refused because of %s", readable(got), name, says)
	}
}

// readable is an answer of the API as it was sent, but for the order of its fields.
func readable(answer any) string {
	b, _ := json.Marshal(answer)
	return string(b)
}

func (r *routed) within(limit time.Duration, start time.Time, what string) {
	r.t.Helper()
	took := time.Since(start)
	r.t.Logf("%s after %s", what, took.Round(time.Millisecond))
	if took > limit {
		r.t.Errorf("%s after %s, want at most %s", what, took, limit)
	}
}

// acked fails unless a good change is acknowledged at once.
func (r *routed) acked(change func() int64) {
	r.t.Helper()
	revision := change()
	promptly(r.t, "acknowledged", func() bool {
		got := r.receipt(revision)
		return got.State == client.ReceiptStateDelivered && got.Counts.Acked == 1
	})
}

// wantRefusedOnce fails if a stream was sent again, as a whole, what it had refused.
func (r *routed) wantRefusedOnce() {
	r.t.Helper()
	refused, again := sentAgain(r.tap.since(0), r.tap.requests(0))
	if refused == 0 || len(again) > 0 {
		r.t.Errorf("of %d refused responses these were sent again: %s", refused, again)
	}
}

// sentAgain counts the responses that were refused, and returns those of the same content
// that their stream was sent besides.
func sentAgain(all []sent, asked []asked) (refused int, again []sent) {
	for _, a := range asked {
		if a.refusal == "" {
			continue
		}
		at := slices.IndexFunc(all, func(s sent) bool { return s.stream == a.stream && s.typ == a.typ && s.nonce == a.nonce })
		if at < 0 {
			continue
		}
		refused++
		for i, s := range all {
			if i != at && s.stream == a.stream && s.typ == a.typ && slices.Equal(s.content, all[at].content) && slices.Equal(s.removed, all[at].removed) {
				again = append(again, s)
			}
		}
	}
	return refused, again
}

func TestSentAgain(t *testing.T) {
	t.Parallel()
	refusal := []asked{{stream: 1, typ: fleet.Listener, nonce: "1", refusal: "no"}, {stream: 1, typ: fleet.Listener, nonce: "2"}}
	response := func(stream int, nonce string, content ...string) sent {
		return sent{stream: stream, typ: fleet.Listener, nonce: nonce, content: content}
	}
	first := response(1, "1", "a at 1", "b at 1")
	less := response(1, "3", "a at 1", "b at 1")
	less.removed = []string{"c"}
	for what, c := range map[string]struct {
		then sent
		want int
	}{
		"the same":            {response(1, "2", "a at 1", "b at 1"), 1},
		"half of it":          {response(1, "2", "a at 1"), 0},
		"another version":     {response(1, "2", "a at 1", "b at 2"), 0},
		"a removal beside it": {less, 0},
		"on another stream":   {response(2, "2", "a at 1", "b at 1"), 0},
	} {
		if refused, again := sentAgain([]sent{first, c.then}, refusal); refused != 1 || len(again) != c.want {
			t.Errorf("%s: %d refused, %s sent again, want 1 and %d", what, refused, again, c.want)
		}
	}
}

// poisonListeners are poison at an address: an access log that cannot be opened, a
// certificate that is not there, and a port that is not free.
func poisonListeners(taken string) []poison {
	address := "127.0.0.1:0"
	without := httpListener{name: "m-b", address: address, routes: rds("r", ads), tls: `transport_socket: {name: tls, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext,
    common_tls_context: {tls_certificates: [{certificate_chain: {filename: nope.pem}, private_key: {filename: nope.key}}]}}},`}
	return []poison{
		{"first: a log that cannot be opened", with(listener("k-a", address, "r"), `access_log: [{name: file, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog, path: /nope/log}}]`), [3]string{"k-b", "k-c", "k-d"}, "/nope/log"},
		{"in the middle: a file that is not there", without.res(), [3]string{"m-a", "m-c", "m-d"}, "nope.key"},
		{"last: a port that is taken", listener("z-d", taken, "r"), [3]string{"z-a", "z-b", "z-c"}, "Address already in use"},
	}
}

// with is the resource with more fields.
func with(r res, fields string) res {
	r.body = strings.TrimSuffix(r.body, "}") + ", " + fields + "}"
	return r
}

func TestPoisonListenerAmongGoodOnes(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { _ = taken.Close() })
		for _, p := range poisonListeners(taken.Addr().String()) {
			r.step(p.what, func() {
				all, at := []res{p.res}, map[string]string{}
				for _, name := range p.good {
					at[name] = freePort(r.t)
					all = append(all, listener(name, at[name], "r"))
				}
				revision := r.apply(together(all...))
				start := time.Now()
				r.awaitRefusal(revision, p.res.name, p.says)
				for _, name := range p.good {
					r.awaitServed(at[name])
				}
				r.within(oneNACK, start, "the good listeners serve")
				r.acked(func() int64 { return r.put(with(listener(p.good[1], at[p.good[1]], "r"), "stat_prefix: changed")) })
				mended := freePort(r.t)
				r.put(listener(p.res.name, mended, "r"))
				promptly(r.t, "served when it is mended", func() bool { _, body := get("http://" + mended); return body == "a" })
				r.wantRefusedOnce()
			})
		}
	})
}

// poisonRoutes are poison among routes that are there already.
func poisonRoutes() []poison {
	poisoned := func(name, action string) res {
		return res{"routes", name, sprintf(`{name: %s, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, %s}]}]}`, name, action)}
	}
	return []poison{
		{"first: weights that come to nothing", poisoned("ra", "route: {weighted_clusters: {clusters: [{name: b, weight: 0}]}}"), [3]string{"rb", "rc", "rd"}, "weight"},
		{"in the middle: a cluster that must be there", with(poisoned("rb", "route: {cluster: nope}"), "validate_clusters: true"), [3]string{"ra", "rc", "rd"}, "unknown cluster 'nope'"},
		{"last: a plugin that does not exist", with(poisoned("rd", "route: {cluster: b}"), `cluster_specifier_plugins: [{extension: {name: nope, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}]`), [3]string{"ra", "rb", "rc"}, "nope"},
	}
}

// TestPoisonRouteAmongGoodOnes: what is refused goes on as it was.
func TestPoisonRouteAmongGoodOnes(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		names, at := []string{"ra", "rb", "rc", "rd"}, map[string]string{}
		all := []res{cluster("b", "1s"), endpoints("b", backend(t, "b"))}
		for _, name := range names {
			at[name] = freePort(t)
			all = append(all, route(name, "a"), listener("l-"+name, at[name], name))
		}
		r.awaitState(r.apply(together(all...)), "delivered")
		answers := func(name, want string) bool { _, body := get("http://" + at[name]); return body == want }
		for _, p := range poisonRoutes() {
			r.step(p.what, func() {
				all := []res{p.res}
				for _, name := range p.good {
					all = append(all, route(name, "b"))
				}
				revision := r.apply(together(all...))
				start := time.Now()
				r.awaitRefusal(revision, p.res.name, p.says)
				for _, name := range p.good {
					eventually(r.t, soon, name+" was not changed", func() bool { return answers(name, "b") })
				}
				r.within(oneNACK, start, "the good routes serve")
				if !answers(p.res.name, "a") {
					r.t.Error("the refused route does not go on as it was")
				}
				r.acked(func() int64 { return r.put(route(p.good[1], "a")) })
				r.put(route(p.res.name, "b"))
				promptly(r.t, "changed when it is mended", func() bool { return answers(p.res.name, "b") })
				r.apply(together(route(names[0], "a"), route(names[1], "a"), route(names[2], "a"), route(names[3], "a")))
				for _, name := range names {
					eventually(r.t, soon, name+" was not changed back", func() bool { return answers(name, "a") })
				}
				r.wantRefusedOnce()
			})
		}
	})
}
