package chaos

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// sound is a history in which all goes together: one name is written, changed, rolled back, deleted and written again, by acme, and another one
// by umbrella. One node follows, one refuses what is refused, one is started again. An Envoy is killed.
func sound() *history {
	h := newHistory(func(n node, c content) bool { return n.ID == "n2" && refusable(c) })
	put := func(tenant, name string, number, revision int64, rollback bool) {
		began := h.now()
		h.wrote(write{content: content{tenant, name, number}, Rollback: rollback, Outcome: acknowledged, Revision: revision, Began: began})
		k := key{tenant, name}
		h.truth[k] = append(h.truth[k], version{revision, number, rollback})
		h.present[k] = number
		if number == 0 {
			delete(h.present, k)
		}
	}
	n1, n2, other := node{"acme", "n1"}, node{"acme", "n2"}, node{"umbrella", "n1"}
	for _, n := range []node{n1, n2, other} {
		h.join(n)
	}
	takes := func(n node, server string, d did, name string, number int64) {
		c := []content{{n.Tenant, name, number}}
		h.client(n, received, server, c)
		h.client(n, d, server, c)
	}
	put("acme", "a", 1, 1, false)
	put("umbrella", "a", 1, 1, false)
	takes(other, "xds 0", acked, "a", 1)
	h.observed(n1, 1, "pending")
	takes(n1, "xds 0", acked, "a", 1)
	h.observed(n1, 1, "acked")
	put("acme", "a", 2, 2, false)
	takes(n1, "xds 0", acked, "a", 2)
	takes(n1, "xds 1", acked, "a", 1) // which is behind
	put("acme", "a", 1, 3, true)
	takes(n1, "xds 0", acked, "a", 1)
	put("acme", "a", 0, 4, false)
	takes(n1, "xds 0", acked, "a", 0)
	h.observed(n1, 4, "acked")
	began := h.now()
	h.wrote(write{content: content{"acme", "a", 3}, Outcome: ambiguous, Began: began})
	h.truth[key{"acme", "a"}] = append(h.truth[key{"acme", "a"}], version{5, 3, false})
	h.present[key{"acme", "a"}] = 3
	h.observed(n2, 4, "acked") // it never had the name
	h.forget(n1)
	takes(n1, "xds 1", acked, "a", 3)
	takes(n2, "xds 0", acked, "a", 3)
	h.observed(n2, 5, "acked")
	put("acme", refusedName, 1, 6, false)
	takes(n1, "xds 1", acked, refusedName, 1)
	takes(n2, "xds 0", acked, refusedName, 1)
	put("acme", refusedName, 3, 7, false)
	takes(n1, "xds 1", acked, refusedName, 3)
	takes(n2, "xds 0", nacked, refusedName, 3)
	takes(n2, "xds 0", acked, refusedName, 1) // what stands in
	h.observed(n2, 7, "nacked")
	h.observed(n1, 7, "acked")
	h.join(proxied)
	asks(h, "a", "connection refused") // it does not serve yet
	for range 2 {
		takes(proxied, "xds 0", acked, refusedName, 3)
		takes(proxied, "xds 0", acked, "a", 3)
		h.client(proxied, serves, "", nil)
		asks(h, "a", "acme/1")
		asks(h, "", "acme/0")
		asks(h, "b", "503 ")
		h.client(proxied, received, "xds 0", []content{{"acme", "a", 3}})
		asks(h, "a", "acme/1")
		h.forget(proxied) // it is killed
		asks(h, "a", "connection refused")
	}
	takes(proxied, "xds 0", acked, refusedName, 3)
	takes(proxied, "xds 0", acked, "a", 3)
	h.client(proxied, serves, "", nil)
	return h
}

// proxied is an Envoy.
var proxied = node{"acme", "envoy"}

// asks notes a request through it.
func asks(h *history, name, answer string) {
	h.requested(request{Node: proxied, Name: name, Since: h.now(), Answer: answer})
}

// TestTheCheckerFindsWhatIsWrong: each kind of it, where one thing is changed in a history that is sound.
func TestTheCheckerFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	if wrong := sound().check(); len(wrong) > 0 {
		t.Fatalf("of a sound history it says:\n%s", strings.Join(wrong, "\n"))
	}
	a, n1, n2 := key{"acme", "a"}, node{"acme", "n1"}, node{"acme", "n2"}
	for name, c := range map[string]struct {
		spoil func(h *history)
		kind  string
	}{
		"an acknowledged write is gone":              {func(h *history) { h.truth[a] = slices.Delete(h.truth[a], 1, 2) }, "lost"},
		"an acknowledged deletion is gone":           {func(h *history) { h.truth[a] = slices.Delete(h.truth[a], 3, 4) }, "lost"},
		"an acknowledged rollback is gone":           {func(h *history) { h.truth[a] = slices.Delete(h.truth[a], 2, 3) }, "lost"},
		"another revision has the write":             {func(h *history) { h.truth[a][1].Number = 3 }, "lost"},
		"it is not there in the end":                 {func(h *history) { h.present[a] = 2 }, "lost"},
		"nobody wrote it":                            {func(h *history) { h.truth[a] = append(h.truth[a], version{8, 9, false}) }, "invented"},
		"it was refused":                             {func(h *history) { refuseWrite(h, 3) }, "invented"},
		"an ambiguous write is there twice":          {func(h *history) { h.truth[a] = append(h.truth[a], version{8, 3, false}) }, "twice"},
		"an earlier write has a later revision":      {func(h *history) { h.writes[0].Revision, h.truth[a][0].Revision = 9, 9 }, "order"},
		"a client receives what is over":             {func(h *history) { h.client(n1, received, "xds 1", []content{{"acme", "a", 2}}) }, "back"},
		"a client loses what is there":               {func(h *history) { h.client(n1, received, "xds 1", []content{{"acme", refusedName, 0}}) }, "back"},
		"a client receives what was never committed": {func(h *history) { h.client(n1, received, "xds 1", []content{{"acme", "a", 8}}) }, "invented"},
		"a client receives another tenant's":         {func(h *history) { h.client(n1, received, "xds 1", []content{{"umbrella", "a", 1}}) }, "crossed"},
		"a client never gets the last":               {func(h *history) { h.held[n1]["a"] = 2 }, "unsettled"},
		"a client keeps what is gone":                {func(h *history) { h.held[n1]["b"] = 1 }, "unsettled"},
		"a client does without":                      {func(h *history) { delete(h.held[n2], "a") }, "unsettled"},
		"a request to what is there fails":           {func(h *history) { asks(h, "a", "503 no healthy upstream") }, "failed"},
		"a request to what the route names fails":    {func(h *history) { asks(h, "", "503 ") }, "failed"},
		"a request is answered by what is over":      {func(h *history) { asks(h, "a", "acme/0") }, "failed"},
		"a request is answered by another tenant's":  {func(h *history) { asks(h, "a", "umbrella/1") }, "crossed"},
		"a receipt is ahead of an ACK":               {func(h *history) { h.observations = append(h.observations, observation{1, n1, 7, "acked"}) }, "receipt"},
		"a receipt tells an ACK of who refused":      {func(h *history) { h.observed(n2, 7, "acked") }, "receipt"},
		"a receipt tells a NACK of who took it":      {func(h *history) { h.observed(n1, 7, "nacked") }, "receipt"},
		"a receipt tells a NACK of another version":  {func(h *history) { h.observed(n2, 6, "nacked") }, "receipt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := sound()
			c.spoil(h)
			wrong := h.check()
			if !slices.ContainsFunc(wrong, func(w string) bool { return strings.HasPrefix(w, c.kind+": ") }) {
				t.Errorf("it says %q, want that something is %s", wrong, c.kind)
			}
		})
	}
}

// TestWhatAClientHasIsNotGoingBack: a server that is behind has given it older content, and the one that it comes back to repeats that before the newer one follows.
func TestWhatAClientHasIsNotGoingBack(t *testing.T) {
	t.Parallel()
	n1, older := node{"acme", "n1"}, []content{{"acme", "a", 2}}
	back := func(h *history) bool {
		return slices.ContainsFunc(h.check(), func(w string) bool { return strings.HasPrefix(w, "back: ") })
	}
	h := sound()
	h.client(n1, acked, "xds 9", older)
	h.client(n1, acked, "xds 1", older)
	if back(h) {
		t.Error("to be given again what it has is told as going back")
	}
	again := sound()
	again.client(n1, acked, "xds 9", []content{{"acme", "a", 1}}) // as of revision 1, and of 3 too
	again.client(n1, acked, "xds 1", []content{{"acme", "a", 1}})
	if back(again) {
		t.Error("to be given again what it has, which comes back later, is told as going back")
	}
	stuck := sound()
	stuck.note(note{Node: n1, Did: acked, Server: "xds 1", Contents: older, Repair: true})
	stuck.client(n1, acked, "xds 1", []content{{"acme", "a", 3}})
	if back(stuck) {
		t.Error("to be given what was known to be good, as it did not answer, is told as going back")
	}
	deleted := sound()
	deleted.truth[key{"acme", "b"}] = []version{{8, 1, false}, {9, 0, false}, {10, 2, false}, {11, 3, false}, {12, 0, false}, {13, 2, true}}
	give := func(number int64, repair bool) {
		deleted.note(note{Node: n1, Did: acked, Server: "xds 1", Contents: []content{{"acme", "b", number}}, Repair: repair})
	}
	give(1, false)
	give(0, false)
	give(2, false)
	give(0, true) // as it was before, and not as it will be
	give(2, false)
	give(3, false)
	if back(deleted) {
		t.Error("to be given what comes after a repair is told as going back")
	}
	h.client(n1, acked, "xds 1", []content{{"acme", "a", 3}})
	h.client(n1, acked, "xds 1", older)
	if !back(h) {
		t.Error("to be given what is over, and what it has no more, is not told as going back")
	}
}

// TestWhoLosesAnswersMayBeToldToRefuse: of one that polls, and lost two after each other, that cannot be told apart. Of one that lost others it can.
func TestWhoLosesAnswersMayBeToldToRefuse(t *testing.T) {
	t.Parallel()
	for does, wrong := range map[string]bool{"": true, "-": true, "-.-": true, "--": false, "--.": false, ".--": false} {
		h := sound()
		for _, x := range does {
			h.client(node{"acme", "n1"}, map[rune]did{'-': lost, '.': acked}[x], "xds 0", nil)
		}
		h.observed(node{"acme", "n1"}, 7, "nacked")
		if told := len(h.check()) > 0; told != wrong {
			t.Errorf("%q: it is told as wrong: %v", does, told)
		}
	}
}

// refuseWrite has the write of that number not have been answered, but refused.
func refuseWrite(h *history, number int64) {
	for i, w := range h.writes {
		if w.Tenant == "acme" && w.Name == "a" && w.Number == number {
			h.writes[i].Outcome = refused
		}
	}
}

// TestAPlanIsItsSeeds: the same for the same seed, with all kinds of faults, none of them of what is broken already.
func TestAPlanIsItsSeeds(t *testing.T) {
	t.Parallel()
	kinds := []breakable{{"kill", "xds", 3, nil}, {"stop", "xds", 3, nil}, {"partition", "wire", 2, nil}, {"kill", "database", 1, nil}}
	tell := func(seed uint64) (told []string) {
		for _, f := range plan(seed, time.Minute, kinds) {
			told = append(told, f.String())
		}
		return told
	}
	if !slices.Equal(tell(1), tell(1)) {
		t.Error("the same seed has two plans")
	}
	if slices.Equal(tell(1), tell(2)) {
		t.Error("two seeds have the same plan")
	}
	ends, seen := map[string]time.Duration{}, map[string]bool{}
	for _, f := range plan(1, time.Minute, kinds) {
		of := f.of + string(rune('0'+f.target))
		if f.at < ends[of] {
			t.Errorf("%s is broken already, until %s", f, ends[of])
		}
		ends[of], seen[f.kind+f.of] = f.at+f.lasts, true
	}
	if len(seen) != len(kinds) {
		t.Errorf("the plan has %v, want all kinds", seen)
	}
}
