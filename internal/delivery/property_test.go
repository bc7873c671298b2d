package delivery

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	_ "fairlead/test/pinned" // the same histories each time
)

// step is one thing that happens.
type step struct {
	Kind  string
	Node  int
	Pick  int // a stream of the node, or a fault
	Delta int // revisions
	Wait  time.Duration
}

func genStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		return step{
			Kind: rapid.SampledFrom([]string{
				"connect", "connect", "settle", "settle", "settle", "withhold", "withhold", "release", "sent", "sent", "head", "head", "close", "refuse", "resolve", "fault", "cut", "clock",
			}).Draw(t, "kind"),
			Node:  rapid.IntRange(0, 4).Draw(t, "node"),
			Pick:  rapid.IntRange(0, 3).Draw(t, "pick"),
			Delta: rapid.IntRange(0, 3).Draw(t, "delta"),
			Wait: rapid.SampledFrom([]time.Duration{
				0, 0, time.Millisecond, 12 * time.Millisecond, 300 * time.Millisecond, 1100 * time.Millisecond, 8 * time.Second,
			}).Draw(t, "wait"),
		}
	})
}

// truth is what the nodes have really confirmed.
type truth struct {
	w    *world
	mu   sync.Mutex // held by a step while it acts; a report is checked between steps
	head fleet.Revision
	// streams of each node, the oldest first
	streams map[string][]*trueStream
	last    map[string]fleet.Revision // of nodes without streams
	refused map[eventKey]bool         // true: resolved
	// introduced is the revision that last brought a version that nodes refuse.
	introduced [4]fleet.Revision
	problems   []string
	parts      bool // reports are so small that not all is told at once
	cut        bool // the history was, and the server's settled revision of before it stands
}

type trueStream struct {
	*Stream
	settled  fleet.Revision
	withheld fleet.Waits
}

// withheld is what the node has not got, of what it has settled.
func (tr *truth) withheld(id string) (all []fleet.Revision) {
	for _, s := range tr.streams[id] {
		for _, h := range s.withheld.Withheld {
			all = append(all, h.Revision)
		}
	}
	return all
}

func (tr *truth) settled(id string) fleet.Revision {
	ss := tr.streams[id]
	if len(ss) == 0 {
		return tr.last[id]
	}
	least := ss[0].settled
	for _, s := range ss {
		least = min(least, s.settled)
	}
	return least
}

// late reports whether the node's row is of before: a part of what is to be told is told, and
// its row is in a later one. What it says is older than this part, and no fault of it.
func (tr *truth) late(id string, s fleet.Status, m *model) bool {
	if !tr.parts || slices.ContainsFunc(s.Nodes, func(n fleet.NodeStatus) bool { return n.Node == id }) {
		return false
	}
	f := tr.w.lock(tr.w.key)
	defer f.mu.Unlock()
	n := f.roster.nodes[id]
	return m.nodes[id].Settled != nil || n == nil || n.dirty || !n.acked || tr.cut && s.Partial // a row that failed is told again
}

func (tr *truth) check(s fleet.Status, m *model) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.cut = tr.cut && s.Partial
	for id := range m.nodes {
		if tr.late(id, s, m) {
			continue
		}
		if got, want := m.effective(id), tr.settled(id); got > want {
			tr.problems = append(tr.problems, fmt.Sprintf("%s is shown at %d and is at %d", id, got, want))
		}
		for _, rev := range tr.withheld(id) {
			if n := m.nodes[id]; rev <= m.effective(id) && !n.Waits.Withholds(rev) {
				tr.problems = append(tr.problems, fmt.Sprintf("%s is shown to have revision %d, which is withheld: %+v", id, rev, n))
			}
		}
	}
	for rev, d := range m.delivered {
		if d.Affected > d.Acked || d.Acked > 0 && d.FirstAck.IsZero() || d.LastAck.Before(d.FirstAck) {
			tr.problems = append(tr.problems, fmt.Sprintf("revision %d: %+v", rev, d))
		}
	}
}

func (tr *truth) do(s step) {
	id := fmt.Sprint("node-", s.Node)
	tr.mu.Lock()
	ss := tr.streams[id]
	switch {
	case s.Kind == "connect" && len(ss) < 3:
		tr.streams[id] = append(ss, &trueStream{Stream: tr.w.connect(id)})
	case s.Kind == "settle" && len(ss) > 0:
		x := ss[s.Pick%len(ss)]
		rev := tr.head - fleet.Revision(s.Delta)
		x.Settled(rev)
		x.settled = max(x.settled, rev)
	case s.Kind == "withhold" && len(ss) > 0:
		x := ss[s.Pick%len(ss)]
		if rev := tr.head - fleet.Revision(s.Delta); rev > x.settled && rev > 0 {
			x.withheld = x.withheld.With(of(rev))
			x.Waits(x.withheld)
			x.Settled(tr.head)
			x.settled = tr.head
		}
	case s.Kind == "release" && len(ss) > 0:
		x := ss[s.Pick%len(ss)]
		x.withheld = fleet.Waits{}
		x.Waits(x.withheld)
	case s.Kind == "sent" && len(ss) > 0:
		ss[s.Pick%len(ss)].Sent(tr.head-fleet.Revision(s.Delta), Planning{})
	case s.Kind == "head":
		tr.head += fleet.Revision(s.Delta)
		tr.w.Head(tr.w.key, mark(tr.head), time.Now())
	case s.Kind == "close" && len(ss) > 0:
		i := s.Pick % len(ss)
		ss[i].Close(true)
		tr.last[id] = tr.settled(id)
		if len(ss) > 1 { // the others' least counts, not the closed one's
			tr.streams[id] = append(append([]*trueStream(nil), ss[:i]...), ss[i+1:]...)
		} else {
			delete(tr.streams, id)
		}
	case s.Kind == "cut":
		if len(tr.refused) > 0 {
			break // what refusals mean after a cut is not the recorder's business
		}
		tr.cut = true
		tr.head = max(1, tr.head-fleet.Revision(s.Delta))
		tr.w.Restart(tr.w.key, mark(tr.head), time.Now())
		for id, ss := range tr.streams {
			for _, x := range ss {
				x.settled, x.withheld = 0, fleet.Waits{}
				x.Waits(x.withheld)
			}
			tr.last[id] = 0
		}
		clear(tr.last)
	case s.Kind == "fault":
		tr.w.sink.set(fault(s.Pick))
	case s.Kind == "clock":
		tr.w.SetClockOffset(time.Duration(s.Pick-1) * time.Minute)
	case s.Kind == "resolve":
		k := refusalOf(id, fleet.Cluster, fmt.Sprint(s.Pick), tr.introduced[s.Pick])
		if resolved, ok := tr.refused[k]; ok && !resolved {
			tr.refused[k] = true
			tr.head++ // brings another version
			tr.w.Head(tr.w.key, mark(tr.head), time.Now())
			tr.w.Resolved(tr.w.key, []fleet.Refusal{{Node: id, Type: k.Type, Name: k.Name, Version: "v", By: tr.head}})
		}
	}
	refuse := s.Kind == "refuse" && len(ss) > 0
	r := fleet.Refusal{Type: fleet.Cluster, Name: fmt.Sprint(s.Pick), Version: "v"}
	if refuse {
		k := refusalOf(id, r.Type, r.Name, tr.introduced[s.Pick])
		if tr.refused[k] { // it was resolved: a later revision has brought it back
			tr.head++
			tr.w.Head(tr.w.key, mark(tr.head), time.Now())
			tr.introduced[s.Pick] = tr.head
			k.revision = tr.head
		}
		r.Revision = k.revision
		tr.refused[k] = false
	}
	tr.mu.Unlock()
	if refuse { // waits for the record, so not with the mutex
		ss[0].Refused(context.Background(), []fleet.Refusal{r})
	}
	synctest.Wait()
	time.Sleep(s.Wait)
	synctest.Wait()
}

// atRest compares the model with the truth when all is told.
func (tr *truth) atRest() {
	m := tr.w.sink.model(tr.w.key)
	for id, ss := range tr.streams {
		n := m.nodes[id]
		if !n.Connected || n.Streams != len(ss) || m.effective(id) != tr.settled(id) {
			tr.problems = append(tr.problems, fmt.Sprintf("at rest %s is %+v at %d and should be at %d", id, n, m.effective(id), tr.settled(id)))
		}
	}
	for id := range tr.last {
		if n := m.nodes[id]; len(tr.streams[id]) == 0 && n.Connected {
			tr.problems = append(tr.problems, fmt.Sprintf("at rest %s is connected", id))
		}
	}
	for k, resolved := range tr.refused {
		if _, ok := m.refusals[k]; !ok {
			tr.problems = append(tr.problems, fmt.Sprintf("refusal %v is lost", k))
		}
		if _, ok := m.resolved[k]; ok != resolved {
			tr.problems = append(tr.problems, fmt.Sprintf("refusal %v: resolved %v", k, ok))
		}
	}
}

func TestNobodyIsEverShownAheadOfWhereItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(genStep(), 1, 60).Draw(rt, "steps")
		rows := rapid.SampledFrom([]int{1, 2, 3, reportRows}).Draw(rt, "rows of a report")
		var problems []string
		synctest.Test(t, func(t *testing.T) {
			w := setup(t)
			w.Recorder.rows = rows
			tr := &truth{
				w: w, head: 5, parts: rows < reportRows,
				streams: map[string][]*trueStream{}, last: map[string]fleet.Revision{}, refused: map[eventKey]bool{},
			}
			w.sink.check = tr.check
			w.Head(w.key, mark(tr.head), time.Now())
			for _, s := range steps {
				tr.do(s)
			}
			w.sink.set(healthy)
			time.Sleep(30 * time.Second)
			tr.atRest()
			problems = tr.problems
			w.stop()
		})
		if len(problems) > 0 {
			rt.Fatalf("%d problems, the first: %s", len(problems), problems[0])
		}
	})
}
