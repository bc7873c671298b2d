package e2e

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// oneNACK is how long it may take until a refusal is told, and until what was refused
// beside it is there all the same: a search in halves takes more than one round trip.
const oneNACK = 3 * time.Second

// poison is one resource that the API takes and Envoy refuses, with three good ones.
type poison struct {
	what string
	res  world.Resource
	good [3]string
	says string // Envoy, of it
}

// poisonClusters are refused at once, each in another way, and each stands elsewhere by
// name among the good ones.
func poisonClusters() []poison {
	of := func(name, fields string) world.Resource { return world.Cluster(name, "1s").With(fields) }
	return []poison{
		{"first: a file that is not there", of("k-a", `transport_socket: {name: tls, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext,
    common_tls_context: {validation_context: {trusted_ca: {filename: nope.pem}}}}}`), [3]string{"k-b", "k-c", "k-d"}, "nope.pem"},
		{"in the middle: a policy that only the cluster can bring", of("m-b", "lb_policy: CLUSTER_PROVIDED"), [3]string{"m-a", "m-c", "m-d"}, "did not provide one"},
		{"last: an unknown health checker", of("z-d", `health_checks: [{timeout: 1s, interval: 1s, unhealthy_threshold: 1, healthy_threshold: 1,
    custom_health_check: {name: envoy.health_checkers.nope, typed_config: {"@type": type.googleapis.com/google.protobuf.Empty}}}]`), [3]string{"z-a", "z-b", "z-c"}, "envoy.health_checkers.nope"},
	}
}

func TestPoisonClusterAmongGoodOnes(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		for _, p := range poisonClusters() {
			r.Step(p.what, func() {
				all := []world.Resource{p.res, world.Endpoints(p.res.Name, world.Backend(t, p.res.Name)), paths("r", p.good[:]...)}
				for _, name := range p.good {
					all = append(all, world.Cluster(name, "1s"), world.Endpoints(name, world.Backend(t, name)))
				}
				revision := r.Apply(world.Together(all...))
				start := time.Now()
				r.awaitRefusal(revision, p.res.Name, p.says)
				for _, name := range p.good {
					world.Eventually(r.T, world.Soon, "no answer from "+name, func() bool { _, body := world.Get(r.proxy + "/" + name); return body == name })
				}
				r.within(oneNACK, start, "the good clusters serve")
				r.acked(func() int64 { return r.Put(world.Cluster(p.good[1], "2s")) })
				r.Put(world.Cluster(p.res.Name, "3s"))
				promptly(r.T, "active when it is fixed", func() bool { return activeClusters(r.T, r.envoy)[p.res.Name] == "3s" })
				r.wantRefusedOnce()
			})
		}
	})
}

// TestAPoisonClusterCostsANewcomerItsOwnRequests: an Envoy that has none of the routes yet is given them, though it refuses one of
// the clusters that they name.
func TestAPoisonClusterCostsANewcomerItsOwnRequests(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		xds, address := w.XDS(), world.FreePort(t)
		poison := poisonClusters()[1].res
		revision := w.Apply(world.Together(world.Listener("l", address, "r"), paths("r", poison.Name), poison, world.Endpoints(poison.Name, world.Backend(t, poison.Name)),
			world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
		w.Envoy("n1", xds.Address, delta)
		if n := w.AwaitRejected(revision); n.Resource == nil || n.Resource.Name != poison.Name {
			t.Fatalf("refused is %s, want %s", world.AsJSON(n), poison.Name)
		}
		world.Eventually(t, world.Soon, "no answer from a", func() bool { _, body := world.Get("http://" + address + "/"); return body == "a" })
		if code, _ := world.Get("http://" + address + "/" + poison.Name); code != http.StatusServiceUnavailable {
			t.Errorf("the refused cluster's requests are answered %d, want 503", code)
		}
		w.Put(world.Cluster(poison.Name, "3s"))
		world.Eventually(t, world.Soon, "no answer when it is corrected", func() bool {
			_, body := world.Get("http://" + address + "/" + poison.Name)
			return body == poison.Name
		})
	})
}

// paths is a route of which /<name> goes to the cluster of that name, all else to "a".
func paths(name string, clusters ...string) world.Resource {
	var b strings.Builder
	for _, c := range clusters {
		b.WriteString(sprintf("{match: {prefix: /%s}, route: {cluster: %s}}, ", c, c))
	}
	return world.NewResource("routes", name, sprintf(`{name: %s, virtual_hosts: [{name: all, domains: ["*"], routes: [%s{match: {prefix: /}, route: {cluster: a}}]}]}`, name, b.String()))
}

// awaitRefusal waits for the receipt of a revision of which n1 refuses one resource, in
// these words among others.
func (r *routed) awaitRefusal(revision int64, name, says string) {
	r.T.Helper()
	start := time.Now()
	got := r.Receipt(revision)
	r.within(oneNACK, start, "the refusal is told")
	n := got.Nodes
	if got.State != client.ReceiptStateRejected || got.Counts.Nacked != 1 || len(n) != 1 || n[0].Resource == nil || n[0].Resource.Name != name ||
		n[0].Detail == nil || !strings.Contains(*n[0].Detail, says) {
		r.T.Fatalf("the receipt is %s, want %s refused because of %s", world.AsJSON(got), name, says)
	}
}

func (r *routed) within(limit time.Duration, start time.Time, what string) {
	r.T.Helper()
	took := time.Since(start)
	r.T.Logf("%s after %s", what, took.Round(time.Millisecond))
	if limit = bound(limit); took > limit {
		r.T.Errorf("%s after %s, want at most %s", what, took, limit)
	}
}

// acked fails unless a good change is acknowledged at once.
func (r *routed) acked(change func() int64) {
	r.T.Helper()
	revision := change()
	promptly(r.T, "acknowledged", func() bool {
		got := r.Receipt(revision)
		return got.State == client.ReceiptStateDelivered && got.Counts.Acked == 1
	})
}

// wantRefusedOnce fails if a stream was sent again, as a whole, what it had refused.
func (r *routed) wantRefusedOnce() {
	r.T.Helper()
	refused, again := sentAgain(r.tap.Since(0), r.tap.Requests(0))
	if refused == 0 || len(again) > 0 {
		r.T.Errorf("of %d refused responses these were sent again: %s", refused, again)
	}
}

// sentAgain counts the responses that were refused, and returns those of the same content
// that their stream was sent besides.
func sentAgain(all []world.Sent, asked []world.Asked) (refused int, again []world.Sent) {
	for _, a := range asked {
		if a.Refusal == "" {
			continue
		}
		at := slices.IndexFunc(all, func(s world.Sent) bool { return s.Stream == a.Stream && s.Type == a.Type && s.Nonce == a.Nonce })
		if at < 0 {
			continue
		}
		refused++
		for i, s := range all {
			if i != at && s.Stream == a.Stream && s.Type == a.Type && slices.Equal(s.Content, all[at].Content) && slices.Equal(s.Removed, all[at].Removed) {
				again = append(again, s)
			}
		}
	}
	return refused, again
}

func TestSentAgain(t *testing.T) {
	t.Parallel()
	refusal := []world.Asked{{Stream: 1, Type: fleet.Listener, Nonce: "1", Refusal: "no"}, {Stream: 1, Type: fleet.Listener, Nonce: "2"}}
	response := func(stream int, nonce string, content ...string) world.Sent {
		return world.Sent{Stream: stream, Type: fleet.Listener, Nonce: nonce, Content: content}
	}
	first := response(1, "1", "a at 1", "b at 1")
	less := response(1, "3", "a at 1", "b at 1")
	less.Removed = []string{"c"}
	for what, c := range map[string]struct {
		then world.Sent
		want int
	}{
		"the same":            {response(1, "2", "a at 1", "b at 1"), 1},
		"half of it":          {response(1, "2", "a at 1"), 0},
		"another version":     {response(1, "2", "a at 1", "b at 2"), 0},
		"a removal beside it": {less, 0},
		"on another stream":   {response(2, "2", "a at 1", "b at 1"), 0},
	} {
		if refused, again := sentAgain([]world.Sent{first, c.then}, refusal); refused != 1 || len(again) != c.want {
			t.Errorf("%s: %d refused, %s sent again, want 1 and %d", what, refused, again, c.want)
		}
	}
}

// poisonListeners are poison at an address: an access log that cannot be opened, a
// certificate that is not there, and a port that is not free.
func poisonListeners(taken string) []poison {
	address := "127.0.0.1:0"
	without := world.HTTPListener{Name: "m-b", Address: address, Routes: world.RDS("r", world.ADS), TLS: `transport_socket: {name: tls, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext,
    common_tls_context: {tls_certificates: [{certificate_chain: {filename: nope.pem}, private_key: {filename: nope.key}}]}}},`}
	return []poison{
		{"first: a log that cannot be opened", world.Listener("k-a", address, "r").With(`access_log: [{name: file, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog, path: /nope/log}}]`), [3]string{"k-b", "k-c", "k-d"}, "/nope/log"},
		{"in the middle: a file that is not there", without.Resource(), [3]string{"m-a", "m-c", "m-d"}, "nope.key"},
		{"last: a port that is taken", world.Listener("z-d", taken, "r"), [3]string{"z-a", "z-b", "z-c"}, "Address already in use"},
	}
}

func TestPoisonListenerAmongGoodOnes(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		world.Must(t, err)
		t.Cleanup(func() { _ = taken.Close() })
		for _, p := range poisonListeners(taken.Addr().String()) {
			r.Step(p.what, func() {
				all, at := []world.Resource{p.res}, map[string]string{}
				for _, name := range p.good {
					at[name] = world.FreePort(r.T)
					all = append(all, world.Listener(name, at[name], "r"))
				}
				revision := r.Apply(world.Together(all...))
				start := time.Now()
				r.awaitRefusal(revision, p.res.Name, p.says)
				for _, name := range p.good {
					r.awaitServed(at[name])
				}
				r.within(oneNACK, start, "the good listeners serve")
				r.acked(func() int64 { return r.Put(world.Listener(p.good[1], at[p.good[1]], "r").With("stat_prefix: changed")) })
				fixed := world.FreePort(r.T)
				r.Put(world.Listener(p.res.Name, fixed, "r"))
				promptly(r.T, "served when it is fixed", func() bool { _, body := world.Get("http://" + fixed); return body == "a" })
				r.wantRefusedOnce()
			})
		}
	})
}

// poisonRoutes are poison among routes that are there already.
func poisonRoutes() []poison {
	poisoned := func(name, action string) world.Resource {
		return world.NewResource("routes", name, sprintf(`{name: %s, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, %s}]}]}`, name, action))
	}
	return []poison{
		{"first: weights that come to nothing", poisoned("ra", "route: {weighted_clusters: {clusters: [{name: b, weight: 0}]}}"), [3]string{"rb", "rc", "rd"}, "weight"},
		{"in the middle: a cluster that must be there", poisoned("rb", "route: {cluster: nope}").With("validate_clusters: true"), [3]string{"ra", "rc", "rd"}, "unknown cluster 'nope'"},
		{"last: a plugin that does not exist", poisoned("rd", "route: {cluster: b}").With(`cluster_specifier_plugins: [{extension: {name: nope, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}]`), [3]string{"ra", "rb", "rc"}, "nope"},
	}
}

// TestPoisonRouteAmongGoodOnes: what is refused goes on as it was.
func TestPoisonRouteAmongGoodOnes(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		names, at := []string{"ra", "rb", "rc", "rd"}, map[string]string{}
		all := []world.Resource{world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b"))}
		for _, name := range names {
			at[name] = world.FreePort(t)
			all = append(all, world.Route(name, "a"), world.Listener("l-"+name, at[name], name))
		}
		r.AwaitState(r.Apply(world.Together(all...)), "delivered")
		answers := func(name, want string) bool { _, body := world.Get("http://" + at[name]); return body == want }
		for _, p := range poisonRoutes() {
			r.Step(p.what, func() {
				all := []world.Resource{p.res}
				for _, name := range p.good {
					all = append(all, world.Route(name, "b"))
				}
				revision := r.Apply(world.Together(all...))
				start := time.Now()
				r.awaitRefusal(revision, p.res.Name, p.says)
				for _, name := range p.good {
					world.Eventually(r.T, world.Soon, name+" was not changed", func() bool { return answers(name, "b") })
				}
				r.within(oneNACK, start, "the good routes serve")
				if !answers(p.res.Name, "a") {
					r.T.Error("the refused route does not go on as it was")
				}
				r.acked(func() int64 { return r.Put(world.Route(p.good[1], "a")) })
				r.Put(world.Route(p.res.Name, "b"))
				promptly(r.T, "changed when it is fixed", func() bool { return answers(p.res.Name, "b") })
				r.Apply(world.Together(world.Route(names[0], "a"), world.Route(names[1], "a"), world.Route(names[2], "a"), world.Route(names[3], "a")))
				for _, name := range names {
					world.Eventually(r.T, world.Soon, name+" was not changed back", func() bool { return answers(name, "a") })
				}
				r.wantRefusedOnce()
			})
		}
	})
}

// TestAListenerThatMovesToWhatIsRefused: the route that a listener moves to is of an earlier revision, and the node refuses it. The revision that
// moved the listener is the one that is rejected.
func TestAListenerThatMovesToWhatIsRefused(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.Put(world.NewResource("routes", "bad", `{name: bad, validate_clusters: true, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: nope}}]}]}`))
		moved := r.Apply(world.Together(world.Listener("l", strings.TrimPrefix(r.proxy, "http://"), "bad")))
		r.AwaitRejected(moved)
	})
}
