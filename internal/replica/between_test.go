package replica

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// TestWhatAFleetHeldBeforeTheServerCame: a client in state of the world that another server gave some revision after the one that it settled at is told
// apart by what the fleet held then. It is read once, and not for those whose settled revision this server has seen the changes since.
func TestWhatAFleetHeldBeforeTheServerCame(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("same", "1"))
		w.feed.write(key, cluster("b", "2"), row(fleet.Route, "r", "2"))
		w.feed.write(key, deleted(fleet.Cluster, "b"), row(fleet.Route, "r", "3"))
		w.feed.write(key, cluster("c", "4"))
		w.left("n", fleet.LastStream{Settled: 1})
		come := func(node string, s xds.StreamInfo) *snapshot.Snapshot {
			a, err := w.Attach(t.Context(), id, fleet.Node{ID: node}, s)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Detach(false)
			return a.LastStream().Between
		}
		sotw := xds.StreamInfo{Protocol: "SotW ADS", Resumed: true}
		between := come("n", sotw)
		if between == nil || between.Revision != 4 || len(between.Recent) != 3 {
			t.Fatalf("the fleet held %+v", between)
		}
		for _, e := range between.Recent {
			if had := e.Types[fleet.Cluster].Get("b") != nil; had != (e.At == 2) {
				t.Errorf("at %d it had b: %v", e.At, had)
			}
		}
		asked := w.feed.readAt
		if again := come("n", sotw); again != between || w.feed.readAt != asked {
			t.Errorf("the next one was told %p, want %p; the database was asked %d times more", again, between, w.feed.readAt-asked)
		}
		w.change(key, cluster("c", "5"))                                           // which this server sees as it comes
		if again := come("n", sotw); again != between || w.feed.readAt > asked+1 { // once for what it held
			t.Errorf("after a change it is told %p, want %p", again, between)
		}
		if come("n", xds.StreamInfo{Protocol: "delta ADS", Resumed: true, Delta: true}) != nil {
			t.Error("a client in delta reports what it holds")
		}
		if come("n", xds.StreamInfo{Protocol: "SotW ADS"}) != nil {
			t.Error("a client that comes with nothing holds nothing")
		}
		w.left("later", fleet.LastStream{Settled: 4})
		if come("later", sotw) != nil {
			t.Error("all that came after revision 4 was seen")
		}
		w.left("clean", fleet.LastStream{Settled: 1, Clean: true})
		if come("clean", sotw) != between {
			t.Error("who settled and left clean may have been given more since, by a server that could not say so")
		}
		if come("new", sotw) != between {
			t.Error("of whom nothing is known may have been given anything")
		}
	})
}

// TestT11_WhatAFleetHeldIsReadOnceForItsViews: those of other labels may have come to the server at other revisions, and nodes of all of them come back in turn.
func TestT11_WhatAFleetHeldIsReadOnceForItsViews(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("same", "1"))
		w.feed.write(key, cluster("b", "2"))
		zones := []string{"a", "b", "c"}
		for _, zone := range zones {
			v := cluster("same", "of "+zone)
			v.Variant, v.Selector = zone, "locality.zone="+zone
			w.feed.write(key, v)
		}
		for i, zone := range zones {
			w.left("n"+zone, fleet.LastStream{Settled: 1})
			w.left("stays"+zone, fleet.LastStream{})
			if i > 0 {
				w.change(key, cluster("b", "later "+zone))
			}
			a, err := w.Attach(t.Context(), id, fleet.Node{ID: "stays" + zone, Zone: zone}, xds.StreamInfo{Protocol: "SotW ADS"})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Detach(false)
		}
		since := map[fleet.Revision]bool{}
		come := func(zone string) {
			a, err := w.Attach(t.Context(), id, fleet.Node{ID: "n" + zone, Zone: zone}, xds.StreamInfo{Protocol: "SotW ADS", Resumed: true})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Detach(false)
			if between := a.LastStream().Between; between != nil {
				since[between.Revision] = true
			}
		}
		for _, zone := range zones {
			come(zone)
		}
		asked := w.feed.readAt
		for _, zone := range zones {
			come(zone)
		}
		if len(since) != len(zones) || w.feed.readAt != asked {
			t.Errorf("of what was held at %v the database was asked %d times again", since, w.feed.readAt-asked)
		}
	})
}

// TestRevisionsThatWerePassedOverAreRead: a server that reads several revisions at once has not seen what the fleet held in between.
func TestRevisionsThatWerePassedOverAreRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("same", "1"))
		w.attach(id, "other")
		w.feed.write(key, cluster("b", "2"))
		w.change(key, deleted(fleet.Cluster, "b"))
		w.left("n", fleet.LastStream{Settled: 1})
		a, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{Protocol: "SotW ADS", Resumed: true})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Detach(false)
		between := a.LastStream().Between
		if between == nil || between.Recent[0].Types[fleet.Cluster].Get("b") == nil {
			t.Errorf("it is told of %+v, and not of b", between)
		}
	})
}

func row(t fleet.Type, name, version string) fleet.Row {
	return fleet.Row{Type: t, Name: name, Version: version, Body: []byte(version)}
}

// TestWhatAFleetHeldIsOfTheNodesOwnView: variants, their selectors and priorities come and go. Each node is told of what one with its labels had, whoever was told of
// another view before.
func TestWhatAFleetHeldIsOfTheNodesOwnView(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rnd := rand.New(rand.NewPCG(51, 1))
		key, id, _ := w.newFleet(cluster("same", "1"))
		selectors := []string{"locality.region=eu", "locality.region=us", "locality.zone=a", "locality.zone=b"}
		for rev := range 40 {
			var rows []fleet.Row
			for range 1 + rnd.IntN(3) {
				x := cluster(string(rune('a'+rnd.IntN(4))), fmt.Sprint(rev, rnd.IntN(2)))
				if rnd.IntN(4) > 0 {
					x.Variant, x.Selector, x.Priority = string(rune('v'+rnd.IntN(3))), selectors[rnd.IntN(len(selectors))], int32(rnd.IntN(3))
				}
				x.Deleted = rnd.IntN(3) == 0
				rows = append(rows, x)
			}
			w.feed.write(key, rows...)
		}
		var told int
		for _, region := range []string{"", "eu", "us", "eu"} {
			for _, zone := range []string{"b", "", "a"} {
				n := fleet.Node{ID: "n" + region + zone, Region: region, Zone: zone}
				a, err := w.Attach(t.Context(), id, n, xds.StreamInfo{Protocol: "SotW ADS", Resumed: true})
				if err != nil {
					t.Fatal(err)
				}
				between := a.LastStream().Between
				for _, e := range between.Recent {
					told++
					rows := slices.Collect(maps.Values(w.feed.fleets[key].states[e.At].rows))
					c := a.(*attachment).owner.builder.derive(nil, fleet.Change{At: fleet.Position{Revision: e.At}, Rows: rows, Reload: true}, false).next
					if want := newView(c, c.index.Match(selector.LabelsOf(n))).snap.Types[fleet.Cluster]; !want.Equal(e.Types[fleet.Cluster]) {
						t.Errorf("of %q in %q it is told of other clusters at %d than it had", zone, region, e.At)
					}
				}
				a.Detach(false)
			}
		}
		if told < 12*30 {
			t.Errorf("%d states are told of", told)
		}
	})
}
