package replica

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// TestT11_WhatAViewHeldIsBoundedInBytes: what is remembered of large resources that a fleet changes over and over is as little as is read of its history.
// What only gets another revision keeps no bytes of its own.
func TestT11_WhatAViewHeldIsBoundedInBytes(t *testing.T) {
	const mib = 1 << 20
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet()
		eu := w.attachNode(id, in("eu"))
		body := func(i int) string { return strings.Repeat(string(rune('a'+i)), mib) }
		for i := range 12 { // two MiB in each view, three in all
			all, there := secret("s", fmt.Sprint(i), "sealed:"+body(i)), secret("v", fmt.Sprint(i), "sealed:"+body(i))
			here := there
			here.Version, here.Variant, here.Selector = "eu"+there.Version, "eu", "locality.region=eu"
			w.change(key, all, there, here)
		}
		us := w.attachNode(id, in("us"))
		for i := range 12 {
			there := secret("v", fmt.Sprint("later", i), "sealed:"+body(i))
			w.change(key, there, secret("s", "11", "sealed:"+body(11)))
		}
		for _, a := range []*attachment{eu, us} {
			seen, bytes := map[*snapshot.Resource]bool{}, 0
			for _, e := range a.Current().Recent {
				for r := range e.Types[fleet.Secret].All() {
					if !seen[r] && r.Version != "11" && !snapshot.Same(r, a.Current().Types[fleet.Secret].Get(r.Name)) {
						seen[r] = true
						bytes += r.Size()
					}
				}
			}
			if n := len(a.Current().Recent); bytes > 16*mib || n < 12 {
				t.Errorf("%s: %d KiB are kept of %d revisions", a.node.id, bytes>>10, n)
			}
		}
	})
}

// TestTheRevisionBeforeIsKnown: however large it was, most clients come back from there.
func TestTheRevisionBeforeIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet()
		a := w.attach(id, "n")
		for i := range 3 {
			w.change(key, secret("s", fmt.Sprint(i), "sealed:"+strings.Repeat("x", 17<<20)))
		}
		if r := a.Current().Recent; len(r) != 1 || r[0].Types[fleet.Secret].Get("s").Version != "1" {
			t.Errorf("known are %d revisions", len(r))
		}
	})
}

// TestT11_WhatIsReadOfThePastIsBoundedInBytes: nodes that settled at other revisions each come back to a fleet whose resources are large.
func TestT11_WhatIsReadOfThePastIsBoundedInBytes(t *testing.T) {
	const mib = 1 << 20
	body := []byte(strings.Repeat("x", 25*mib)) // of all versions
	bubble(t, func(t *testing.T, w *world) {
		large := func(version string) fleet.Row {
			return fleet.Row{Type: fleet.Cluster, Name: "c", Version: version, Body: body}
		}
		key, id, _ := w.newFleet(large("1"))
		for i := range 4 {
			w.feed.write(key, large(fmt.Sprint(i+2)))
		}
		w.feed.write(key, cluster("c", "small"))
		for at := fleet.Revision(1); at <= 5; at++ {
			node := fmt.Sprint("n", at)
			w.left(node, fleet.LastStream{Settled: at})
			if a := w.resume(id, node); a.LastStream().Before == nil {
				t.Errorf("it is not known what %s had", node)
			}
			time.Sleep(time.Millisecond)
		}
		es := &w.fleets[key].earlier
		es.mu.Lock()
		defer es.mu.Unlock()
		bytes := 0
		for _, e := range es.kept {
			bytes += e.content.plain[fleet.Cluster].Get("c").Size()
		}
		if len(es.kept) != 2 || es.kept[5] == nil || es.kept[4] == nil {
			t.Errorf("%d KiB of %d revisions are kept, want the two read last", bytes>>10, len(es.kept))
		}
	})
}

// TestT11_WhatAFleetHeldLatelyIsBoundedInBytes: views that began at other revisions each have the changes up to there read.
func TestT11_WhatAFleetHeldLatelyIsBoundedInBytes(t *testing.T) {
	es := new(earlierContents)
	for at := range fleet.Revision(5) {
		cs := &changes{upTo: at, base: &content{own: 20 << 20}, used: time.Now()}
		for range 2 {
			cs.steps = append(cs.steps, difference{next: &content{own: 5 << 20}})
		}
		es.keepChanges(cs)
	}
	if len(es.lately) != 2 || es.lately[4] == nil {
		t.Errorf("%d are kept of 30 MiB each", len(es.lately))
	}
	es.keepChanges(&changes{upTo: 9, base: &content{own: 1 << 30}})
	if len(es.lately) != 1 || es.lately[9] == nil {
		t.Errorf("%d are kept beside one that is larger than all", len(es.lately))
	}
}
