package planner_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// TestHalvesFindTheCulprit: a client that names nobody is asked at most 2 + 2 log2(n)
// times about one poison among n (SEMANTICS 3.5), and every poison is found, alone.
func TestHalvesFindTheCulprit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 64).Draw(t, "n")
		bad := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, 3, rapid.ID).Draw(t, "bad")
		known := rapid.Bool().Draw(t, "known")
		delta := rapid.Bool().Draw(t, "delta")
		typ := rapid.SampledFrom([]fleet.Type{fleet.Listener, fleet.Cluster, fleet.Route}).Draw(t, "type")
		p := newPoisoned(t, delta, typ, n, bad)
		if typ == fleet.Route && rapid.Bool().Draw(t, "names a cluster that it refuses") {
			p.except = []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("refused", "1")}}
		}
		if known { // all had a version before
			p.offer(1, "")
			p.rest()
		}
		asked := p.offer(2, "!")
		asked += p.rest()
		if most := 2 + 2*math.Log2(float64(n)); len(bad) == 1 && float64(asked-1) > most {
			t.Fatalf("%d responses after the first to find one of %d, want at most %.1f", asked-1, n, most)
		}
		slices.Sort(bad)
		if got := p.found; !slices.Equal(got, bad) {
			t.Fatalf("found %v, want %v", got, bad)
		}
		if got := p.s.Settled(); got != 2 {
			t.Fatalf("settled %d, want 2", got)
		}
	})
}

// poisoned is a client that refuses some of its resources and names none.
type poisoned struct {
	t      *rapid.T
	s      client
	typ    fleet.Type
	n      int
	bad    []int
	snap   *snapshot.Snapshot
	except []snapshot.Exception
	found  []int
	sent   int
	seen   map[string]bool
}

func newPoisoned(t *rapid.T, delta bool, typ fleet.Type, n int, bad []int) *poisoned {
	p := &poisoned{t: t, typ: typ, n: n, bad: bad, snap: &snapshot.Snapshot{}, seen: map[string]bool{}, s: client{t: t, Delta: delta, Envoy: true}}
	r := request{Type: typ}
	if typ == fleet.Route {
		for i := range n {
			r.Names = append(r.Names, fmt.Sprint(i))
		}
	}
	p.s.Subscribe(r, snapshot.NewTarget(p.snap, nil))
	return p
}

// offer makes a revision in which the poison is marked; it returns how many responses it took.
func (p *poisoned) offer(rev fleet.Revision, mark string) int {
	p.snap = &snapshot.Snapshot{Revision: rev}
	for i := range p.n {
		v := fmt.Sprint(rev)
		if slices.Contains(p.bad, i) {
			v += mark
		}
		r := fleet.Row{Name: fmt.Sprint(i), Version: v, Revision: rev}
		for _, e := range p.except {
			r.Derived.Refs = append(r.Derived.Refs, e.Ref())
		}
		p.snap.Types[p.typ] = p.snap.Types[p.typ].With(snapshot.NewResource(p.typ, r, nil))
	}
	for _, e := range p.except {
		p.snap.Types[e.Type] = p.snap.Types[e.Type].With(snapshot.NewResource(e.Type, fleet.Row{Name: e.Refused.Name, Version: e.Refused.Version, Revision: 1}, nil))
	}
	return 0
}

// rest answers until nothing comes any more.
func (p *poisoned) rest() (responses int) {
	for {
		r := p.s.Next(snapshot.NewTarget(p.snap, p.except))
		if p.judge() {
			continue
		}
		if r == nil {
			return responses
		}
		responses++
		p.sent++
		p.s.Sent(r, fmt.Sprint(p.sent))
		if slices.ContainsFunc(r.Resources, func(x *snapshot.Resource) bool { return strings.HasSuffix(x.Version, "!") }) {
			if p.seen[describe(r)] {
				p.t.Fatalf("sent again: %s", describe(r))
			}
			p.seen[describe(r)] = true
			p.s.Refuse(r.Type, r.Nonce, "no luck")
		} else {
			p.s.Acknowledge(r.Type, r.Nonce)
		}
		p.judge()
	}
}

func (p *poisoned) judge() bool {
	vs := p.s.Verdicts()
	for _, v := range vs {
		for _, b := range v.Blame {
			var i int
			if _, err := fmt.Sscan(b.Refused.Name, &i); err != nil {
				p.t.Fatal(err)
			}
			p.found = append(p.found, i)
			p.except = append(p.except, snapshot.Exception{Type: v.Type, Refused: b.Refused, Good: b.Good})
		}
	}
	slices.Sort(p.found)
	return len(vs) > 0
}

// TestARefusalThatIsExplainedBlamesNobodyElse: an Envoy answers late for all that it held back.
// Its words for one response name the culprit, those for the next one, which had that as well,
// name nobody.
func TestARefusalThatIsExplainedBlamesNobodyElse(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters d@1; listeners l@1")
	more := &snapshot.Snapshot{Revision: 2, Types: before.Types}
	more.Types[fleet.Cluster] = more.Types[fleet.Cluster].With(edsCluster("b", "1", 2))
	one, two := snapshot.NewTarget(before, nil), snapshot.NewTarget(more, nil)
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Listener}, one)
	alone, listeners := s.send(one), s.send(one)
	s.at(20 * time.Second)
	both := s.send(two)
	if both == nil || describe(both) != "clusters b@1 d@1" {
		t.Fatalf("sent %v", both)
	}
	s.at(23 * time.Second)
	s.c.Acknowledge(fleet.Listener, listeners.Nonce) // it is not that it answers nothing at all
	back := s.send(two)
	if back == nil || describe(back) != "clusters -b -d" {
		t.Fatalf("sent %v", back)
	}
	s.c.Refuse(fleet.Cluster, alone.Nonce, says(fleet.Cluster, "d"))
	s.c.Refuse(fleet.Cluster, both.Nonce, "this does not look right")
	s.c.Acknowledge(fleet.Cluster, back.Nonce)
	for _, v := range s.c.Verdicts() {
		for _, b := range v.Blame {
			if b.Refused.Name != "d" {
				t.Errorf("%s is blamed: %s", b.Refused.Name, v.Detail)
			}
		}
	}
	two = two.Except([]snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("d", "1")}})
	s.step(two, "clusters b@1", "")
	s.step(two, "nothing", "")
	if vs := s.c.Verdicts(); len(vs) > 0 || s.c.Settled() != 2 {
		t.Errorf("settled at %d; found out: %+v", s.c.Settled(), vs)
	}
}

// BenchmarkBisection: a client refuses one of many new routes, and names none. Its cost is in the order of what goes out: the half, the
// quarter, and so on.
func BenchmarkBisection(b *testing.B) {
	for _, n := range []int{1_000, 4_000, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var rows []fleet.Row
			names := manyNames(n)
			for i, name := range names {
				rows = append(rows, row(name, map[bool]string{true: "1!", false: "1"}[i == n/3]))
			}
			target := fleetAt(1, 10, map[fleet.Type][]fleet.Row{fleet.Route: rows})
			for b.Loop() {
				c := planner.New(planner.DefaultMemo).Client(fleet.Key{}, planner.Kind{Delta: true}, planner.Origin{}, false, start)
				c.Request(start, planner.Request{Type: fleet.Route, Names: planner.NamesOf(names...)}, target)
				found, sent := 0, 0
				for found == 0 {
					out := c.Step(start, target)
					if found = len(out.Verdicts); found > 0 {
						break
					}
					if out.Response == nil {
						b.Fatalf("nothing is found after %d responses", sent)
					}
					sent++
					c.Sent(start, out.Response, fmt.Sprint(sent))
					if slices.ContainsFunc(out.Response.Resources, func(r *snapshot.Resource) bool { return strings.HasSuffix(r.Version, "!") }) {
						f, _ := c.Nack(start, fleet.Route, fmt.Sprint(sent), "no luck")
						found = len(f.Verdicts)
					} else {
						c.Ack(start, fleet.Route, fmt.Sprint(sent), "")
					}
				}
			}
		})
	}
}

// TestNamesGivenUpAndTakenUpAgain: who gives up what it refused, and takes it up, is found out each time, and never left without an answer.
func TestNamesGivenUpAndTakenUpAgain(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		target := world(t, 1, "endpoints a@1 b@1")
		s := &script{t: t, c: client{t: t, Delta: delta, Now: start}}
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b"}}, target)
		s.step(target, "endpoints a@1 b@1", "no")
		for i := range 3 {
			if delta {
				s.c.Subscribe(request{Type: fleet.Endpoint, Dropped: []string{"a", "b"}}, target)
			} else {
				s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"x"}, Version: "1"}, target)
			}
			s.steps(target)
			s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b"}, Version: "1"}, target)
			r := s.send(target)
			if r == nil {
				t.Fatalf("delta %v, time %d: nothing is sent", delta, i)
			}
			s.c.Acknowledge(r.Type, r.Nonce)
		}
	}
}

// TestAnExceptionThatEndsAgain: each time somebody is blamed anew for a content that is not sent twice.
func TestAnExceptionThatEndsAgain(t *testing.T) {
	t.Parallel()
	snap := first(t, "clusters a@1 b@1")
	plain := snapshot.NewTarget(snap, nil)
	excepted := snapshot.NewTarget(snap, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("b", "1")}})
	s := &script{t: t, c: client{t: t, Delta: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, plain)
	s.step(plain, "clusters a@1 b@1", says(fleet.Cluster, "b"))
	s.c.Verdicts()
	for i := range 4 {
		s.steps(excepted)
		for r := s.send(plain); r != nil; r = s.send(plain) {
			if slices.ContainsFunc(r.Resources, func(x *snapshot.Resource) bool { return x.Name == "b" }) {
				s.c.Refuse(r.Type, r.Nonce, says(fleet.Cluster, "b"))
				break
			}
			s.c.Acknowledge(r.Type, r.Nonce)
		}
		if len(s.c.Verdicts()) == 0 {
			t.Fatalf("time %d: nobody is blamed", i)
		}
	}
}
