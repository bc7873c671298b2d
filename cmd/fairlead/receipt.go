package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	client "fairlead/clients/go"
)

// maxNames bounds how many nodes a sentence names.
const maxNames = 5

// receiptLines tells what became of a revision, in lines that are safe to print. waited
// is how long was waited for it; 0 if it was only asked for.
func receiptLines(r client.Receipt, waited time.Duration) []string {
	switch {
	case r.State == client.ReceiptStateRejected:
		return rejectedLines(r)
	case r.State == client.ReceiptStatePending:
		after := ""
		if waited > 0 && !blocked(r) {
			after = fmt.Sprintf(" after %s", waited)
		}
		line := fmt.Sprintf("revision %d pending%s: %d/%d nodes ACKed", r.Revision, after, took(r), counted(r)) + untouched(r) +
			missing(r, client.ReceiptNodeStatePending, r.Counts.Pending) + missing(r, client.ReceiptNodeStateOffline, r.Counts.Offline)
		return append(append([]string{line}, gone(r)...), waitLines(r)...)
	case r.State == client.ReceiptStateStored:
		return []string{fmt.Sprintf("revision %d stored; no node has it yet", r.Revision) +
			missing(r, client.ReceiptNodeStateOffline, r.Counts.Offline)}
	}
	line := acked(r) + missing(r, client.ReceiptNodeStateOffline, r.Counts.Offline)
	return append([]string{line}, stillRefused(r)...)
}

// gone tells which nodes have left without the revision: it may be why they went.
func gone(r client.Receipt) []string {
	if r.Counts.Left == 0 {
		return nil
	}
	var ids []string
	for _, n := range r.Nodes {
		if deref(n.Left) {
			ids = append(ids, n.Id)
		}
	}
	return []string{fmt.Sprintf("  not delivered to %s: connected since the revision was made, and gone without it", names(ids, r.Counts.Left))}
}

// stillRefused tells of nodes that took this revision and refuse something of an earlier one.
func stillRefused(r client.Receipt) (out []string) {
	for _, n := range r.Nodes {
		if n.State != client.ReceiptNodeStateAcked || n.StillRefusing == nil || len(*n.StillRefusing) == 0 {
			continue
		}
		var refs []string
		for _, ref := range *n.StillRefusing {
			refs = append(refs, string(ref.Type)+"/"+ref.Name)
		}
		out = append(out, fmt.Sprintf("  %s still refuses %s of an earlier revision", plain(n.Id), names(refs, len(refs))))
	}
	return out
}

// receiptStatus is the exit status that belongs to a receipt. Where nodes are known and none has the
// revision it was not delivered; where there is none there is nobody to deliver it to.
func receiptStatus(r client.Receipt) int {
	switch {
	case r.State == client.ReceiptStateRejected:
		return exitRejected
	case r.State == client.ReceiptStatePending, r.State == client.ReceiptStateStored && r.Counts.Offline > 0:
		return exitPending
	}
	return exitOK
}

// took is how many nodes had something to take of the revision and did. Those for which it changes nothing confirm nothing.
func took(r client.Receipt) int { return r.Counts.Acked - r.Counts.Unaffected }

// counted is how many nodes the revision is for, as far as it is known: what it is for those that are offline is not.
func counted(r client.Receipt) int {
	return took(r) + r.Counts.Nacked + r.Counts.Pending + r.Counts.Offline
}

// untouched tells of the others.
func untouched(r client.Receipt) string {
	if r.Counts.Unaffected == 0 {
		return ""
	}
	return "; it changes nothing for " + nodes(r.Counts.Unaffected)
}

func acked(r client.Receipt) string {
	if took(r) == 0 && r.Counts.Late == 0 && r.Counts.Unaffected > 0 {
		return fmt.Sprintf("revision %d changes nothing for %s", r.Revision, nodes(r.Counts.Unaffected))
	}
	s := fmt.Sprintf("revision %d ACKed by %d/%d nodes", r.Revision, took(r), counted(r))
	switch late := r.Counts.Late; {
	case late > 0 && counted(r) == 0:
		return fmt.Sprintf("revision %d ACKed by %s that came later", r.Revision, amount(late, "node"))
	case late > 0:
		s += fmt.Sprintf(" and %d that came later", late)
	}
	if r.LastAckMs != nil && took(r) > 0 { // who refused it has answered for the rest of it, and that was counted
		s += fmt.Sprintf(" in %.0f ms", math.Round(*r.LastAckMs))
	}
	return s + untouched(r)
}

// missing names the nodes of a state.
func missing(r client.Receipt, state client.ReceiptNodeState, count int) string {
	if count == 0 {
		return ""
	}
	var ids []string
	for _, n := range r.Nodes {
		if n.State == state {
			ids = append(ids, n.Id)
		}
	}
	return fmt.Sprintf("; %s: %s", state, names(ids, count))
}

// names lists some of count nodes, of which not all ids need be known.
func names(ids []string, count int) string {
	var shown []string
	for _, id := range ids[:min(len(ids), maxNames)] {
		shown = append(shown, plain(id))
	}
	rest := max(count, len(ids)) - len(shown)
	switch {
	case len(shown) == 0:
		return fmt.Sprintf("%d nodes", rest)
	case rest == 0:
		return strings.Join(shown, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), rest)
}

// refusalKey is what nodes must have in common to be told of in one line.
type refusalKey struct{ resource, words, action string }

// rejectedLines tells who refused what and why. Nodes that say the same share a line.
func rejectedLines(r client.Receipt) (out []string) {
	var order []refusalKey
	groups := map[refusalKey][]string{}
	var more []string
	listed := 0
	for _, n := range r.Nodes {
		if n.State != client.ReceiptNodeStateNacked {
			continue
		}
		refusals := []client.ReceiptRefusal{{Resource: n.Resource, Detail: n.Detail, Action: n.Action, Ended: n.Ended, ResolvedBy: n.ResolvedBy}}
		if n.AlsoRefused != nil {
			refusals = append(refusals, *n.AlsoRefused...)
		}
		for _, x := range refusals {
			k := refusalKeyOf(x)
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], n.Id)
		}
		if n.MoreRefused != nil {
			more = append(more, n.Id)
		}
		listed++
	}
	for _, k := range order {
		out = append(out, refusalLines(r.Revision, names(groups[k], len(groups[k])), k)...)
	}
	if len(more) > 0 {
		out = append(out, fmt.Sprintf("revision %d rejected: %s refused more of it: fairlead nodes %s tells all", r.Revision, names(more, len(more)), plain(more[0])))
	}
	if rest := r.Counts.Nacked - listed; rest > 0 { // the list is bounded
		who := fmt.Sprintf("%d nodes", rest)
		if listed > 0 {
			who = fmt.Sprintf("%d more nodes", rest)
		}
		out = append(out, fmt.Sprintf("revision %d rejected: %s refused something of it", r.Revision, who))
	}
	if r.Counts.Nacked < counted(r)+r.Counts.Unaffected {
		out = append(out, "  "+acked(r)+missing(r, client.ReceiptNodeStatePending, r.Counts.Pending)+missing(r, client.ReceiptNodeStateOffline, r.Counts.Offline))
	}
	return append(append(out, gone(r)...), waitLines(r)...)
}

func refusalKeyOf(x client.ReceiptRefusal) refusalKey {
	k := refusalKey{resource: "it"}
	if x.Resource != nil {
		k.resource = string(x.Resource.Type) + "/" + x.Resource.Name
	}
	if x.Detail != nil {
		k.words = *x.Detail
	}
	if x.Action != nil {
		k.action = *x.Action
	}
	switch {
	case x.Ended != nil && *x.Ended == client.RefusalEndOffered:
		k.action = "offered to it again since then"
	case x.Ended != nil && *x.Ended == client.RefusalEndTaken:
		k.action = "it has what it is to have since then"
	case x.ResolvedBy != nil:
		k.action = strings.TrimPrefix(fmt.Sprintf("%s; ended by revision %d", k.action, *x.ResolvedBy), "; ")
	}
	return k
}

func refusalLines(revision int64, who string, k refusalKey) []string {
	line := fmt.Sprintf("revision %d rejected: %s refused %s", revision, who, plain(k.resource))
	if words := plain(k.words); words != "" {
		line += ": " + words
	}
	if action := plain(k.action); action != "" {
		return []string{line, "  " + action}
	}
	return []string{line}
}
