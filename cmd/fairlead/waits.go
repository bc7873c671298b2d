package main

import (
	"context"
	"encoding/json"
	"fmt"

	client "fairlead/clients/go"
)

// blocked tells that waiting longer is for nothing: what the pending nodes have not is
// withheld from all of them.
func blocked(r client.Receipt) bool {
	return r.Counts.Pending > 0 && r.Counts.Withheld == r.Counts.Pending
}

// waitLines tell what pending nodes wait for, and what to do. Nodes that wait for the same
// share a line.
func waitLines(r client.Receipt) (out []string) {
	var order []string
	groups := map[string][]string{}
	add := func(node, line string) {
		if groups[line] == nil {
			order = append(order, line)
		}
		groups[line] = append(groups[line], node)
	}
	for _, n := range r.Nodes {
		if deref(n.NoEnvoy) {
			add(n.Id, noEnvoy)
		}
		for _, line := range waitsOf(n.Withheld, n.Warming) {
			add(n.Id, line)
		}
		if n.MoreWaits != nil {
			add(n.Id, fmt.Sprintf("and %d more", *n.MoreWaits))
		}
	}
	for _, line := range order {
		out = append(out, fmt.Sprintf("  %s: %s", names(groups[line], len(groups[line])), plain(line)))
	}
	return out
}

// waitsOf is one sentence for each thing that is waited for.
func waitsOf(withheld *[]client.Withheld, warming *[]client.ResourceRef) (out []string) {
	if withheld != nil {
		for _, h := range *withheld {
			why := "which does not exist: write it"
			switch h.Reason {
			case client.WithheldReasonRefused:
				why = "which this node refuses: fix it"
			case client.WithheldReasonSealed:
				why = "which its xDS server has no key for: " + sealAgain
			case client.WithheldReasonTooLarge:
				out = append(out, fmt.Sprintf("%s is kept back: with it the set of %s is larger than the client takes at once; make one of them smaller, or let it ask for less", refName(h.Resource), h.Resource.Type))
				continue
			}
			if h.Resource == h.By {
				out = append(out, fmt.Sprintf("%s is sealed with a key that its xDS server does not have: %s", refName(h.By), sealAgain))
				continue
			}
			out = append(out, fmt.Sprintf("%s waits for %s, %s", refName(h.Resource), refName(h.By), why))
		}
	}
	if warming != nil {
		for _, ref := range *warming {
			out = append(out, fmt.Sprintf("%s is sent and not answered: something that it needs is still open, or the node is stuck", refName(ref)))
		}
	}
	return out
}

// noEnvoy is said of a node of files.
const noEnvoy = "no Envoy serves there: its files are written, and nothing is confirmed until one does"

const sealAgain = "let the API servers and the xDS servers have keys of one pair, then write the secret again"

func refName(r client.ResourceRef) string { return string(r.Type) + "/" + r.Name }

// list prints all nodes of one state.
func (c *receiptCommand) list(ctx context.Context, s *session, revision int64) error {
	state := client.GetReceiptParamsState(c.State)
	items, err := pages(0, func(limit int, cursor *string) (page, error) {
		resp, err := s.api.GetReceipt(ctx, s.tenant, s.fleet, revision, &client.GetReceiptParams{State: &state, Limit: &limit, Cursor: cursor})
		r, _, err := answer[struct {
			Nodes []json.RawMessage `json:"nodes"`
			Next  string            `json:"next_cursor"`
		}](s, resp, err)
		return page{Items: r.Nodes, Next: r.Next}, err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return s.printItems(items)
	}
	nodes, err := decode[client.ReceiptNode](items)
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		fmt.Fprintf(s.out, "no node is %s at revision %d\n", c.State, revision)
		return nil
	}
	t := table{{"NODE", "STATE", "AT", "WHY"}}
	for _, n := range nodes {
		t = append(t, []string{n.Id, string(n.State), whenever(n.At), why(n)})
	}
	fmt.Fprint(s.out, t)
	return nil
}

// why is the first thing that is to be said of a node.
func why(n client.ReceiptNode) string {
	if deref(n.NoEnvoy) {
		return noEnvoy
	}
	if lines := waitsOf(n.Withheld, n.Warming); len(lines) > 0 {
		return lines[0]
	}
	if n.Resource != nil {
		return refName(*n.Resource) + ": " + deref(n.Detail)
	}
	return deref(n.Detail)
}
