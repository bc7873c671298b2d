package kubernetes

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead/internal/kubernetes/kubetest"
)

// manifest has the Role that a feed needs.
var manifest = filepath.Join("..", "..", "deploy", "kubernetes", "discover.yaml")

// watched is a source that runs until the test ends.
type watched struct {
	*Source
	t    *testing.T
	stop func()
}

func watchOf(t *testing.T, api *kubetest.Server, cfg Config) *watched {
	t.Helper()
	if cfg.Kubeconfig == "" {
		cfg.Kubeconfig = api.Kubeconfig("prod")
	}
	cfg.retry = time.Millisecond
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	w := &watched{s, t, func() { cancel(); running.Wait() }}
	t.Cleanup(w.stop)
	return w
}

// until waits for a state that is as f wants it, and returns it.
func (w *watched) until(f func(Found) bool) Found {
	w.t.Helper()
	for {
		if found, err := w.Endpoints(w.t.Context()); err == nil && f(found) {
			return found
		} else if w.t.Context().Err() != nil {
			w.t.Fatalf("the test ended, and there is %+v, %v", found, err)
		}
		select {
		case <-w.Changed():
		case <-w.t.Context().Done():
		}
	}
}

// has waits until the Service shop has these endpoints.
func (w *watched) has(want string) Found {
	w.t.Helper()
	return w.until(func(f Found) bool { all, there := f.Services["shop"]; return there && shown(all) == want })
}

// early asks without waiting for anything.
func (w *watched) early() error {
	ctx, cancel := context.WithCancel(w.t.Context())
	cancel()
	_, err := w.Endpoints(ctx)
	return err
}

// wrong waits for what is not right.
func (w *watched) wrong() error {
	w.t.Helper()
	for {
		found, err := w.Endpoints(w.t.Context())
		if err != nil {
			return err
		}
		if found.Trouble != nil {
			return found.Trouble
		}
		select {
		case <-w.Changed():
		case <-w.t.Context().Done():
			w.t.Fatal("nothing is wrong")
		}
	}
}

// What changes is heard of by the watch: there is one list.
func TestSourceWatches(t *testing.T) {
	t.Parallel()
	api := kubetest.New(t)
	api.Allow(kubetest.RoleOf(t, manifest))
	api.PutSlice(slice("a", at("10.0.0.1"), at("10.0.0.2")))
	api.PutPod("prod", "shop-1", map[string]string{"version": "v1", "other": "x"})
	w := watchOf(t, api, Config{Services: []string{"shop"}, PodLabels: []string{"version"}})
	w.has("10.0.0.1:8080, 10.0.0.2:8080")
	api.PutSlice(slice("b", at("10.0.0.3", ofPod("shop-1"))))
	w.has("10.0.0.1:8080, 10.0.0.2:8080, 10.0.0.3:8080 map[version:v1]")
	api.PutPod("prod", "shop-1", map[string]string{"version": "v2"})
	w.has("10.0.0.1:8080, 10.0.0.2:8080, 10.0.0.3:8080 map[version:v2]")
	api.DeleteSlice("prod", "a")
	if found := w.has("10.0.0.3:8080 map[version:v2]"); found.Trouble != nil || len(found.Unusable) > 0 {
		t.Errorf("it says %+v", found)
	}
	asked := api.Asked()
	slices.Sort(asked)
	want := []string{"list endpointslices kubernetes.io/service-name in (shop)", "list pods", "watch endpointslices kubernetes.io/service-name in (shop)", "watch pods"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
}

// A selector finds Services by their labels, and what has them no more is gone.
func TestSourceSelects(t *testing.T) {
	t.Parallel()
	api := kubetest.New(t)
	mine, pay := slice("a", at("10.0.0.1")), slice("b", at("10.0.0.2"))
	mine.Labels["team"] = "shop"
	pay.Labels = map[string]string{discoveryv1.LabelServiceName: "pay", "team": "shop"}
	stray := slice("c", at("10.0.0.3"))
	stray.Labels = map[string]string{"team": "shop"}
	for _, s := range []*discoveryv1.EndpointSlice{mine, pay, stray, slice("d", at("10.0.0.4"))} {
		api.PutSlice(s)
	}
	w := watchOf(t, api, Config{Selector: "team=shop"})
	if found := w.has("10.0.0.1:8080"); len(found.Services) != 2 || shown(found.Services["pay"]) != "10.0.0.2:8080" {
		t.Errorf("it has %+v", found)
	}
	pay = pay.DeepCopy()
	delete(pay.Labels, "team")
	api.PutSlice(pay)
	w.until(func(f Found) bool { return len(f.Services) == 1 })
}

// What is wrong with one Service is told of that one.
func TestSourceTellsWhatCannotBeUsed(t *testing.T) {
	t.Parallel()
	api := kubetest.New(t)
	pay := with(slice("b", at("10.0.0.2")), ports(port("http", 80), port("admin", 81)))
	pay.Labels = map[string]string{discoveryv1.LabelServiceName: "pay"}
	api.PutSlice(pay)
	api.PutSlice(slice("a", at("10.0.0.1")))
	w := watchOf(t, api, Config{Services: []string{"shop", "pay"}})
	found := w.has("10.0.0.1:8080")
	if err := found.Unusable["pay"]; err == nil || !strings.Contains(err.Error(), "--port") || found.Trouble != nil {
		t.Errorf("it says %+v", found)
	}
}

// Nothing is known before the lists have come, and the one that waits is told so.
func TestSourceWaitsForItsLists(t *testing.T) {
	t.Parallel()
	api := kubetest.New(t)
	api.PutSlice(slice("a", at("10.0.0.1")))
	release := api.Hold()
	w := watchOf(t, api, Config{Services: []string{"shop"}, PodLabels: []string{"version"}})
	if err := w.early(); err == nil || err.Error() != "the Kubernetes API has not answered yet" {
		t.Errorf("it says %v", err)
	}
	release()
	w.has("10.0.0.1:8080")
}

// A watch that breaks, a server that is away and a past that is forgotten take nothing away; what has changed meanwhile is there afterwards.
func TestSourceKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	api := kubetest.New(t)
	api.PutSlice(slice("a", at("10.0.0.1")))
	w := watchOf(t, api, Config{Services: []string{"shop"}})
	w.has("10.0.0.1:8080")

	api.Cut()
	api.PutSlice(slice("a", at("10.0.0.2")))
	w.has("10.0.0.2:8080")

	api.Away(true)
	found := w.until(func(f Found) bool { return f.Trouble != nil })
	if shown(found.Services["shop"]) != "10.0.0.2:8080" || !strings.HasPrefix(found.Trouble.Error(), "the Kubernetes API: ") {
		t.Errorf("while the server is away it has %+v", found)
	}
	api.PutSlice(slice("a", at("10.0.0.3")))
	api.Away(false)
	w.until(func(f Found) bool { return f.Trouble == nil && shown(f.Services["shop"]) == "10.0.0.3:8080" })

	api.Forget()
	api.PutSlice(slice("a", at("10.0.0.4")))
	api.Cut()
	w.has("10.0.0.4:8080")
}

// Without the right to watch, or to read pods, the account is told which Role it needs.
func TestSourceNamesTheRole(t *testing.T) {
	t.Parallel()
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	for name, c := range map[string]struct {
		rules  []rbacv1.PolicyRule
		labels []string
		known  bool // what the Services have
		want   string
	}{
		"nothing":  {[]rbacv1.PolicyRule{}, nil, false, "does not let this account list the endpointslices of the namespace prod; deploy/kubernetes/discover.yaml has the Role that does: "},
		"no pods":  {[]rbacv1.PolicyRule{rule("discovery.k8s.io", "endpointslices", "list", "watch")}, []string{"version"}, false, "does not let this account list the pods of"},
		"no watch": {[]rbacv1.PolicyRule{rule("discovery.k8s.io", "endpointslices", "list")}, nil, true, "does not let this account watch the endpointslices of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := kubetest.New(t)
			api.Allow(c.rules)
			api.PutSlice(slice("a", at("10.0.0.1")))
			w := watchOf(t, api, Config{Services: []string{"shop"}, PodLabels: c.labels})
			if err := w.wrong(); !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "cannot") {
				t.Errorf("it says %v", err)
			}
			if found, err := w.Endpoints(t.Context()); (err == nil) != c.known {
				t.Errorf("it has %+v, %v", found, err)
			}
		})
	}
}

// An account that the API does not know.
func TestSourceIsNotKnown(t *testing.T) {
	t.Parallel()
	api := kubetest.New(t)
	w := watchOf(t, api, Config{Services: []string{"shop"}, Namespace: "prod", Context: "strangers"})
	if err := w.wrong(); !strings.HasPrefix(err.Error(), "the Kubernetes API does not know this account: ") {
		t.Errorf("it says %v", err)
	}
}

// Run ends with its context at once, whatever the API does.
func TestSourceEnds(t *testing.T) {
	t.Parallel()
	api := kubetest.New(t)
	api.PutSlice(slice("a", at("10.0.0.1")))
	w := watchOf(t, api, Config{Services: []string{"shop"}})
	w.has("10.0.0.1:8080")
	w.stop()
	api.Hold()
	held := watchOf(t, api, Config{Services: []string{"shop"}})
	api.Await(func(asked []string) bool { // the second list is held
		return len(slices.DeleteFunc(asked, func(x string) bool { return !strings.HasPrefix(x, "list ") })) == 2
	})
	held.stop()
}

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	api := kubetest.New(t)
	good := api.Kubeconfig("prod")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("apiVersion: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, cfg := range map[string]Config{
		"which Services: give names, or a selector of their labels": {Kubeconfig: good},
		"which Services: ":          {Kubeconfig: good, Services: []string{"a"}, Selector: "b"},
		"the name of a Service: ":   {Kubeconfig: good, Services: []string{"a b"}},
		"the selector: ":            {Kubeconfig: good, Selector: "a in"},
		"the address type: ":        {Kubeconfig: good, Services: []string{"a"}, AddressType: "IPv5"},
		"the labels of pods: ":      {Kubeconfig: good, Services: []string{"a"}, PodLabels: slices.Repeat([]string{"a"}, 11)},
		"the kubeconfig: ":          {Kubeconfig: filepath.Join(t.TempDir(), "none"), Services: []string{"a"}},
		"the kubeconfig: error loa": {Kubeconfig: broken, Services: []string{"a"}},
		"the kubeconfig: context":   {Kubeconfig: good, Context: "none", Services: []string{"a"}},
	} {
		if _, err := New(cfg); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// Without a kubeconfig, and not in a pod, it says so.
func TestConfigIsNowhere(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := New(Config{Services: []string{"a"}}); err == nil || !strings.Contains(err.Error(), "there is no kubeconfig") {
		t.Errorf("it says %v", err)
	}
}
