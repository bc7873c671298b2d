package grpcclients

import (
	"strings"
	"testing"

	"fairlead/test/world"
)

// TestInlineRoute: a listener that holds its route itself changes under traffic, goes bad
// and is fixed; another channel of the same program notices nothing.
func TestInlineRoute(t *testing.T) {
	everyClient(t, func(t *testing.T, impl implementation) {
		w := setup(t)
		tap := w.tapped()
		a := impl.start(t, plaintext(t, "n1", tap.Address))
		to := func(cluster string) world.Resource {
			return target("inline", inline(routeBody("r", toCluster(cluster))))
		}
		w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")),
			cluster("b", "ROUND_ROBIN"), endpoints("b", backend(t, "two")), to("a"),
			target("beside", byName("r")), route("r", "a")))
		a.open("inline", "xds:///inline")
		a.open("beside", "xds:///beside")
		a.awaitReply("inline", "one")
		a.awaitReply("beside", "one")
		w.AwaitLive("n1")

		stop := a.traffic("inline")
		w.AwaitDelivered(w.Put(to("b")), 1)
		a.awaitReply("inline", "two")

		// Strict validation admits a filter that Envoy has and gRPC has not.
		bad := to("a")
		bad.Body = strings.Replace(bad.Body, "http_filters: [",
			`http_filters: [{name: grpc_web, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.grpc_web.v3.GrpcWeb}}, `, 1)
		refusal := w.AwaitRejected(w.Put(bad))
		if refusal.Resource.Name != "inline" || !strings.Contains(*refusal.Detail, "grpc_web") {
			t.Errorf("the receipt of the bad revision: %s", world.AsJSON(refusal))
		}
		t.Logf("it said: %s", *refusal.Detail)
		a.awaitReply("inline", "two")
		a.awaitReply("beside", "one")
		w.AwaitDelivered(w.Put(to("a")), 1)
		a.awaitReply("inline", "one")
		stop()
	})
}

// TestRefusedBesideGood: one of two clusters of a response goes bad. The refusal is
// noticed, although some clients refuse half a response under its new version; the good
// half goes on, with what changes in it.
func TestRefusedBesideGood(t *testing.T) {
	everyClient(t, func(t *testing.T, impl implementation) {
		w := setup(t)
		tap := w.tapped()
		a := impl.start(t, plaintext(t, "n1", tap.Address))
		w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), target("left", inline(routeBody("r", toCluster("a")))),
			cluster("b", "ROUND_ROBIN"), endpoints("b", backend(t, "two")), target("right", inline(routeBody("r", toCluster("b")))),
			target("both", inline(routeBody("r", "route: {weighted_clusters: {clusters: [{name: a, weight: 1}, {name: b, weight: 1}]}}")))))
		a.open("both", "xds:///both") // one stream with both clusters, also where every channel has its own
		world.Eventually(t, world.Soon, "the two clusters do not share the calls", func() bool {
			first, second := a.call("both"), a.call("both")
			return first.Reply == "one" && second.Reply == "two"
		})
		w.AwaitLive("n1")
		stop := a.traffic("both")
		if refusal := w.AwaitRejected(w.Put(cluster("b", "MAGLEV"))); refusal.Resource.Name != "b" {
			t.Errorf("the receipt of the bad revision: %s", world.AsJSON(refusal))
		}
		good := cluster("a", "ROUND_ROBIN")
		good.Body = strings.Replace(good.Body, "connect_timeout: 1s", "connect_timeout: 2s", 1)
		w.AwaitDelivered(w.Apply(world.Together(good, endpoints("a", backend(t, "three")))), 1)
		a.awaitReply("both", "three")
		a.awaitReply("both", "two")
		w.AwaitDelivered(w.Put(cluster("b", "ROUND_ROBIN")), 1)
		stop()
	})
}

// TestMoveInTwoSteps: grpc-go loses no call to a route that moves to a new cluster, if
// another route has named that cluster before.
func TestMoveInTwoSteps(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tap := w.tapped()
	a := grpcGo.start(t, plaintext(t, "n1", tap.Address))
	a.excused = ""
	named := func(cluster string) world.Resource {
		return world.NewResource("routes", "r", `{name: r, virtual_hosts: [{name: all, domains: ["*"], routes: [
    {match: {prefix: /never/}, `+toCluster("a")+`}, {match: {prefix: /never/}, `+toCluster("b")+`}, {match: {prefix: ""}, `+toCluster(cluster)+`}]}]}`)
	}
	w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), cluster("b", "ROUND_ROBIN"), endpoints("b", backend(t, "two")),
		target("shop", byName("r")), route("r", "a")))
	a.open("shop", "xds:///shop")
	a.awaitReply("shop", "one")
	w.AwaitLive("n1")
	stop := a.traffic("shop")
	w.AwaitDelivered(w.Put(named("a")), 1)
	for _, to := range []string{"b", "a", "b"} {
		w.AwaitDelivered(w.Put(named(to)), 1)
		a.awaitReply("shop", map[string]string{"a": "one", "b": "two"}[to])
	}
	stop()
}
