package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// follower is a client of a history, on a stream that is planned for with a memo that others
// share, without one and, while it refuses nothing, by the naive.
type follower struct {
	name        string
	delta, odd  bool
	envoy       bool
	memo, plain *planner.Client
	naive       *naive
	asked       [fleet.NumTypes]map[string]bool
	dropped     [fleet.NumTypes]map[string]bool // while something was in flight
	held        [fleet.NumTypes]map[string]string
	version     [fleet.NumTypes]string
	settled     fleet.Revision
	inbox       []*planner.Response
	sent        int
	nonces      []string
	open        [fleet.NumTypes]bool
}

// history plays random events on clients of one fleet.
type history struct {
	*rapid.T
	pl, bare *planner.Planner
	at       *snapshot.Snapshot
	target   *snapshot.Target
	world    *sets
	all      []*follower
	before   map[fleet.Revision]*snapshot.Snapshot
}

var wilds = []fleet.Type{fleet.Cluster, fleet.Listener}

func newHistory(t *rapid.T) *history {
	h := &history{T: t, pl: planner.New(64 << 20), bare: planner.New(0), at: &snapshot.Snapshot{Revision: 1}, world: &sets{}, before: map[fleet.Revision]*snapshot.Snapshot{}}
	h.target = snapshot.NewTarget(h.at, nil)
	for i := range 14 {
		f := &follower{name: fmt.Sprint("f", i), delta: i < 8, odd: i >= 5, envoy: i >= 5 && i < 8 || i >= 11}
		h.all = append(h.all, f)
		for typ := range f.held {
			f.held[typ], f.asked[typ] = map[string]string{}, map[string]bool{}
		}
	}
	for range 3 {
		h.change()
	}
	for _, f := range h.all {
		h.connect(f, planner.Origin{})
	}
	return h
}

// pick is one of n names.
func (h *history) pick(prefix string, n int) string {
	return prefix + strconv.Itoa(rapid.IntRange(0, n-1).Draw(h.T, prefix))
}

// change writes one to three things.
func (h *history) change() {
	next := &snapshot.Snapshot{Revision: h.at.Revision + 1, Types: h.at.Types, Gone: h.at.Gone}
	next.Follow(h.at, snapshot.Change{Resources: 3})
	for range rapid.IntRange(1, 3).Draw(h.T, "changes") {
		typ := rapid.SampledFrom([]fleet.Type{fleet.Cluster, fleet.Cluster, fleet.Endpoint, fleet.Route, fleet.Listener}).Draw(h.T, "type")
		row := fleet.Row{Version: strconv.Itoa(rapid.IntRange(1, 3).Draw(h.T, "version")), Revision: next.Revision}
		switch typ {
		case fleet.Cluster, fleet.Endpoint:
			if row.Name = h.pick("c", 3); typ == fleet.Cluster {
				row.Derived.EDSName = row.Name
				row.Derived.ByName = rapid.IntRange(0, 2).Draw(h.T, "delivery") == 0
			}
		case fleet.Route:
			row.Name = h.pick("r", 2)
			to := h.pick("c", 3)
			row.Version += to
			row.Derived.Refs = []fleet.Ref{{Type: fleet.Cluster, Name: to}}
		default:
			row.Name = h.pick("l", 2)
			to := h.pick("r", 2)
			row.Version += to
			row.Derived.Refs = []fleet.Ref{{Type: fleet.Route, Name: to}}
		}
		old := next.Types[typ].Get(row.Name)
		if rapid.IntRange(0, 4).Draw(h.T, "delete") == 0 {
			if next.Types[typ] = next.Types[typ].Without(row.Name); old != nil {
				next.Gone[typ] = next.Gone[typ].Without(row.Name).With(snapshot.Tombstone(row.Name, next.Revision))
			}
			continue
		}
		if old == nil || old.Version != row.Version || old.ByName != row.Derived.ByName {
			next.Types[typ] = next.Types[typ].With(snapshot.NewResource(typ, row, []byte(row.Version)))
			next.Gone[typ] = next.Gone[typ].Without(row.Name)
		}
	}
	h.before[next.Revision] = next
	h.at, h.target, h.world = next, snapshot.NewTarget(next, nil), &sets{}
	for typ := range h.world {
		h.world[typ] = map[string]*snapshot.Resource{}
		for r := range next.Types[typ].All() {
			h.world[typ][r.Name] = r
		}
	}
}

// ending is how a stream ends.
type ending struct {
	told bool // the next one knows how
	died bool // with its server: it counts as unclean, however it was
	anew bool // with its process: that holds nothing then
	read bool // what the client had when it settled is known
}

func (h *history) drawEnding() ending {
	draw := func(label string) bool { return rapid.Bool().Draw(h.T, label) }
	return ending{told: draw("told"), died: draw("died"), anew: draw("anew"), read: draw("read")}
}

// reconnect ends a stream, and opens the next one.
func (h *history) reconnect(f *follower, e ending) {
	var o planner.Origin
	if e.told {
		if o.Past = (planner.Past{Unclean: e.died || !f.memo.Clean(), Settled: f.settled}); e.read {
			o.Before = h.before[f.settled]
		}
	}
	if e.anew {
		for typ := range f.held {
			clear(f.held[typ])
			f.version[typ] = ""
		}
	}
	h.connect(f, o)
}

// connect opens a stream, and has the client say all that it holds.
func (h *history) connect(f *follower, o planner.Origin) {
	k := planner.Kind{Delta: f.delta, Envoy: f.envoy}
	f.memo = h.pl.Client(fleet.Key{}, k, o, false, start)
	f.plain = h.bare.Client(fleet.Key{}, k, o, false, start)
	if f.naive = nil; f.delta && !f.odd && !o.Past.Unclean {
		f.naive = &naive{}
	}
	f.inbox, f.nonces, f.open, f.dropped = nil, nil, [fleet.NumTypes]bool{}, [fleet.NumTypes]map[string]bool{}
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Endpoint, fleet.Route} {
		maps.DeleteFunc(f.held[typ], func(name, _ string) bool { return !slices.Contains(wilds, typ) && !f.asked[typ][name] })
		h.ask(f, typ, slices.Sorted(maps.Keys(f.asked[typ])), nil, true)
	}
}

func (h *history) ask(f *follower, typ fleet.Type, add, drop []string, first bool) {
	wild := slices.Contains(wilds, typ)
	for _, name := range drop {
		delete(f.asked[typ], name)
		if wild {
			continue // it is told what becomes of it
		}
		delete(f.held[typ], name)
		if f.open[typ] {
			f.dropped[typ][name] = true
		}
	}
	for _, name := range add {
		f.asked[typ][name] = true
		if f.dropped[typ][name] {
			f.naive = nil // it may have it or not
		}
	}
	r := planner.Request{Type: typ, Names: planner.NamesOf(add...), Dropped: planner.NamesOf(drop...)}
	switch {
	case !f.delta:
		r.Names, r.Dropped = planner.NamesOf(slices.Sorted(maps.Keys(f.asked[typ]))...), planner.Names{}
		if first {
			r.Version = f.version[typ]
		}
	case first:
		r.Versions = planner.VersionsOf(f.held[typ])
	}
	r.Star = wild && r.Names.N > 0 && (first || !f.delta)
	if !wild && first && len(f.asked[typ]) == 0 {
		return
	}
	f.memo.Request(start, r, h.target)
	f.plain.Request(start, r, h.target)
	if f.naive != nil {
		versions := map[string]string{}
		if f.naive.world = h.world; first {
			versions = f.held[typ]
		}
		if !f.naive.ask(typ, wild, add, drop, versions) {
			f.naive = nil
		}
	}
}

// settle has all that there is sent to a client, and compares.
func (h *history) settle(f *follower) {
	for {
		out, plain := f.memo.Step(start, h.target), f.plain.Step(start, h.target)
		f.settled = max(f.settled, f.memo.Settled())
		if f.naive != nil {
			f.naive.world = h.world
			if a := f.naive.step(); !a.same(out.Response) {
				h.Fatalf("%s is sent %s, and by the naive %v", f.name, told(out.Response), a)
			} else if a != nil {
				f.naive.send(a)
			}
		}
		if told(out.Response) != told(plain.Response) || f.memo.Settled() != f.plain.Settled() {
			h.Fatalf("%s is sent %s and settles at %d, without a memo %s and %d", f.name, told(out.Response), f.memo.Settled(), told(plain.Response), f.plain.Settled())
		}
		if len(out.Verdicts) != len(plain.Verdicts) || out.Response == nil && len(out.Verdicts) == 0 {
			return
		}
		if out.Response == nil {
			continue
		}
		if string(out.Response.Body()) != string(plain.Response.Body()) {
			h.Fatalf("%s: the bytes differ of %s", f.name, told(out.Response))
		}
		f.sent++
		nonce := strconv.Itoa(f.sent)
		f.memo.Sent(start, out.Response, nonce)
		f.plain.Sent(start, plain.Response, nonce)
		f.inbox, f.nonces = append(f.inbox, out.Response), append(f.nonces, nonce)
		f.open[out.Response.Type], f.dropped[out.Response.Type] = true, map[string]bool{}
	}
}

func told(r *planner.Response) string {
	if r == nil {
		return "nothing"
	}
	return describe(&response{Response: r})
}

// answer has a client answer one response.
func (h *history) answer(f *follower) {
	if len(f.inbox) == 0 {
		return
	}
	h.answerAt(f, rapid.IntRange(0, len(f.inbox)-1).Draw(h.T, "which"))
}

func (h *history) answerAt(f *follower, i int) {
	r, nonce := f.inbox[i], f.nonces[i]
	f.inbox, f.nonces = slices.Delete(f.inbox, i, i+1), slices.Delete(f.nonces, i, i+1)
	f.open[r.Type] = false
	if (f.odd || !f.delta) && len(r.Resources) > 0 && rapid.IntRange(0, 3).Draw(h.T, "nack") == 0 {
		words := rapid.SampledFrom([]string{"no", says(r.Type, r.Resources[0].Name)}).Draw(h.T, "words")
		f.memo.Nack(start, r.Type, nonce, words)
		f.plain.Nack(start, r.Type, nonce, words)
		return
	}
	if f.version[r.Type] = r.Version.String(); f.delta {
		for _, x := range r.Resources {
			f.held[r.Type][x.Name] = x.Version
		}
		for _, name := range r.Removed {
			delete(f.held[r.Type], name)
		}
	}
	f.memo.Ack(start, r.Type, nonce, "")
	f.plain.Ack(start, r.Type, nonce, "")
	if f.naive != nil {
		f.naive.ack(r.Type)
	}
}

// some is a name that a client may ask for.
func (h *history) some() (fleet.Type, string) {
	switch rapid.IntRange(0, 2).Draw(h.T, "some") {
	case 0:
		return fleet.Route, h.pick("r", 2)
	case 1:
		return fleet.Cluster, h.pick("c", 3)
	}
	return fleet.Endpoint, h.pick("c", 3)
}

// turn asks for a name, or gives it up.
func (h *history) turn(f *follower, typ fleet.Type, name string) {
	first := !f.memo.Subscribed(typ)
	if !f.asked[typ][name] {
		h.ask(f, typ, []string{name}, nil, first)
	} else if !first {
		h.ask(f, typ, nil, []string{name}, false)
	}
}

// everybody does the same.
func (h *history) everybody() {
	typ, name := h.some()
	what := rapid.IntRange(0, 4).Draw(h.T, "everybody")
	var e ending
	if what == 1 {
		e = h.drawEnding()
	}
	for _, f := range h.all {
		switch what {
		case 0:
			h.turn(f, typ, name)
		case 1:
			h.reconnect(f, e)
		default:
			for len(f.inbox) > 0 {
				h.answerAt(f, 0)
				h.settle(f)
			}
		}
		h.settle(f)
	}
}

// TestHistories: with a memo that others share, without one, and by a planner of maps alone the
// same goes out, whatever happens.
func TestHistories(t *testing.T) {
	t.Parallel()
	for range 3 { // one hundred histories miss a stream that takes what is not for it, now and then
		rapid.Check(t, playHistory)
	}
}

func playHistory(t *rapid.T) {
	h := newHistory(t)
	for range rapid.IntRange(1, 60).Draw(t, "events") {
		f := rapid.SampledFrom(h.all).Draw(t, "who")
		if rapid.IntRange(0, 3).Draw(t, "all") == 0 { // they come to stand in one place
			h.everybody()
			continue
		}
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0, 1:
			h.change()
			for _, f := range h.all {
				h.settle(f)
			}
		case 2:
			typ, name := h.some()
			h.turn(f, typ, name)
			h.settle(f)
		case 3:
			if rapid.IntRange(0, 2).Draw(t, "lost") == 0 {
				h.reconnect(f, h.drawEnding())
				h.settle(f)
			}
		case 4:
			h.pl.Forget()
		default:
			h.answer(f)
			h.settle(f)
		}
	}
}
