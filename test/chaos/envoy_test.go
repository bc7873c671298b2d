package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	client "fairlead/clients/go"
	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// grace is for how long before a request began what an Envoy has ACKed may not be in force yet: its workers are told apart from its main thread.
const grace = time.Second

// envoy is a real one. Its requests go to clusters by name, and to the one that the tenant's route names at present.
type envoy struct {
	node
	delta  bool
	tenant *tenant
	in     *installation
	h      *history
	via    *via
	port   string // of its listener
	names  []string
	rng    *rand.Rand

	proc *localenvoy.Envoy // of the test's goroutine

	mu    sync.Mutex // guards what follows
	start int        // even: it runs, and was started half as often; odd: it is killed
	ready int        // which start was seen to serve; -1: none
}

// own is the tenant's listener as one node has it.
func (e *envoy) own() string {
	r := world.Listener("l", e.port, "r")
	return fmt.Sprintf("- {type: %s, name: %q, variant: %s, selector: %q, body: %s}\n", r.Type, r.Name, e.ID, "node.id="+e.ID, r.Body)
}

// begin starts it, and waits for nothing.
func (e *envoy) begin() {
	t := e.in.T
	t.Helper()
	text, err := bootstrap.Envoy(bootstrap.Config{
		NodeID: e.ID, NodeCluster: "chaos", XDSAddresses: []string{e.via.address}, Delta: e.delta, Plaintext: true, TokenEnv: "FAIRLEAD_NODE_TOKEN",
		AdminAddress: world.AnyPort, RetryBase: 100 * time.Millisecond, RetryMax: time.Second,
	})
	world.Must(t, err)
	dir, err := os.MkdirTemp(e.in.Dir, "envoy-")
	world.Must(t, err)
	e.proc = e.in.StartEnvoy(localenvoy.Config{Bootstrap: text, Dir: dir, Env: []string{"FAIRLEAD_NODE_TOKEN=" + e.tenant.nodes}})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.start++
}

func (e *envoy) kill() {
	e.mu.Lock()
	e.start++
	e.via.forget()
	e.mu.Unlock()
	e.proc.Kill()
}

// run sends requests until ctx ends.
func (e *envoy) run(ctx context.Context) {
	type moment struct {
		at    time.Time
		place int64
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	web := &http.Client{Transport: transport, Timeout: hang}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var past []moment
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		name := ""
		if n%2 == 1 {
			name = e.names[e.rng.IntN(len(e.names))]
		}
		past = append(past, moment{time.Now(), e.h.now()})
		for len(past) > 1 && time.Since(past[1].at) > grace {
			past = past[1:]
		}
		e.mu.Lock()
		start := e.start
		e.mu.Unlock()
		answer := e.ask(ctx, web, name)
		if ctx.Err() != nil {
			return
		}
		e.h.requested(request{Node: e.node, Name: name, Since: past[0].place, Answer: answer, Clock: time.Now().Format(lineTime)})
		e.seen(start, name, answer)
	}
}

// seen notes that it serves, from the first answer of each start on.
func (e *envoy) seen(start int, name, answer string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if name == "" && start == e.start && start%2 == 0 && e.ready != start && strings.HasPrefix(answer, e.Tenant+"/") {
		e.ready = start
		e.h.client(e.node, serves, "", nil)
	}
}

// ask is a request to a cluster, or to the one of the route. It returns who answered, or what else came.
func (e *envoy) ask(ctx context.Context, web *http.Client, name string) string {
	path := "/"
	if name == "" {
		path = "/swap"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.port+path, nil)
	if err != nil {
		return err.Error()
	}
	r.Header.Set("X-Cluster", name)
	resp, err := web.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err.Error()
	case resp.StatusCode != http.StatusOK:
		return fmt.Sprintf("%d %s", resp.StatusCode, b)
	}
	return string(b)
}

// serving says whether it was seen to serve since it was started last.
func (e *envoy) serving() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ready == e.start
}

// differs tells what its configuration has otherwise than the API.
func (e *envoy) differs(t *testing.T) (wrong []string) {
	t.Helper()
	b, err := e.proc.Admin(t.Context(), "/config_dump")
	if err != nil {
		return []string{err.Error()}
	}
	type named struct{ Cluster json.RawMessage }
	var dump struct {
		Configs []struct {
			Active  []named `json:"dynamic_active_clusters"`
			Warming []named `json:"dynamic_warming_clusters"`
			Routes  []struct {
				Route json.RawMessage `json:"route_config"`
			} `json:"dynamic_route_configs"`
		}
	}
	world.Must(t, json.Unmarshal(b, &dump))
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%v: ", e.node)+fmt.Sprintf(format, args...))
	}
	var names []string
	has, routes := map[string]int64{}, ""
	for _, c := range dump.Configs {
		for _, w := range c.Warming {
			say("its dump has a cluster that warms: %s", w.Cluster)
		}
		for _, a := range c.Active {
			var of struct{ Name string }
			world.Must(t, json.Unmarshal(a.Cluster, &of))
			names = append(names, of.Name)
			for _, m := range read(a.Cluster) {
				has[m.Name] = m.Number
				if m.Tenant != e.Tenant {
					say("its dump has %s", m.mark())
				}
			}
		}
		for _, r := range c.Routes {
			routes += string(r.Route)
		}
	}
	slices.Sort(names)
	want := e.tenant.clusters(t)
	for k, number := range e.h.present {
		switch {
		case k.Tenant != e.Tenant:
		case e.h.refuses(e.node, content{k.Tenant, k.Name, number}): // it has what stands in, or nothing
			want = slices.DeleteFunc(want, func(name string) bool { return name == k.Name && !slices.Contains(names, name) })
		case has[k.Name] != number:
			say("its dump has number %d of %s, and the API %d", has[k.Name], k.Name, number)
		}
	}
	if !slices.Equal(names, want) {
		say("its dump has the clusters %q, and the API %q", names, want)
	}
	if want := fmt.Sprintf("%q", swapName(e.tenant.swaps)); !strings.Contains(routes, want) {
		say("its dump has the routes %s, want one to %s", routes, want)
	}
	return wrong
}

// clusters are the names of all that the API tells.
func (a *tenant) clusters(t *testing.T) (names []string) {
	t.Helper()
	r := answered(t, func(ctx context.Context) (*client.ListResourcesOfTypeResponse, error) {
		return a.apis[0].ListResourcesOfTypeWithResponse(ctx, a.slug, fleetName, "clusters", &client.ListResourcesOfTypeParams{Limit: &limit})
	})
	for _, c := range r.JSON200.Items {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// addEnvoys starts some for each tenant, of both protocols in turn, and waits until they serve.
func (in *installation) addEnvoys(roaming context.Context, t *testing.T, h *history, each int, stay time.Duration, draw func(uint64) *rand.Rand) {
	t.Helper()
	in.Late = []fleet.Type{fleet.Cluster, fleet.Endpoint, fleet.Listener, fleet.Route} // no server may answer for longer than they wait
	for i, tenant := range in.tenants {
		doc := tenant.swap(0)
		for k := range each {
			n := node{tenant.slug, fmt.Sprint("envoy-", k)}
			e := &envoy{node: n, delta: (i+k)%2 == 0, tenant: tenant, in: in, h: h, port: world.FreePort(t), names: tenant.names, rng: draw(uint64(5000 + 10*i + k)), start: -1, ready: -1} //nolint:gosec // small
			e.via = newVia(t, &via{node: n, wires: in.wires(), roaming: roaming, stay: stay, h: h, rng: draw(uint64(6000 + 10*i + k))})                                                     //nolint:gosec // small
			in.envoys, in.refusers[n] = append(in.envoys, e), true
			h.join(n)
			doc += e.own()
		}
		tenant.apply(t.Context(), t, doc, uuid.NewString())
	}
	for _, e := range in.envoys {
		e.begin()
	}
}
