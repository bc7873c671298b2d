package delivery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// A revision that every node settles is one move: no node is looked at for it, and one that
// changed alone.
func TestAReportLooksAtWhatChanged(t *testing.T) {
	t.Parallel()
	const nodes = 1000
	f, ss := large(t, nodes)
	if rows := flushAll(f); rows != nodes || len(f.roster.checks.due) > 0 {
		t.Fatalf("%d rows, %d nodes are to be looked at still", rows, len(f.roster.checks.due))
	}
	f.rec.Head(f.key, mark(2), time.Now())
	for _, s := range ss {
		s.Settled(2)
	}
	if due := len(f.roster.checks.due); due > 0 {
		t.Errorf("%d nodes are to be looked at when all have settled", due)
	}
	if rows := flushAll(f); rows > 0 || f.progress.settled != 2 {
		t.Errorf("%d rows, the server has settled %d", rows, f.progress.settled)
	}
	for i := range 10 {
		ss[i].View("another")
	}
	if due := len(f.roster.checks.due); due != 10 {
		t.Errorf("%d nodes are to be looked at when 10 have changed", due)
	}
	if rows := flushAll(f); rows != 10 {
		t.Errorf("%d rows", rows)
	}
}

// When the server's settled revision moves, nodes that have settled between its last place and
// the next are looked at: in both directions, and nobody else.
func TestWhoIsPassedByTheServerIsLookedAt(t *testing.T) {
	t.Parallel()
	r := newRoster()
	for rev := range fleet.Revision(5) {
		n := newNode(fleet.Node{ID: fmt.Sprint(rev)})
		n.streams[&Stream{}], n.settled = struct{}{}, rev
		r.nodes[n.row.Node] = n
		r.levels.place(n)
	}
	for _, step := range []struct {
		server fleet.Revision
		want   []string
	}{
		{2, []string{"0", "1"}}, {2, nil}, {4, []string{"2", "3"}}, {4, nil}, {3, []string{"3"}}, {1, []string{"1", "2"}}, {1, nil},
	} {
		r.checks.move(step.server, r.levels)
		var got []string
		for n := range r.checks.due {
			got = append(got, n.row.Node)
			r.checks.done(n)
		}
		if slices.Sort(got); !slices.Equal(got, step.want) {
			t.Errorf("the server goes to %d: %v, not %v", step.server, got, step.want)
		}
	}
}

// Nodes come up in the order of their times, each once, and one that is forgotten never.
func TestTimers(t *testing.T) {
	t.Parallel()
	r, begun := newRoster(), time.Now()
	at := func(s int) time.Time { return begun.Add(time.Duration(s) * time.Second) }
	nodes := map[string]*node{}
	for i, id := range []string{"c", "a", "d", "b", "forgotten", "earlier", "later", "never"} {
		nodes[id] = newNode(fleet.Node{ID: id})
		r.nodes[id] = nodes[id]
		r.checks.timers.set(nodes[id], at([]int{30, 10, 40, 20, 5, 60, 5, 5}[i]))
	}
	r.remove(nodes["forgotten"])
	for id, s := range map[string]int{"earlier": 15, "later": 50} {
		r.checks.timers.set(nodes[id], at(s))
	}
	r.checks.timers.set(nodes["never"], time.Time{})
	var got []string
	for s := range 100 {
		if next := r.checks.timers.next(); s == 0 && !next.Equal(at(10)) {
			t.Errorf("the first is at %v", next)
		}
		r.checks.expire(at(s))
		for n := range r.checks.due {
			got = append(got, fmt.Sprint(s, n.row.Node))
			r.checks.done(n)
		}
	}
	if want := []string{"10a", "15earlier", "20b", "30c", "40d", "50later"}; !slices.Equal(got, want) || !r.checks.timers.next().IsZero() {
		t.Errorf("%v, not %v", got, want)
	}
}

// After a look at very many nodes the next one does not pass through the room that they took.
func TestTheRoomOfManyIsGivenUp(t *testing.T) {
	t.Parallel()
	c := newChecks()
	keep := newNode(fleet.Node{ID: "keep"})
	c.add(keep)
	was := c.due
	c.shrink(64)
	if was[nil] = struct{}{}; len(c.due) != 2 {
		t.Error("it was given up for a few")
	}
	delete(was, nil)
	c.shrink(10_000)
	if was[nil] = struct{}{}; len(c.due) != 1 {
		t.Error("it was not given up for many")
	}
	if _, ok := c.due[keep]; !ok {
		t.Error("who is due is lost")
	}
}
