package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// span is from which revision on a name had a content, and up to which it did.
type span struct{ from, to, number int64 }

// spans are those of a name, from before it was first written.
func spans(versions []version) []span {
	out := []span{{0, math.MaxInt64, 0}}
	for _, v := range versions {
		out[len(out)-1].to = v.Revision
		out = append(out, span{v.Revision, math.MaxInt64, v.Number})
	}
	return out
}

// index is the spans of each content, in order.
func (h *history) index() map[content][]span {
	all := map[content][]span{}
	for k, versions := range h.truth {
		for _, s := range spans(versions) {
			c := content{k.Tenant, k.Name, s.number}
			all[c] = append(all[c], s)
		}
	}
	return all
}

// check tells what in the histories does not go together: nothing if all is well. Each begins with its kind.
func (h *history) check() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	h.checkWrites(say)
	h.checkOrder(say)
	h.checkClients(say)
	h.checkRest(say)
	h.checkReceipts(say)
	h.checkRequests(say)
	return wrong
}

// checkWrites compares what writers know with what there is.
func (h *history) checkWrites(say func(string, ...any)) {
	tried := map[content]outcome{}
	back := map[key]map[int64]bool{} // revisions of rollbacks, which repeat a content
	for _, w := range h.writes {
		if !w.Rollback && w.Number != 0 {
			tried[w.content] = w.Outcome
		}
		if w.Outcome != acknowledged {
			continue
		}
		k := key{w.Tenant, w.Name}
		if w.Rollback {
			if back[k] == nil {
				back[k] = map[int64]bool{}
			}
			back[k][w.Revision] = true
		}
		if !slices.ContainsFunc(h.truth[k], func(v version) bool { return v.Revision == w.Revision && v.Number == w.Number }) {
			say("lost: %s of revision %d was acknowledged, and the history of the name is %v", w.mark(), w.Revision, h.truth[k])
		}
	}
	for k, versions := range h.truth {
		last, seen := int64(0), map[int64]bool{}
		for _, v := range versions {
			last = v.Number
			if v.Number == 0 || v.Rollback {
				continue
			}
			c := content{k.Tenant, k.Name, v.Number}
			switch was, known := tried[c]; {
			case !known:
				say("invented: %s is revision %d, and nobody wrote it", c.mark(), v.Revision)
			case was == refused:
				say("invented: %s is revision %d, and was refused", c.mark(), v.Revision)
			case seen[v.Number]:
				say("twice: %s was written once, and is a revision again as %d", c.mark(), v.Revision)
			}
			seen[v.Number] = true
		}
		if h.present[k] != last {
			say("lost: %s %s is number %d, and its history ends with %d", k.Tenant, k.Name, h.present[k], last)
		}
	}
}

// checkOrder: a write that began after another one was acknowledged has a later revision.
func (h *history) checkOrder(say func(string, ...any)) {
	for tenant := range h.tenants() {
		done := slices.DeleteFunc(slices.Clone(h.writes), func(w write) bool { return w.Tenant != tenant || w.Outcome != acknowledged })
		byEnd := slices.SortedFunc(slices.Values(done), func(a, b write) int { return int(a.Ended - b.Ended) })
		slices.SortFunc(done, func(a, b write) int { return int(a.Began - b.Began) })
		newest, i := write{}, 0
		for _, w := range done {
			for ; i < len(byEnd) && byEnd[i].Ended < w.Began; i++ {
				if byEnd[i].Revision > newest.Revision {
					newest = byEnd[i]
				}
			}
			if w.Revision <= newest.Revision {
				say("order: %s is revision %d, and %s was acknowledged before as %d", w.mark(), w.Revision, newest.mark(), newest.Revision)
			}
		}
	}
}

func (h *history) tenants() map[string]bool {
	out := map[string]bool{}
	for _, w := range h.writes {
		out[w.Tenant] = true
	}
	return out
}

// checkClients: a client gets what was committed for its tenant, and of a name no server gives it what was over before what the same server
// gave it. A server that is behind another one may: it has not heard yet of what the client has, and may not be able to. So may one that takes an Envoy for
// stuck (docs/semantics.md, 3.8b).
func (h *history) checkClients(say func(string, ...any)) {
	type by struct{ server, name string }
	at := map[node]map[by]int64{}      // up to which revision a server has brought each, whether it is started again or not
	has := map[node]map[string]int64{} // what it has since it was started
	index := h.index()
	for _, n := range h.notes {
		if at[n.Node] == nil {
			at[n.Node] = map[by]int64{}
		}
		if has[n.Node] == nil || n.Did == forgot {
			has[n.Node] = map[string]int64{}
		}
		for _, c := range n.Contents {
			if c.Tenant != n.Node.Tenant {
				say("crossed: %v received %s", n.Node, c.mark())
				continue
			}
			if c.Number == has[n.Node][c.Name] {
				continue // it has nothing at all, or what another server has given it, and keeps it until what is newer comes
			}
			all, of := index[c], by{n.Server, c.Name}
			pos := at[n.Node][of]
			i := slices.IndexFunc(all, func(s span) bool { return s.to > pos })
			if before := lastBefore(all, pos); n.Repair && before >= 0 {
				if n.Did == acked { // from there on it is offered what is newer again
					at[n.Node][of], has[n.Node][c.Name] = all[before].from, c.Number
				}
				continue
			}
			if i < 0 {
				switch {
				case len(all) > 0:
					say("back: %v %s %s and was at revision %d%s", n.Node, n.Did, c.mark(), pos, h.tale(n.Node, c.Name))
				default:
					say("invented: %v %s %s, which no revision has", n.Node, n.Did, c.mark())
				}
				continue
			}
			if n.Did == acked {
				at[n.Node][of], has[n.Node][c.Name] = max(pos, all[i].from), c.Number
			}
		}
	}
}

// lastBefore is the last of spans that began before a revision, or with it; -1: none did.
func lastBefore(all []span, pos int64) int {
	i := slices.IndexFunc(all, func(s span) bool { return s.from > pos })
	if i < 0 {
		return len(all) - 1
	}
	return i - 1
}

// checkRest: in the end each client has what there is, or of what it refuses what it took last.
func (h *history) checkRest(say func(string, ...any)) {
	unsettled, _ := h.unsettled()
	for _, w := range unsettled {
		say("unsettled: %s", w)
	}
}

// unsettled tells which clients have something else than they are to have.
func (h *history) unsettled() (wrong []string, whose map[node]bool) {
	whose = map[node]bool{}
	for n, held := range h.held {
		for k, want := range h.present {
			if k.Tenant == n.Tenant && held[k.Name] != want && !h.refuses(n, content{k.Tenant, k.Name, want}) {
				whose[n] = true
				wrong = append(wrong, fmt.Sprintf("%v has %s at number %d, want %d", n, k.Name, held[k.Name], want))
			}
		}
		for name, number := range held {
			if _, known := h.present[key{n.Tenant, name}]; !known && number != 0 {
				whose[n] = true
				wrong = append(wrong, fmt.Sprintf("%v has %s, which is not there", n, name))
			}
		}
	}
	slices.Sort(wrong)
	return wrong, whose
}

// checkReceipts: what a receipt says that a client did it had done. One that polls and loses two answers is told to have probably refused them (docs/rest.md).
func (h *history) checkReceipts(say func(string, ...any)) {
	changed := map[string]map[int64]content{} // by tenant and revision; each write is of one name
	index := h.index()
	for k, versions := range h.truth {
		for _, v := range versions {
			if changed[k.Tenant] == nil {
				changed[k.Tenant] = map[int64]content{}
			}
			changed[k.Tenant][v.Revision] = content{k.Tenant, k.Name, v.Number}
		}
	}
	reach := map[node]map[string]int64{} // the end of the latest span of what it has ever taken of a name
	no := map[node]map[content]bool{}    // what it has refused
	has := map[node]map[string]bool{}    // the names that it was told of since it was started
	unheard, next := map[node]int{}, 0   // answers that it lost one after the other; two or more stay
	for _, o := range slices.SortedFunc(slices.Values(h.observations), func(a, b observation) int { return int(a.At - b.At) }) {
		for ; next < len(h.notes) && h.notes[next].At < o.At; next++ {
			n := h.notes[next]
			if reach[n.Node] == nil {
				reach[n.Node], no[n.Node] = map[string]int64{}, map[content]bool{}
			}
			if has[n.Node] == nil || n.Did == forgot {
				has[n.Node] = map[string]bool{}
			}
			switch {
			case n.Did == lost:
				unheard[n.Node]++
			case n.Did == acked && unheard[n.Node] < 2:
				unheard[n.Node] = 0
			}
			for _, c := range n.Contents {
				switch n.Did {
				case acked:
					has[n.Node][c.Name] = true
					if all := index[c]; len(all) > 0 {
						reach[n.Node][c.Name] = max(reach[n.Node][c.Name], all[len(all)-1].to)
					}
				case nacked:
					no[n.Node][c] = true
				}
			}
		}
		c, known := changed[o.Node.Tenant][o.Revision]
		if !known {
			continue // of another fleet's making, or before the test
		}
		switch o.State {
		case string(acked), late:
			end := reach[o.Node][c.Name]
			if absent := index[content{c.Tenant, c.Name, 0}]; !has[o.Node][c.Name] { // it is where the name is not
				end = max(end, absent[len(absent)-1].to)
			}
			if end <= o.Revision {
				say("receipt: %v is said to have taken %s of revision %d, and has not", o.Node, c.mark(), o.Revision)
			}
		case string(nacked):
			if !no[o.Node][c] && unheard[o.Node] < 2 {
				say("receipt: %v is said to have refused %s of revision %d, and has not", o.Node, c.mark(), o.Revision)
			}
		}
	}
}

// tale is all that a client noted of a name, and the name's history.
func (h *history) tale(n node, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "; the name's history is %v, and its own is", h.truth[key{n.Tenant, name}])
	for _, o := range h.notes {
		if o.Node != n || o.Did == received {
			continue
		}
		if o.Did == forgot {
			b.WriteString(" forgot")
		}
		for _, c := range o.Contents {
			if c.Name == name {
				fmt.Fprintf(&b, " %s %d at %d from %s", o.Did, c.Number, o.At, o.Server)
			}
		}
	}
	return b.String()
}
