package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead/internal/kubernetes/kubetest"
)

// sliceOf is the EndpointSlice of a Service with the port http, 8080.
func sliceOf(service string, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	name, port := "http", int32(8080)
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "prod", Name: service + "-x7k2p", Labels: map[string]string{discoveryv1.LabelServiceName: service, "team": "shop"}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: endpoints, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
	}
}

func podAt(address, pod, zone string, ends bool) discoveryv1.Endpoint {
	serves := true
	return discoveryv1.Endpoint{
		Addresses: []string{address}, Zone: &zone, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "prod", Name: pod},
		Conditions: discoveryv1.EndpointConditions{Serving: &serves, Terminating: &ends},
	}
}

// running is a feed that runs beside the test.
type running struct {
	*world
	stop func() result
}

func (w *world) starts(args ...string) *running {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	var r result
	var feed sync.WaitGroup
	feed.Go(func() { r = w.runWith(ctx, append([]string{"discover"}, args...)...) })
	stop := func() result { cancel(); feed.Wait(); return r }
	w.t.Cleanup(func() { stop() })
	return &running{w, stop}
}

// until waits until so many writes of endpoints were sent, and returns them all.
func (r *running) until(n int) []string {
	r.t.Helper()
	for {
		r.mu.Lock()
		news := r.news
		r.mu.Unlock()
		if puts := r.puts(); len(puts) >= n {
			return puts
		}
		select {
		case <-news:
		case <-r.t.Context().Done():
			r.t.Fatalf("the test ended, and it put %q", r.puts())
		}
	}
}

// A feed of Kubernetes follows the watch; an API server that is away, and a Service that has nothing any more, take nothing away.
func TestDiscoverKubernetes(t *testing.T) {
	t.Parallel()
	w, api := setup(t), kubetest.New(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/shop", ok(goldenEndpointsWritten))
	w.on("POST", "/endpoints/pay", ok(goldenEndpointsWritten))
	api.Allow(kubetest.RoleOf(t, filepath.Join("..", "..", "deploy", "kubernetes", "discover.yaml")))
	api.PutPod("prod", "shop-1", map[string]string{"version": "v1", "hash": "x"})
	api.PutSlice(sliceOf("shop", podAt("10.0.0.1", "shop-1", "a", false)))
	f := w.starts("--source", "kubernetes", "--kubeconfig", api.Kubeconfig("prod"), "--selector", "team=shop", "--pod-labels", "version", "--region", "eu")
	want := []string{`{"set":[{"address":"10.0.0.1:8080","health":"healthy","lease":"L","locality":{"region":"eu","zone":"a"},"metadata":{"envoy.lb":{"version":"v1"}}}]}`}
	f.until(1)

	api.Away(true)
	api.PutSlice(sliceOf("shop", podAt("10.0.0.1", "shop-1", "a", true), podAt("10.0.0.2", "shop-2", "b", false)))
	api.Away(false)
	want = append(want, `{"set":[{"address":"10.0.0.1:8080","health":"draining","lease":"L","locality":{"region":"eu","zone":"a"},"metadata":{"envoy.lb":{"version":"v1"}}},`+
		`{"address":"10.0.0.2:8080","health":"healthy","lease":"L","locality":{"region":"eu","zone":"b"}}]}`)
	f.until(2)

	api.DeleteSlice("prod", "shop-x7k2p")
	api.PutSlice(sliceOf("pay", podAt("10.0.1.1", "pay-1", "a", false)))
	want = append(want, `{"set":[{"address":"10.0.1.1:8080","health":"healthy","lease":"L","locality":{"region":"eu","zone":"a"}}]}`)
	f.until(3)

	api.PutSlice(sliceOf("shop", podAt("10.0.0.2", "shop-2", "b", false)))
	want = append(want, `{"remove":["10.0.0.1:8080"]}`)
	got := f.until(4)
	r := f.stop()
	if !slices.Equal(got, want) {
		t.Errorf("put:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Count(r.err, "the source has no endpoints of shop any more") != 1 {
		t.Errorf("it said:\n%s", r.err)
	}
	if r.code != 0 || slices.Contains(w.requests(), "DELETE "+leasePath) {
		t.Errorf("exit status %d, requests %q", r.code, w.requests())
	}
}

// Before the lists have come nothing is written, and what is missing is told once.
func TestDiscoverKubernetesWaits(t *testing.T) {
	t.Parallel()
	w, api := setup(t), kubetest.New(t)
	w.endpointAPI()
	api.Allow([]rbacv1.PolicyRule{})
	api.PutSlice(sliceOf("shop", podAt("10.0.0.1", "shop-1", "a", false)))
	config := api.Kubeconfig("prod")
	r := w.run("discover", "--source", "kubernetes", "--kubeconfig", config, "--service", "shop", "--once")
	if r.code != 1 || !strings.Contains(r.err, "deploy/kubernetes/discover.yaml has the Role that does") {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
	f := w.starts("--source", "kubernetes", "--kubeconfig", config, "--service", "shop", "--cluster", "shop/a")
	api.Await(func(asked []string) bool { return len(asked) > 2 })
	if puts := w.puts(); len(puts) > 0 {
		t.Errorf("it put %q", puts)
	}
	api.Allow(nil)
	if got := f.until(1); !slices.Equal(got, []string{`{"set":[{"address":"10.0.0.1:8080","health":"healthy","lease":"L","locality":{"zone":"a"}}]}`}) {
		t.Errorf("it put %q", got)
	}
	if r := f.stop(); strings.Count(r.err, "has the Role that does") > 1 || !strings.Contains(r.err, "what was read before stays") {
		t.Errorf("it said:\n%s", r.err)
	}
	// Once is without a lease.
	w = setup(t)
	w.on("POST", "/endpoints/shop", ok(goldenEndpointsWritten))
	if r := w.run("discover", "--source", "kubernetes", "--kubeconfig", config, "--service", "shop", "--once"); r.code != 0 || !slices.Equal(w.puts(), []string{`{"set":[{"address":"10.0.0.1:8080","health":"healthy","locality":{"zone":"a"}}]}`}) {
		t.Errorf("exit status %d: %s; it put %q", r.code, r.err, w.puts())
	}
}

// What one Service lacks is told, and the others go on.
func TestDiscoverKubernetesTells(t *testing.T) {
	t.Parallel()
	w, api := setup(t), kubetest.New(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/shop", ok(goldenEndpointsWritten))
	names := sliceOf("pay", discoveryv1.Endpoint{Addresses: []string{"pay.example.com"}})
	names.AddressType = discoveryv1.AddressTypeFQDN
	api.PutSlice(names)
	api.PutSlice(sliceOf("shop", podAt("10.0.0.1", "shop-1", "a", false)))
	f := w.starts("--source", "kubernetes", "--kubeconfig", api.Kubeconfig("prod"), "--service", "shop", "--service", "pay", "--port", "http")
	f.until(1)
	api.PutSlice(sliceOf("shop", podAt("10.0.0.2", "shop-1", "a", false)))
	f.until(3)
	if r := f.stop(); strings.Count(r.err, "warning: the Service pay: its EndpointSlices hold names (addressType FQDN)") != 1 {
		t.Errorf("it said:\n%s", r.err)
	}
}

func TestDiscoverKubernetesFaults(t *testing.T) {
	t.Parallel()
	w, config := setup(t), kubetest.New(t).Kubeconfig("prod")
	for want, args := range map[string][]string{
		"say with --service which Service is meant":                 {},
		"--source=kubernetes: say with --service":                   {"--service", "a", "--selector", "b"},
		"--cluster: of several Services each has a cluster":         {"--service", "a", "--service", "b", "--cluster", "c"},
		"--cluster: of several":                                     {"--selector", "a=b", "--cluster", "c"},
		"--source=kubernetes: the selector: ":                       {"--selector", "a in"},
		"--source=kubernetes: the kubeconfig: context \"none\" doe": {"--service", "a", "--kube-context", "none"},
		"--address-type": {"--service", "a", "--address-type", "IPv5"},
	} {
		if r := w.run(append([]string{"discover", "--source", "kubernetes", "--kubeconfig", config}, args...)...); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%v: exit status %d, %s", args, r.code, r.err)
		}
	}
}
