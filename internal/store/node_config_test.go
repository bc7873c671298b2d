package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func (w *world) config(node string, q store.ConfigFilter) store.NodeConfig {
	w.Helper()
	c, err := w.app.NodeConfig(w.Context(), w.tenant, w.fleet, node, q)
	w.ok(err)
	return c
}

// listed is what a page holds: "type/name" -> version @ revision, and what stands in.
func listed(c store.NodeConfig) map[string]string {
	out := map[string]string{}
	for _, r := range c.Resources {
		s := fmt.Sprintf("%s @%d", r.Present.Version, r.Present.Revision)
		if r.Refusal != nil {
			s += fmt.Sprintf(" refused: %s (%s)", r.Refusal.Detail, r.Refusal.Action)
		}
		if r.Good.Version != "" {
			s += fmt.Sprintf(" good %s @%d %s", r.Good.Version, r.Good.Revision, r.Good.TTL)
		}
		if r.GoodRefused != nil {
			s += " but " + r.GoodRefused.Action.String()
		}
		for _, k := range r.Keeps {
			s += fmt.Sprintf(" keeps %s/%s", k.Type, k.Name)
		}
		out[fmt.Sprintf("%s/%s", r.Type, r.Name)] = s
	}
	return out
}

func wantListed(t *testing.T, c store.NodeConfig, want map[string]string) {
	t.Helper()
	if d := cmp.Diff(want, listed(c)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNodeConfig(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	good := put(fleet.Listener, "l", "good")
	good.TTL = 30 * time.Second
	good.Derived = fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Route, Name: "bootstrap"}, {Type: fleet.Route, Name: "r"}, {Type: fleet.Secret, Name: "there"}}}
	good = fill(good)
	c := put(fleet.Cluster, "c", "1")
	there := put(fleet.Secret, "there", "1")
	eu := put(fleet.Cluster, "c", "EU")
	eu.Variant, eu.Selector = "eu", "locality.region=eu"
	w.apply(c, fill(eu), good, put(fleet.Route, "r", "1"), there) // 1
	c.Labels = map[string]string{"team": "shop"}
	w.apply(fill(c)) // 2: the same version
	poison := put(fleet.Listener, "l", "poison")
	fresh := put(fleet.Cluster, "fresh", "poison")
	w.apply(poison, fresh, del(fleet.Route, "r")) // 3
	s := w.server("s")
	at := time.Now().UTC().Truncate(time.Microsecond)
	s.report(fleet.Status{Settled: 3, Nodes: []fleet.NodeStatus{
		{Node: "a", Connected: true, Protocol: "delta ADS", UserAgent: "envoy", Version: "1.40.0", Settled: settled(1)}, on("b")},
		Refusals: []fleet.Refusal{
			{Node: "a", Type: fleet.Listener, Name: "l", Version: poison.Version, Revision: 3, Detail: "no filter", Action: fleet.ActionKept, Good: good.Version, At: at},
			{Node: "a", Type: fleet.Cluster, Name: "fresh", Version: fresh.Version, Revision: 3, Detail: "no luck", Action: fleet.ActionRemoved},
			{Node: "a", Type: fleet.Cluster, Name: "c", Version: "of another time", Revision: 1, Detail: "old"},
			{Node: "a", Type: fleet.Secret, Name: "there", Version: there.Version, Revision: 1, Detail: "it is over"},
			{Node: "b", Type: fleet.Cluster, Name: "c", Version: c.Version, Revision: 1, Detail: "of another node"}},
	})
	s.report(fleet.Status{Settled: 3, Resolved: []fleet.Refusal{{Node: "a", Type: fleet.Secret, Name: "there", Version: there.Version, By: 3}}})
	a := w.config("a", store.ConfigFilter{})
	if n := a.Node; a.Revision != 3 || a.More || n.ID != "a" || n.State != store.NodeRefusing || n.Settled != 1 || n.UserAgent != "envoy" || n.Protocol != "delta ADS" {
		t.Errorf("%+v", a)
	}
	want := map[string]string{
		"clusters/c":     c.Version + " @1",
		"clusters/fresh": fresh.Version + " @3 refused: no luck (removed)",
		"listeners/l": fmt.Sprintf("%s @3 refused: no filter (kept) good %s @1 30s keeps routes/r",
			poison.Version, good.Version),
		"secrets/there": there.Version + " @1",
	}
	wantListed(t, a, want)
	for _, r := range a.Resources {
		if r.Name == "l" && !r.Refusal.At.Equal(at) {
			t.Errorf("refused at %v, want %v", r.Refusal.At, at)
		}
	}
	// What stands in is refused as well; and another node's refusals are its own.
	s.report(fleet.Status{Settled: 3, Refusals: []fleet.Refusal{{Node: "a", Type: fleet.Listener, Name: "l", Version: good.Version, Revision: 1, Action: fleet.ActionStandInRefused}}})
	want["listeners/l"] = strings.Replace(want["listeners/l"], " keeps", " but stand_in_refused keeps", 1)
	wantListed(t, w.config("a", store.ConfigFilter{}), want)
	if b := w.config("b", store.ConfigFilter{}); b.Resources[0].Refusal.Detail != "of another node" || b.Resources[2].Refusal != nil {
		t.Errorf("b holds %v", listed(b))
	}
	_, err := w.app.NodeConfig(ctx, w.tenant, w.fleet, "nobody", store.ConfigFilter{})
	w.is(err, fleet.ErrNotFound)
	_, err = w.app.NodeConfig(ctx, w.db.Tenant(t), w.fleet, "a", store.ConfigFilter{})
	w.is(err, fleet.ErrNotFound)
}

func TestNodeConfigOfAnEmptyFleet(t *testing.T) {
	w := setup(t)
	w.server("s").report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}})
	c := w.config("a", store.ConfigFilter{})
	if c.Node.State != store.NodeLive || c.Revision != 0 || len(c.Resources) != 0 || c.More {
		t.Errorf("%+v", c)
	}
}

// A version that came back was brought by the revision that brought it back.
func TestNodeConfigTellsWhoBroughtAVersion(t *testing.T) {
	w := setup(t)
	a, b := put(fleet.Cluster, "c", "A"), put(fleet.Cluster, "c", "B")
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("n")}})
	label := func(c store.ResourceChange, v string) store.ResourceChange {
		c.Labels = map[string]string{"v": v}
		return fill(c)
	}
	for i, step := range []struct {
		change store.ResourceChange
		want   int
	}{
		{a, 1}, {label(a, "1"), 1}, {b, 3}, {a, 4}, {label(a, "2"), 4}, {label(a, "3"), 4}, {del(fleet.Cluster, "c"), 0}, {a, 8}, {label(a, "4"), 8},
	} {
		w.apply(step.change)
		got := w.config("n", store.ConfigFilter{}).Resources
		if step.want == 0 {
			if len(got) != 0 {
				t.Errorf("step %d: %v is deleted", i+1, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Present.Revision != fleet.Revision(step.want) {
			t.Errorf("step %d: %+v, want revision %d", i+1, got, step.want)
		}
	}
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 9, History: 9}))
	if got := w.config("n", store.ConfigFilter{}).Resources[0].Present.Revision; got < 8 || got > 9 {
		t.Errorf("after the history was cut: %d", got)
	}
	w.exec(`DELETE FROM resource_history WHERE revision = 9`)
	w.exec(`INSERT INTO resource_history SELECT tenant_id, fleet_id, type, name, variant, 1, true, '', 0, 0, NULL, '', 'Z', NULL, NULL, NULL, 0, NULL FROM resources`)
	if got := w.config("n", store.ConfigFilter{}).Resources[0].Present.Revision; got != 9 {
		t.Errorf("of a version that the history does not hold: %d", got)
	}
}

func TestNodeConfigPagesAndFilters(t *testing.T) {
	w := setup(t)
	var early, late []store.ResourceChange
	var refusals []fleet.Refusal
	all := map[string][]string{}
	for i := range 40 {
		typ := fleet.Types()[i%3] // clusters, endpoints, secrets
		name := fmt.Sprintf("n%02d", i)
		c := put(typ, name, "1")
		key := fmt.Sprintf("%s/%s", typ, name)
		f := fleet.Refusal{Node: "a", Type: typ, Name: name, Version: c.Version, Revision: 1, Detail: "no"}
		switch i % 5 {
		case 0:
			late = append(late, c)
			all[store.ConfigPending] = append(all[store.ConfigPending], key)
			continue
		case 1:
			f.Action, f.Good = fleet.ActionKept, "g"
			all[store.ConfigRefused] = append(all[store.ConfigRefused], key)
			refusals = append(refusals, f)
		case 2:
			f.Action = fleet.ActionRemoved
			all[store.ConfigAbsent] = append(all[store.ConfigAbsent], key)
			refusals = append(refusals, f)
		case 3:
			f.Action = fleet.ActionNoSuspect
			all[store.ConfigRefused] = append(all[store.ConfigRefused], key)
			refusals = append(refusals, f)
		default:
			state := store.ConfigSynced
			if typ != fleet.Cluster { // nothing names it
				state = store.ConfigUnreferenced
			}
			all[state] = append(all[state], key)
		}
		early = append(early, c)
	}
	w.apply(early...)
	w.apply(late...)
	w.server("s").report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}, Refusals: refusals})
	read := func(q store.ConfigFilter, sizes ...int) (got []string) {
		t.Helper()
		for {
			c := w.config("a", q)
			sizes = append(sizes, len(c.Resources))
			for _, r := range c.Resources {
				got = append(got, fmt.Sprintf("%s/%s", r.Type, r.Name))
			}
			if !c.More {
				break
			}
			last := c.Resources[len(c.Resources)-1]
			q.After = store.Cursor{Type: last.Type, Name: last.Name}
		}
		for i, n := range sizes[:len(sizes)-1] {
			if n != q.Limit {
				t.Errorf("page %d holds %d of %d", i, n, q.Limit)
			}
		}
		return got
	}
	clusters := fleet.Cluster
	for _, limit := range []int{1, 7, 100} {
		var every []string
		for state, want := range all {
			slices.Sort(want)
			every = append(every, want...)
			if d := cmp.Diff(want, read(store.ConfigFilter{State: state, Limit: limit})); d != "" {
				t.Errorf("%s by %d: %s", state, limit, d)
			}
			var ofClusters []string
			for _, k := range want {
				if strings.HasPrefix(k, "clusters/") {
					ofClusters = append(ofClusters, k)
				}
			}
			if d := cmp.Diff(ofClusters, read(store.ConfigFilter{State: state, Type: &clusters, Limit: limit})); d != "" {
				t.Errorf("clusters %s by %d: %s", state, limit, d)
			}
		}
		slices.Sort(every)
		if d := cmp.Diff(every, read(store.ConfigFilter{Limit: limit})); d != "" {
			t.Errorf("all by %d: %s", limit, d)
		}
	}
}

// SEMANTICS 5.3: what is withheld counts as settled, and the node has it not.
func TestNodeConfigOfWhatIsWithheld(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Listener, "l", "1"), put(fleet.Listener, "m", "1"))
	one := fleet.Revision(1)
	n := fleet.NodeStatus{Node: "n", Connected: true, Settled: &one, Since: time.Now(), Waits: fleet.Waits{Withheld: []fleet.Withheld{{
		Ref: fleet.Ref{Type: fleet.Listener, Name: "l"}, By: fleet.Ref{Type: fleet.Route, Name: "r"}, Revision: 1,
	}}}}
	w.server("s").report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{n}})
	for state, want := range map[string]string{store.ConfigSynced: "m", store.ConfigPending: "l"} {
		got := w.config("n", store.ConfigFilter{State: state})
		if len(got.Resources) != 1 || got.Resources[0].Name != want || len(got.Node.Waits.Withheld) != 1 {
			t.Errorf("%s are %+v, want %s", state, got.Resources, want)
		}
	}
}

// What a node does not ask for is not synced: of a type of which it asks for nothing, and of a listener whose name it does not ask for. The
// database filters as fleet.Subscriptions.Excludes says.
func TestNodeConfigOfWhatIsNotSubscribed(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"), put(fleet.Listener, "l", "1"), put(fleet.Listener, "m", "1"), put(fleet.Runtime, "r", "1"), put(fleet.Endpoint, "c", "1"))
	by := func(how map[fleet.Type]fleet.Asks, listeners ...string) (s fleet.Subscriptions) {
		for t, a := range how {
			s.Types[t] = a
		}
		s.Listeners = listeners
		return s
	}
	many := by(map[fleet.Type]fleet.Asks{fleet.Listener: fleet.AsksNames})
	many.Many = fleet.MaxAsked + 1
	s := w.server("s")
	for i, subs := range []fleet.Subscriptions{
		{},
		by(map[fleet.Type]fleet.Asks{fleet.Cluster: fleet.AsksAll, fleet.Endpoint: fleet.AsksNames}),
		by(map[fleet.Type]fleet.Asks{fleet.Cluster: fleet.AsksAll, fleet.Listener: fleet.AsksAll, fleet.Runtime: fleet.AsksNames}),
		by(map[fleet.Type]fleet.Asks{fleet.Cluster: fleet.AsksNames, fleet.Listener: fleet.AsksNames}, "m", "z"),
		by(map[fleet.Type]fleet.Asks{fleet.Cluster: fleet.AsksNames, fleet.Listener: fleet.AsksNames}),
		many,
	} {
		id := fmt.Sprint("n", i)
		n := on(id)
		n.Subscribes = subs
		s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{n}})
		want := map[string][]string{}
		whole := w.config(id, store.ConfigFilter{})
		if !whole.Node.Subscribes.Equal(subs) {
			t.Errorf("%s: %+v is read as %+v", id, subs, whole.Node.Subscribes)
		}
		for _, r := range whole.Resources {
			state := store.ConfigSynced
			switch {
			case r.Unreferenced != (r.Type == fleet.Endpoint || r.Type == fleet.Cluster && subs.Types[fleet.Cluster] == fleet.AsksNames):
				t.Errorf("%s: %s/%s unreferenced: %v", id, r.Type, r.Name, r.Unreferenced)
			case r.Unreferenced:
				state = store.ConfigUnreferenced
			case subs.Excludes(fleet.Ref{Type: r.Type, Name: r.Name}):
				state = store.ConfigNotSubscribed
			}
			want[state] = append(want[state], fmt.Sprintf("%s/%s", r.Type, r.Name))
		}
		for _, state := range []string{store.ConfigSynced, store.ConfigUnreferenced, store.ConfigNotSubscribed, store.ConfigPending} {
			var got []string
			for _, r := range w.config(id, store.ConfigFilter{State: state}).Resources {
				got = append(got, fmt.Sprintf("%s/%s", r.Type, r.Name))
			}
			if d := cmp.Diff(want[state], got); d != "" {
				t.Errorf("%s, %s: %s", id, state, d)
			}
		}
	}
}

// On several servers a node subscribes to what it does on either, if both have told; one that has left subscribes to nothing.
func TestSubscriptionsOfANodeOnSeveralServers(t *testing.T) {
	w := setup(t)
	a, b := w.server("a"), w.server("b")
	n := on("n")
	n.Subscribes.Types[fleet.Cluster] = fleet.AsksAll
	a.report(fleet.Status{Nodes: []fleet.NodeStatus{n}})
	read := func() fleet.Subscriptions {
		t.Helper()
		v, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n")
		w.ok(err)
		return v.Subscribes
	}
	b.report(fleet.Status{Nodes: []fleet.NodeStatus{on("n")}})
	if got := read(); got.Known() {
		t.Errorf("where one has not told: %+v", got)
	}
	n.Subscribes = fleet.Subscriptions{Listeners: []string{"l\x00"}}
	n.Subscribes.Types[fleet.Listener] = fleet.AsksNames
	b.report(fleet.Status{Nodes: []fleet.NodeStatus{n}})
	if got := read(); got.Types[fleet.Cluster] != fleet.AsksAll || !slices.Equal(got.Listeners, []string{"l\uFFFD"}) {
		t.Errorf("on both: %+v", got)
	}
	n.Connected = false
	b.report(fleet.Status{Nodes: []fleet.NodeStatus{n}})
	if got := read(); got.Types[fleet.Cluster] != fleet.AsksAll || got.Types[fleet.Listener] != fleet.AsksNothing {
		t.Errorf("on one: %+v", got)
	}
	a.report(fleet.Status{Nodes: []fleet.NodeStatus{n}})
	if got := read(); got.Known() {
		t.Errorf("on none: %+v", got)
	}
}

// What a node asks for by name follows from what it has: from its own variants, and, where it asks for listeners by name, from these. While it refuses something that is not known.
func TestNodeConfigOfWhatANodeHasNoNameOf(t *testing.T) {
	w := setup(t)
	naming := func(c store.ResourceChange, refs ...fleet.Ref) store.ResourceChange {
		c.Derived = fleet.Derived{Refs: refs}
		return fill(c)
	}
	endpoints := func(name string) fleet.Ref { return fleet.Ref{Type: fleet.Endpoint, Name: name} }
	eu := put(fleet.Cluster, "a", "EU")
	eu.Variant, eu.Selector = "eu", "locality.region=eu"
	var all []store.ResourceChange
	for _, name := range []string{"a", "b"} {
		all = append(all, put(fleet.Endpoint, name, "1"), naming(put(fleet.Cluster, name, "1"), endpoints(name)),
			naming(put(fleet.Route, name, "1"), fleet.Ref{Type: fleet.Cluster, Name: name}), naming(put(fleet.Listener, name, "1"), fleet.Ref{Type: fleet.Route, Name: name}))
	}
	w.apply(append(all, put(fleet.Endpoint, "eu", "1"), put(fleet.Endpoint, "nobody", "1"), naming(eu, endpoints("eu")))...)
	s := w.server("s")
	states := func(choice string) map[string][]string {
		t.Helper()
		out := map[string][]string{}
		for _, state := range []string{store.ConfigSynced, store.ConfigNotSubscribed, store.ConfigUnreferenced} {
			q := store.ConfigFilter{State: state, Choices: []store.Choice{{Ref: fleet.Ref{Type: fleet.Cluster, Name: "a"}, Variant: choice}}}
			for _, r := range w.config("n", q).Resources {
				out[state] = append(out[state], fmt.Sprintf("%s/%s", r.Type, r.Name))
				if r.Unreferenced != (state == store.ConfigUnreferenced) || state == store.ConfigSynced && r.Unasked {
					t.Errorf("%s %+v", state, r)
				}
			}
		}
		return out
	}
	want := func(what string, got, want map[string][]string) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	n := on("n")
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{n}})
	lost := []string{"endpoints/nobody"}
	rest := []string{"listeners/a", "listeners/b", "routes/a", "routes/b"}
	clusters := []string{"clusters/a", "clusters/b"}
	want("the default variant", states(""), map[string][]string{
		store.ConfigUnreferenced: lost, store.ConfigNotSubscribed: {"endpoints/eu"},
		store.ConfigSynced: slices.Concat(clusters, []string{"endpoints/a", "endpoints/b"}, rest),
	})
	want("the variant eu", states("eu"), map[string][]string{
		store.ConfigUnreferenced: lost, store.ConfigNotSubscribed: {"endpoints/a"},
		store.ConfigSynced: slices.Concat(clusters, []string{"endpoints/b", "endpoints/eu"}, rest),
	})
	for _, typ := range []fleet.Type{fleet.Listener, fleet.Route, fleet.Cluster, fleet.Endpoint} {
		n.Subscribes.Types[typ] = fleet.AsksNames
	}
	n.Subscribes.Listeners = []string{"a", "unknown"}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{n}})
	want("a listener by name", states(""), map[string][]string{
		store.ConfigUnreferenced: lost, store.ConfigNotSubscribed: {"clusters/b", "endpoints/b", "endpoints/eu", "listeners/b", "routes/b"},
		store.ConfigSynced: {"clusters/a", "endpoints/a", "listeners/a", "routes/a"},
	})
	s.report(fleet.Status{Settled: 1, Refusals: []fleet.Refusal{{Node: "n", Type: fleet.Listener, Name: "b", Version: all[7].Version, Revision: 1, Action: fleet.ActionNoSuspect}}})
	want("one that refuses something", states(""), map[string][]string{
		store.ConfigUnreferenced: lost,
		store.ConfigSynced:       slices.Concat(clusters, []string{"endpoints/a", "endpoints/b", "endpoints/eu", "listeners/a", "routes/a", "routes/b"}),
	})
}

// A node that polls over REST has no ADS: it asks for what is named for polls, and not for what is named for streams. A scoped route does not say from where.
func TestNodeConfigOfANodeThatPolls(t *testing.T) {
	w := setup(t)
	from := func(c store.ResourceChange, refs, polled []fleet.Ref) store.ResourceChange {
		c.Derived = fleet.Derived{Refs: refs, Polled: polled}
		return fill(c)
	}
	of := func(t fleet.Type, names ...string) (refs []fleet.Ref) {
		for _, n := range names {
			refs = append(refs, fleet.Ref{Type: t, Name: n})
		}
		return refs
	}
	eu := put(fleet.Cluster, "polls", "EU")
	eu.Variant, eu.Selector = "eu", "locality.region=eu"
	all := []store.ResourceChange{
		from(put(fleet.Cluster, "ads", "1"), of(fleet.Endpoint, "ads"), nil), from(put(fleet.Cluster, "both", "1"), of(fleet.Endpoint, "both"), nil),
		from(put(fleet.Cluster, "polls", "1"), nil, of(fleet.Endpoint, "polls", "both")), from(eu, nil, of(fleet.Endpoint, "eu")),
		from(put(fleet.Listener, "l", "1"), of(fleet.Route, "ads"), of(fleet.Secret, "k")), from(put(fleet.ScopedRoute, "s", "1"), of(fleet.Route, "scope"), nil),
		put(fleet.Route, "ads", "1"), put(fleet.Route, "scope", "1"), put(fleet.Secret, "k", "1"),
	}
	for _, name := range []string{"ads", "both", "polls", "eu", "nobody"} {
		all = append(all, put(fleet.Endpoint, name, "1"))
	}
	w.apply(all...)
	s := w.server("s")
	rest := []string{"clusters/ads", "clusters/both", "clusters/polls"}
	for protocol, want := range map[string]map[string][]string{
		"REST CDS": {
			store.ConfigSynced:        slices.Concat(rest, []string{"endpoints/both", "endpoints/polls", "listeners/l", "routes/scope", "scoped-routes/s", "secrets/k"}),
			store.ConfigNotSubscribed: {"endpoints/ads", "endpoints/eu", "routes/ads"}, store.ConfigUnreferenced: {"endpoints/nobody"},
		},
		"delta ADS": {
			store.ConfigSynced:       slices.Concat(rest, []string{"endpoints/ads", "endpoints/both", "listeners/l", "routes/ads", "routes/scope", "scoped-routes/s"}),
			store.ConfigUnreferenced: {"endpoints/eu", "endpoints/nobody", "endpoints/polls", "secrets/k"},
		},
	} {
		n := on("n")
		n.Protocol = protocol
		s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{n}})
		got := map[string][]string{}
		for _, state := range []string{store.ConfigSynced, store.ConfigNotSubscribed, store.ConfigUnreferenced} {
			q := store.ConfigFilter{State: state, Choices: []store.Choice{{Ref: fleet.Ref{Type: fleet.Cluster, Name: "polls"}}}}
			for _, r := range w.config("n", q).Resources {
				got[state] = append(got[state], fmt.Sprintf("%s/%s", r.Type, r.Name))
				if r.Unreferenced != (state == store.ConfigUnreferenced) || r.Unasked && state == store.ConfigSynced || !r.Unasked && state == store.ConfigNotSubscribed {
					t.Errorf("%s, %s: %+v", protocol, state, r)
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", protocol, d)
		}
	}
}

// Of an Envoy that has been connected for a while and of which nothing was told, it is what most Envoys subscribe to.
func TestSubscriptionsOfMostEnvoysAreNotTold(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	usual := fleet.Subscriptions{}
	usual.Types[fleet.Cluster], usual.Types[fleet.Listener] = fleet.AsksAll, fleet.AsksAll
	for _, c := range []struct {
		agent string
		since time.Duration
		want  fleet.Subscriptions
	}{{"envoy", time.Minute, usual}, {"envoy", time.Second, fleet.Subscriptions{}}, {"gRPC Go", time.Minute, fleet.Subscriptions{}}} {
		n := on("n")
		n.UserAgent, n.Since = c.agent, time.Now().Add(-c.since)
		s.report(fleet.Status{Nodes: []fleet.NodeStatus{n}})
		v, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n")
		w.ok(err)
		if !v.Subscribes.Equal(c.want) {
			t.Errorf("%s, connected for %s: %+v", c.agent, c.since, v.Subscribes)
		}
	}
}
