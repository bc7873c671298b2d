package replica

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// variant is a named variant of a cluster.
func variant(name, variant, version, selector string, priority int32) fleet.Row {
	r := cluster(name, version)
	r.Variant, r.Selector, r.Priority = variant, selector, priority
	return r
}

func withoutVariant(name, variant string) fleet.Row {
	return fleet.Row{Type: fleet.Cluster, Name: name, Variant: variant, Deleted: true}
}

func in(region string) fleet.Node { return fleet.Node{ID: "in-" + region, Region: region} }

func (w *world) attachNode(id xds.Identity, n fleet.Node) *attachment {
	w.t.Helper()
	a, err := w.Attach(w.t.Context(), id, n, xds.StreamInfo{Protocol: "delta ADS"})
	if err != nil {
		w.t.Fatalf("attach %s: %v", n.ID, err)
	}
	return a.(*attachment)
}

// wantClusters checks versions by name, "" for none.
func wantClusters(t *testing.T, a *attachment, want map[string]string) {
	t.Helper()
	for name, v := range want {
		if got := version(a.Current(), fleet.Cluster, name); got != v {
			t.Errorf("%s at revision %d: %s is %q, want %q", a.node.id, a.Current().Revision, name, got, v)
		}
	}
}

// TestWhoGetsWhichVariant is SEMANTICS 2.1.
func TestWhoGetsWhichVariant(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(
			cluster("c", "default"),
			variant("c", "eu", "eu", "locality.region=eu", 0),
			variant("c", "canary", "canary", "metadata.canary=true", 5),
			variant("c", "b", "tie b", "node.cluster=x", 1), variant("c", "a", "tie a", "node.cluster=x", 1),
			variant("only", "eu", "eu", "locality.region=eu", -3),
		)
		canary := fleet.Node{ID: "canary", Region: "eu", MetadataJSON: []byte(`{"canary": true}`)}
		for n, want := range map[*attachment]map[string]string{
			w.attachNode(id, in("us")):                                           {"c": "default", "only": ""},
			w.attachNode(id, in("eu")):                                           {"c": "eu", "only": "eu"},
			w.attachNode(id, canary):                                             {"c": "canary", "only": "eu"},
			w.attachNode(id, fleet.Node{ID: "x", Cluster: "x"}):                  {"c": "tie a", "only": ""},
			w.attachNode(id, fleet.Node{ID: "x-eu", Cluster: "x", Region: "eu"}): {"c": "tie a", "only": "eu"},
		} {
			wantClusters(t, n, want)
		}
	})
}

// TestNodesOfOneViewShareIt is SEMANTICS 2.2.
func TestNodesOfOneViewShareIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := fleet.Row{Type: fleet.Route, Name: "r", Version: "1"}
		key, id, _ := w.newFleet(cluster("c", "1"), variant("c", "eu", "eu", "locality.region=eu", 0), r)
		eu1, eu2 := w.attachNode(id, in("eu")), w.attachNode(id, fleet.Node{ID: "other", Region: "eu", Zone: "b"})
		us := w.attachNode(id, in("us"))
		check := func() {
			t.Helper()
			if eu1.Current() != eu2.Current() || eu1.Current() == us.Current() {
				t.Error("nodes for which all selectors decide the same way do not share the target, or others do")
			}
			if eu1.Current().Types[fleet.Route] != us.Current().Types[fleet.Route] {
				t.Error("views do not share a type without variants")
			}
		}
		check()
		before := eu1.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("d", "1"))
		check()
		if eu1.Current().Types[fleet.Cluster].Get("c") != before || eu1.Current().Types[fleet.Cluster].Get("d") != us.Current().Types[fleet.Cluster].Get("d") {
			t.Error("what did not change is another resource, or a resource is not shared by views")
		}
		changed(eu2)
		w.change(key, variant("c", "b", "b", "locality.zone=b", 1)) // the selectors change, not the labels
		wantClusters(t, eu1, map[string]string{"c": "eu"})
		wantClusters(t, eu2, map[string]string{"c": "b"})
		wantClusters(t, us, map[string]string{"c": "1"})
		if !changed(eu2) {
			t.Error("nobody told the stream to look again")
		}
		w.change(key, withoutVariant("c", "b"))
		check()
		wantClusters(t, eu2, map[string]string{"c": "eu"})
		w.change(key, withoutVariant("c", "eu"))
		if eu1.Current() != us.Current() {
			t.Error("without variants there is more than one view")
		}
	})
}

// TestAViewThatNobodyHasAtAChange: all streams of a fleet are away while it changes, and what they held is known when they come back. It is so
// for a few views; labels are the client's words.
func TestAViewThatNobodyHasAtAChange(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rows := []fleet.Row{cluster("c", "1")}
		for i := range 2 * spareViews {
			rows = append(rows, variant("c", fmt.Sprint("v", i), fmt.Sprint("v", i), fmt.Sprintf("locality.region=r%d", i), int32(i))) //nolint:gosec // small
		}
		key, id, _ := w.newFleet(rows...)
		comeAndGo := func(labels fleet.Node) *snapshot.Target {
			a := w.attachNode(id, labels)
			defer a.Detach(true)
			return a.Current()
		}
		had := comeAndGo(in("r0"))
		w.change(key, cluster("d", "1"))
		w.change(key, cluster("d", "2"))
		recent := comeAndGo(in("r0")).Recent
		if len(recent) != 2 || recent[1].Types[fleet.Cluster] != had.Types[fleet.Cluster] {
			t.Fatalf("%d earlier contents are known, want 2, and the last one what a client held", len(recent))
		}
		for i := range 2 * spareViews {
			comeAndGo(in(fmt.Sprint("r", i)))
		}
		w.change(key, cluster("d", "3"))
		stays := w.attachNode(id, in("r0"))
		stays.owner.mu.Lock()
		defer stays.owner.mu.Unlock()
		if n := len(stays.owner.views.byVector); n < spareViews || n > spareViews+1 {
			t.Errorf("%d views are kept, want %d, and that of the one who is there", n, spareViews)
		}
	})
}

// TestTombstones: what a node lost by a deletion or by selection is among what is gone,
// after a restart as before it.
func TestTombstones(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"), variant("c", "eu", "eu", "locality.region=eu", 0),
			variant("only", "eu", "eu", "locality.region=eu", 0)) // 1
		w.attachNode(id, in("eu"))
		w.attachNode(id, in("us"))
		w.change(key, deleted(fleet.Cluster, "c"), deleted(fleet.Cluster, "d")) // 2
		w.change(key, variant("only", "eu", "eu", "locality.region=asia", 0))   // 3
		check := func(w *world, node, name string, want fleet.Revision) {
			t.Helper()
			a := w.attachNode(id, in(node))
			defer a.Detach(true)
			got := fleet.Revision(0)
			if r := a.Current().Gone[fleet.Cluster].Get(name); r != nil {
				got = r.Revision
			}
			if got != want {
				t.Errorf("in %s %s is gone since %d, want %d", node, name, got, want)
			}
		}
		for range 2 {
			check(w, "eu", "c", 0)
			check(w, "us", "c", 2)
			check(w, "us", "d", 2)
			check(w, "eu", "only", 3)
			check(w, "asia", "only", 0)
			again := setupFeed(t, w.feed, w.feed)
			synctest.Wait()
			t.Cleanup(again.stop)
			w.stop()
			w = again
		}
		w.change(key, cluster("d", "2")) // 4
		check(w, "us", "d", 0)
		w.feed.set(func(f *feed) { f.fleets[key].compacted = 2 })
		w.change(key, withoutVariant("c", "eu")) // 5
		check(w, "eu", "c", 5)
		w.feed.set(func(f *feed) { f.fleets[key].compacted = 5 })
		w.change(key, cluster("e", "1")) // 6
		check(w, "eu", "c", 0)
		w.stop()
	})
}

// TestAnotherViewThanLastTime is SEMANTICS 3.4: what a node settled counts for the view that
// it had then, on whatever server.
func TestAnotherViewThanLastTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), variant("c", "eu", "eu", "locality.region=eu", 0))
		a := w.attachNode(id, fleet.Node{ID: "n", Region: "eu"})
		a.Settled(1)
		view := a.subscriber.view.id
		a.Detach(false)
		a = w.attachNode(id, fleet.Node{ID: "n", Region: "eu", Zone: "other"})
		if p := a.LastStream(); p.Settled != 1 || p.Clean {
			t.Errorf("in the same view as before: %+v", p)
		}
		a.Settled(1)
		a.Detach(false)
		a = w.attachNode(id, fleet.Node{ID: "n", Region: "us"})
		if p := a.LastStream(); p.Settled != 0 {
			t.Errorf("in another view than before: %+v", p)
		}
		a.Settled(1)
		w.change(key, variant("c", "us", "us", "locality.region=us", 0)) // its view changes while it lives
		a.Settled(2)
		now := a.subscriber.view.id
		a.Detach(false)
		if now == view || now == "" {
			t.Errorf("the view is %q, was %q", now, view)
		}
		w.left("m", fleet.LastStream{Settled: 2, View: now})
		if p := w.attachNode(id, fleet.Node{ID: "m", Region: "us"}).LastStream(); p.Settled != 2 {
			t.Errorf("in the view that another server told of: %+v", p)
		}
		w.left("o", fleet.LastStream{Settled: 2, View: view})
		if p := w.attachNode(id, fleet.Node{ID: "o", Region: "us"}).LastStream(); p.Settled != 0 {
			t.Errorf("in another view than another server told of: %+v", p)
		}
		time.Sleep(time.Second)
		if got := w.sink.viewOf("n"); got != now {
			t.Errorf("the database was told the view %q, want %q", got, now)
		}
	})
}

// TestExceptionsOfViews: targets with exceptions are shared within a view, and an exception
// ends when the node comes to have another variant.
func TestExceptionsOfViews(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "1"), variant("d", "eu", "eu", "locality.region=eu", 0))
		eu, us := w.attachNode(id, in("eu")), w.attachNode(id, in("us"))
		us2 := w.attachNode(id, fleet.Node{ID: "us2", Region: "us"})
		for _, a := range []*attachment{eu, us, us2} {
			refuse(t, a, "c", nil)
		}
		wantClusters(t, eu, map[string]string{"c": "", "d": "eu"})
		wantClusters(t, us, map[string]string{"c": "", "d": "1"})
		if us.Current() != us2.Current() || us.Current() == eu.Current() {
			t.Error("who refuses the same does not share its view's target")
		}
		w.change(key, variant("c", "us", "good", "locality.region=us", 0))
		wantClusters(t, eu, map[string]string{"c": ""})
		wantClusters(t, us, map[string]string{"c": "good"})
		time.Sleep(time.Second)
		if rs := w.sink.allResolved(); len(rs) != 2 {
			t.Errorf("resolved %+v, want that of the two nodes", rs)
		}
		eu.Detach(true)
		w.left(eu.node.id, fleet.LastStream{Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 1, nil)}})
		back := w.attachNode(id, fleet.Node{ID: eu.node.id, Region: "us"})
		wantClusters(t, back, map[string]string{"c": "good", "d": "1"})
		time.Sleep(time.Second)
		if rs := w.sink.allResolved(); len(rs) != 3 {
			t.Errorf("resolved %+v, want that of the node with new labels too", rs)
		}
	})
}

// TestOneNodeIDWithTwoLabels: two clients that use one id have the views of their own labels.
func TestOneNodeIDWithTwoLabels(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"), variant("c", "eu", "eu", "locality.region=eu", 0))
		eu, us := w.attachNode(id, fleet.Node{ID: "n", Region: "eu"}), w.attachNode(id, fleet.Node{ID: "n", Region: "us"})
		wantClusters(t, eu, map[string]string{"c": "eu"})
		wantClusters(t, us, map[string]string{"c": "1"})
		eu.Settled(1)
		us.Settled(1)
		if p := w.attachNode(id, fleet.Node{ID: "n", Region: "eu"}).LastStream(); p.Settled != 0 {
			t.Errorf("beside a stream of another view: %+v", p)
		}
		refuse(t, eu, "c", nil)
		wantClusters(t, eu, map[string]string{"c": ""})
		wantClusters(t, us, map[string]string{"c": "1"})
	})
}

// TestAVariantThatCannotBeReadStays as it was.
func TestAVariantThatCannotBeReadStays(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), variant("c", "eu", "eu", "locality.region=eu", 0))
		s := secret("s", "eu", "sealed:eu")
		s.Variant, s.Selector = "eu", "locality.region=eu"
		w.change(key, s, secret("s", "1", "sealed:1"))
		a := w.attachNode(id, in("eu"))
		w.change(key, variant("c", "eu", "next", "of a newer grammar", 0))
		wantClusters(t, a, map[string]string{"c": "eu"})
		s.Version, s.Body, s.Selector = "next", []byte("garbage"), "locality.region=us"
		w.change(key, s)
		if got := version(a.Current(), fleet.Secret, "s"); got != "eu" {
			t.Errorf("the secret is %q, want the variant's last known good one", got)
		}
	})
}

// model is the fleet as the property test knows it: what it wrote.
type model struct {
	rows map[rowKey]fleet.Row
	at   fleet.Revision
}

// has is SEMANTICS 2.1, word by word.
func (m *model) has(n fleet.Node, name string) (best fleet.Row) {
	for k, row := range m.rows {
		if k.name != name || row.Deleted {
			continue
		}
		if k.variant != "" {
			s, err := selector.Parse(row.Selector)
			if err != nil {
				panic(err)
			}
			if !s.Match(n) {
				continue
			}
		}
		switch {
		case best.Name == "", best.Variant == "":
			best = row
		case row.Variant == "":
		case row.Priority > best.Priority, row.Priority == best.Priority && row.Variant < best.Variant:
			best = row
		}
	}
	return best
}

// step writes a few random changes as one revision.
func (m *model) step(w *world, key fleet.Key, r *rand.Rand) {
	regions := []string{"eu", "us", "asia"}
	texts := []string{"locality.region=" + regions[r.IntN(3)], "locality.region in (eu,us)", "node.id^=n1", "!metadata.canary", "metadata.canary", "node.cluster!=x"}
	var rows []fleet.Row
	for range 1 + r.IntN(3) {
		row := cluster(fmt.Sprint("c", r.IntN(5)), fmt.Sprint("v", r.IntN(6)))
		if r.IntN(4) > 0 {
			row.Variant, row.Selector, row.Priority = fmt.Sprint("v", r.IntN(3)), texts[r.IntN(len(texts))], int32(r.IntN(2)) //nolint:gosec // 0 or 1
		}
		if r.IntN(4) == 0 {
			row = fleet.Row{Type: row.Type, Name: row.Name, Variant: row.Variant, Deleted: true}
		}
		if slices.ContainsFunc(rows, func(x fleet.Row) bool { return x.Name == row.Name && x.Variant == row.Variant }) {
			continue
		}
		rows = append(rows, row)
		m.rows[rowKey{row.Type, row.Name, row.Variant}] = row
	}
	m.at = w.feed.write(key, rows...)
}

// TestViewsEqualBruteForce changes a fleet at random and compares what nodes have with what
// trying every selector gives; on a server that has followed, and on one that loads. What
// came to a node by a revision carries that one or a later one, and what is gone too.
func TestViewsEqualBruteForce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed sequence
		key, id, _ := w.newFleet(cluster("c0", "v0"))
		m := &model{rows: map[rowKey]fleet.Row{{fleet.Cluster, "c0", ""}: cluster("c0", "v0")}, at: 1}
		var nodes []fleet.Node
		for i := range 12 {
			n := fleet.Node{ID: fmt.Sprint("n", i), Region: []string{"eu", "us", "asia", ""}[i%4], Cluster: []string{"x", "y"}[i%2]}
			if i%3 == 0 {
				n.MetadataJSON = []byte(`{"canary": "yes"}`)
			}
			nodes = append(nodes, n)
		}
		c := &comparison{t: t, m: m, nodes: nodes, got: map[string]map[string]fleet.Revision{}, was: map[string]map[string]*snapshot.Resource{}}
		c.follow()
		live := map[string]*attachment{}
		for i := range 600 {
			for range 1 + r.IntN(2) {
				m.step(w, key, r)
				c.follow()
			}
			w.Wake(key.Fleet, false)
			synctest.Wait()
			n := nodes[r.IntN(len(nodes))]
			if a := live[n.ID]; a != nil && r.IntN(3) == 0 {
				a.Detach(true)
				delete(live, n.ID)
			} else if a == nil {
				live[n.ID] = w.attachNode(id, n)
			}
			c.compare(live, true)
			if i%40 == 0 {
				again := setupFeed(t, w.feed, w.feed)
				synctest.Wait()
				fresh := map[string]*attachment{}
				for _, n := range nodes {
					fresh[n.ID] = again.attachNode(id, n)
				}
				c.compare(fresh, false)
				again.stop()
			}
		}
	})
}

// comparison is what nodes are to have.
type comparison struct {
	t     *testing.T
	m     *model
	nodes []fleet.Node
	got   map[string]map[string]fleet.Revision     // by node and name: since when it is to have what it is to have
	has   map[string]map[string]string             // the version, "" for none
	was   map[string]map[string]*snapshot.Resource // what it had when it was looked at last
}

// follow notes what the newest revision brought to whom.
func (c *comparison) follow() {
	if c.has == nil {
		c.has = map[string]map[string]string{}
	}
	for _, n := range c.nodes {
		if c.has[n.ID] == nil {
			c.has[n.ID], c.got[n.ID] = map[string]string{}, map[string]fleet.Revision{}
		}
		for i := range 5 {
			name := fmt.Sprint("c", i)
			if v := c.m.has(n, name).Version; v != c.has[n.ID][name] {
				c.has[n.ID][name], c.got[n.ID][name] = v, c.m.at
			}
		}
	}
}

func (c *comparison) compare(live map[string]*attachment, following bool) {
	c.t.Helper()
	for _, n := range c.nodes {
		a := live[n.ID]
		if a == nil {
			delete(c.was, n.ID)
			continue
		}
		for name, want := range c.has[n.ID] {
			res, gone := a.Current().Types[fleet.Cluster].Get(name), a.Current().Gone[fleet.Cluster].Get(name)
			got := c.got[n.ID][name]
			switch {
			case version(a.Current(), fleet.Cluster, name) != want:
				c.t.Fatalf("revision %d: %s has %s at %q, want %q", c.m.at, n.ID, name, version(a.Current(), fleet.Cluster, name), want)
			case res != nil && (res.Revision < got || res.Revision > c.m.at):
				c.t.Fatalf("revision %d: %s has %s since %d, and it carries %d", c.m.at, n.ID, name, got, res.Revision)
			case res != nil && gone != nil:
				c.t.Fatalf("revision %d: %s has %s, and it is gone", c.m.at, n.ID, name)
			case res == nil && got > 0 && (gone == nil || gone.Revision < got || gone.Revision > c.m.at):
				c.t.Fatalf("revision %d: %s has lost %s at %d, its tombstone is %+v", c.m.at, n.ID, name, got, gone)
			}
			if following {
				c.order(n.ID, name, res)
			}
		}
	}
	c.shared(live)
}

// order checks that revisions are an order between what a node has one after the other.
func (c *comparison) order(node, name string, res *snapshot.Resource) {
	c.t.Helper()
	if c.was[node] == nil {
		c.was[node] = map[string]*snapshot.Resource{}
	}
	if old := c.was[node][name]; old != nil && res != nil && (res.Revision < old.Revision || res.Version != old.Version && res.Revision == old.Revision) {
		c.t.Fatalf("revision %d: %s had %s at %s of %d and now at %s of %d", c.m.at, node, name, old.Version, old.Revision, res.Version, res.Revision)
	}
	if res != nil {
		c.was[node][name] = res
	}
}

// shared checks that two nodes have one target if and only if all selectors decide alike.
func (c *comparison) shared(live map[string]*attachment) {
	c.t.Helper()
	byVector := map[string]*snapshot.Target{}
	seen := map[*snapshot.Target]string{}
	var texts []string
	for _, row := range c.m.rows {
		if row.Variant != "" && !row.Deleted {
			texts = append(texts, row.Selector)
		}
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	for _, n := range c.nodes {
		a := live[n.ID]
		if a == nil {
			continue
		}
		vector := ""
		for _, text := range texts {
			s, _ := selector.Parse(text)
			vector += fmt.Sprint(s.Match(n), " ")
		}
		target := a.Current()
		if t, ok := byVector[vector]; ok && t != target {
			c.t.Fatalf("revision %d: %s has a target of its own", c.m.at, n.ID)
		}
		if v, ok := seen[target]; ok && v != vector {
			c.t.Fatalf("revision %d: %s shares a target with nodes of another view", c.m.at, n.ID)
		}
		byVector[vector], seen[target] = target, vector
	}
}
