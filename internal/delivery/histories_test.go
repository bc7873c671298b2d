package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
)

// history plays what may happen to one fleet, and compares each report with what a look at
// every node says. Nothing runs beside it.
type history struct {
	f        *fleetStatus
	open     []*Stream
	closed   []*Stream
	head     fleet.Revision
	rep      *report // under way
	told     int     // reports that said something
	problems []string
}

// act is one step: what happens, to whom, and a number of its own.
type act struct {
	Kind string
	Node int
	Pick int
	Wait time.Duration
}

func genAct() *rapid.Generator[act] {
	return rapid.Custom(func(t *rapid.T) act {
		return act{
			Kind: rapid.SampledFrom([]string{
				"connect", "connect", "connect", "close", "settle", "settle", "settle", "all settle", "head", "head", "warm", "withhold", "release", "sent",
				"subscribe", "subscribe", "view", "refuse", "refuse again", "refuse closed", "resolve", "restart", "lost", "answer", "fail", "old term", "flush", "flush", "flush", "rest",
			}).Draw(t, "kind"),
			Node: rapid.IntRange(0, 7).Draw(t, "node"),
			Pick: rapid.IntRange(0, 3).Draw(t, "pick"),
			Wait: rapid.SampledFrom([]time.Duration{
				0, 0, 0, 12 * time.Millisecond, 300 * time.Millisecond, lagAfter, holdMost, subscribedAfter, duplicateAfter, 2 * rememberFor,
			}).Draw(t, "wait"),
		}
	})
}

// flush makes a report, and compares it. The one before it is taken first.
func (h *history) flush() {
	h.answer(nil)
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	now, rows := time.Now(), h.f.rhythm.rows
	h.f.awaitLost(now)
	want := walk(h.f, now)
	h.rep = h.f.compose(now)
	h.problems = append(h.problems, want.compare(h.f, h.rep, rows)...)
	if h.rep != nil {
		h.told++
	}
}

// rest flushes until all is told.
func (h *history) rest() {
	for last := -1; last != h.told; {
		last = h.told
		h.flush()
	}
}

func (h *history) answer(err error) {
	if h.rep != nil {
		h.f.answered(h.rep, err, time.Now())
		h.rep = nil
	}
}

func (h *history) do(a act) {
	id := fmt.Sprint("node-", a.Node)
	done, cancel := context.WithCancel(context.Background())
	cancel() // nobody waits for a record
	rev := max(0, h.head-fleet.Revision(a.Pick))
	refusal := []fleet.Refusal{{Type: fleet.Cluster, Name: fmt.Sprint(a.Pick), Version: "v", Revision: rev}}
	var s *Stream
	if len(h.open) > 0 {
		s = h.open[a.Node%len(h.open)]
	}
	switch r := h.f.rec; {
	case a.Kind == "connect":
		h.open = append(h.open, r.Connect(h.f.key, fleet.Node{ID: id}, StreamInfo{
			Protocol: []string{"delta ADS", "delta ADS", "SotW CDS", "delta EDS"}[a.Pick], Resumed: a.Pick != 1, Before: rev, Doubtful: a.Pick == 2,
			Held: fleet.Held{At: rev + fleet.Revision(a.Pick/2), Without: []fleet.Ref{{Type: fleet.Listener, Name: "withheld"}}},
		}))
	case a.Kind == "head":
		h.head += fleet.Revision(a.Pick)
		r.Head(h.f.key, mark(h.head), time.Now())
	case a.Kind == "restart":
		h.head = max(1, rev)
		r.Restart(h.f.key, mark(h.head), time.Now())
	case a.Kind == "resolve":
		r.Resolved(h.f.key, []fleet.Refusal{{Node: id, Type: fleet.Cluster, Name: fmt.Sprint(a.Pick), Version: "v", By: h.head}})
	case a.Kind == "lost":
		h.f.revive(true, time.Now())
	case a.Kind == "answer":
		h.answer(nil)
	case a.Kind == "fail":
		h.answer(errAway)
	case a.Kind == "old term" && h.rep != nil:
		h.rep.status.Term--
		h.answer(nil)
	case a.Kind == "flush":
		h.flush()
	case a.Kind == "rest":
		h.rest()
	case a.Kind == "refuse again": // without a stream
		refusal[0].Node = id
		r.Refused(h.f.key, refusal)
	case a.Kind == "refuse closed" && len(h.closed) > 0: // its last words come late
		h.closed[a.Node%len(h.closed)].Refused(done, refusal)
	case s == nil:
	case a.Kind == "close":
		s.Close(a.Pick > 0)
		h.open = append(h.open[:a.Node%len(h.open)], h.open[a.Node%len(h.open)+1:]...)
		h.closed = append(h.closed, s)
	case a.Kind == "settle":
		s.Settled(rev)
	case a.Kind == "all settle":
		for _, s := range h.open {
			s.Settled(rev)
		}
	case a.Kind == "warm":
		s.Waits(s.waits.With(warming(fmt.Sprint(a.Pick))))
	case a.Kind == "withhold":
		s.Waits(s.waits.With(of(h.head + 1 - fleet.Revision(a.Pick))))
	case a.Kind == "release":
		s.Waits(fleet.Waits{Cut: fleet.Revision(max(0, a.Pick-2))})
	case a.Kind == "subscribe":
		s.Subscribes(asksFor(fleet.Cluster, fleet.ToldTypes()[a.Pick%3]))
	case a.Kind == "sent":
		s.Sent(rev, Planning{})
	case a.Kind == "view":
		s.View(fmt.Sprint(a.Pick))
	case a.Kind == "refuse":
		s.Refused(done, refusal)
	}
	time.Sleep(a.Wait)
}

// play plays a history to its end, until all is told.
func play(t *testing.T, acts []act, rows int, stops bool) []string {
	t.Helper()
	r, err := New(Config{Server: fleet.NewServerID(), Name: "here", Sink: newSink(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r.rows = rows
	h := &history{f: newFleetStatus(r, fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}), head: 5}
	r.fleets[h.f.key] = h.f
	r.Head(h.f.key, mark(h.head), time.Now())
	for _, a := range acts {
		h.do(a)
	}
	if stops {
		h.f.close()
	}
	h.rest()
	return h.problems
}

// Whatever happened, a report says what a look at every node of the fleet says, and the next
// look is as soon. What it would miss is rare in a history, so there are some thousands.
func TestAReportIsWhatALookAtEveryNodeSays(t *testing.T) {
	t.Parallel()
	for part := range 40 {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				acts := rapid.SliceOfN(genAct(), 20, 120).Draw(rt, "acts")
				rows := rapid.SampledFrom([]int{1, 2, 3, reportRows}).Draw(rt, "rows of a report")
				stops := rapid.Bool().Draw(rt, "the server stops")
				var problems []string
				synctest.Test(t, func(t *testing.T) { problems = play(t, acts, rows, stops) })
				if len(problems) > 0 {
					rt.Fatalf("%d problems, the first: %s", len(problems), problems[0])
				}
			})
		})
	}
}
