package replica

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// A server that jumps over the revision that mended a refused version, to one that brings it
// back, does not offer it again: it tells the refusal anew, of the revision that brought it back.
func TestAVersionThatComesBackInAJumpIsRefusedAnew(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		a, away, b := w.attach(id, "a"), w.attach(id, "away"), w.attach(id, "b")
		good := a.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("c", "bad"))
		refuse(t, a, "c", good)
		refuse(t, away, "c", good)
		away.Detach(true)
		time.Sleep(time.Second)
		w.feed.write(key, cluster("c", "mended")) // no bell: nobody looks
		w.change(key, cluster("c", "bad"))
		if now := a.Current(); now.Revision != 4 || version(now, fleet.Cluster, "c") != "1" {
			t.Errorf("the node has %s at %d", version(now, fleet.Cluster, "c"), now.Revision)
		}
		if r := b.Current().Types[fleet.Cluster].Get("c"); r.Revision != 4 {
			t.Errorf("what came back is of revision %d: whoever refuses it now is told to have refused that one", r.Revision)
		}
		time.Sleep(time.Second)
		for _, node := range []string{"a", "away"} {
			rs := w.sink.refusalsOf(node)
			if len(rs) != 2 {
				t.Errorf("%s: told %+v", node, rs)
				continue
			}
			want := fleet.Refusal{Node: node, Type: fleet.Cluster, Name: "c", Version: "bad", Revision: 4, Offer: refusal.FirstOffer(4), Again: 2, Action: fleet.ActionKept, Good: "1", At: rs[1].At}
			if rs[1] != want || !rs[1].At.After(rs[0].At) {
				t.Errorf("%s: told anew %+v after %+v", node, rs[1], rs[0])
			}
		}
		if len(w.sink.allResolved()) != 0 {
			t.Errorf("resolved %+v", w.sink.allResolved())
		}
		w.change(key, cluster("d", "2")) // the same content is no reason to tell it
		time.Sleep(time.Second)
		if n := len(w.sink.allRefusals()); n != 4 {
			t.Errorf("%d refusals are told", n)
		}
	})
}

// Of a frozen type too.
func TestAVersionThatComesBackOfAFrozenTypeIsRefusedAnew(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var rows []fleet.Row
		for i := range maxExceptions + 1 {
			rows = append(rows, cluster(string(rune('A'+i)), "bad"))
		}
		key, id, _ := w.newFleet(rows...)
		a := w.attach(id, "a")
		for _, r := range rows {
			refuse(t, a, r.Name, nil)
		}
		last := rows[maxExceptions].Name
		w.feed.write(key, cluster(last, "mended"))
		back := w.change(key, cluster(last, "bad"))
		time.Sleep(time.Second)
		rs := w.sink.refusalsOf("a")
		if r := rs[len(rs)-1]; r.Name != last || r.Revision != back || r.Again == 0 || r.Action != fleet.ActionFrozen {
			t.Errorf("told %+v", r)
		}
	})
}
