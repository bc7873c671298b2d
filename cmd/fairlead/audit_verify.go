package main

import (
	"context"
	"fmt"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/audit"
)

// chainPage is a page of the chain in the words of package audit, which are the API's.
type chainPage struct {
	TenantID  string       `json:"tenant_id"`
	Items     []audit.Link `json:"items"`
	Head      audit.Head   `json:"head"`
	Anchor    chainAnchor  `json:"anchor"`
	Unlinked  int64        `json:"unlinked"`
	Unchained int64        `json:"unchained"`
	Next      *string      `json:"next_cursor"`
}

type chainAnchor struct {
	Seq     int64      `json:"seq"`
	Hash    audit.Hash `json:"hash"`
	EventAt time.Time  `json:"event_at"`
	At      time.Time  `json:"at"`
}

// verify computes the chain anew from all events that there are, compares it with heads that were exported before, and asks what the servers have found.
func (c *auditCommand) verify(ctx context.Context, s *session) error {
	var heads []audit.Head
	var err error
	if c.Heads != "" {
		if heads, err = readHeads(c.Heads); err != nil {
			return err
		}
	}
	last, fault, err := walkChain(ctx, s, heads)
	if err != nil {
		return err
	}
	own := 0
	for _, h := range heads {
		if h.Tenant == last.TenantID {
			own++
		}
	}
	if c.Heads != "" && own == 0 {
		return fmt.Errorf("%s has no head of this tenant, %s: give the lines of the API servers' logs that say \"audit head\", or what a collector was sent; heads are signed once an hour, the first within minutes of a tenant's first event", c.Heads, last.TenantID)
	}
	resp, err := s.api.GetAuditCheck(ctx, s.tenant)
	check, _, err := answer[client.AuditCheck](s, resp, err)
	if err != nil {
		return err
	}
	if fault != nil {
		fmt.Fprintf(s.out, "the audit is not as it was written: %s: %s\n", faultAt(fault.What, fault.Seq), plain(fault.Detail))
	}
	if f := check.Fault; f != nil {
		fmt.Fprintf(s.out, "the API servers have found on %s: %s: %s\n", when(deref(check.CheckedAt)), faultAt(string(f.What), f.Seq), plain(f.Detail))
	}
	if fault != nil || check.Fault != nil {
		return verdict(exitFailed)
	}
	fmt.Fprintf(s.out, "the audit is as it was written: events %d to %d\n", last.Anchor.Seq+1, last.Head.Seq)
	if last.Anchor.Seq > 0 {
		fmt.Fprintf(s.out, "events up to %d were removed when they were too old, the last on %s\n", last.Anchor.Seq, when(last.Anchor.At))
	}
	if last.Unchained > 0 {
		fmt.Fprintf(s.out, "%d events were there when the chain began, on %s: they are in none\n", last.Unchained, when(deref(check.BegunAt)))
	}
	if c.Heads == "" {
		fmt.Fprintln(s.out, "without --heads it does not show whether the newest events were cut off, or all of it was rewritten")
	} else {
		fmt.Fprintf(s.out, "it agrees with %d heads that were exported\n", own)
	}
	return nil
}

func faultAt(what string, seq int64) string {
	if seq == 0 {
		return plain(what)
	}
	return fmt.Sprintf("%s at event %d", plain(what), seq)
}

// walkChain verifies page by page, and returns the last one.
func walkChain(ctx context.Context, s *session, heads []audit.Head) (p chainPage, fault *audit.Fault, err error) {
	var chain *audit.Chain
	var cursor *string
	limit := 500
	for {
		resp, err := s.api.ListAuditChain(ctx, s.tenant, &client.ListAuditChainParams{Limit: &limit, Cursor: cursor})
		if p, _, err = answer[chainPage](s, resp, err); err != nil {
			return p, nil, err
		}
		anchor := audit.Anchor(p.Anchor)
		if chain == nil {
			chain = audit.NewChain(p.TenantID, anchor)
			chain.Expect(heads...)
		}
		chain.Removed(anchor)
		for _, l := range p.Items {
			if l.Seq <= anchor.Seq {
				continue
			}
			if fault = chain.Add(l); fault != nil {
				return p, fault, nil
			}
		}
		if cursor = p.Next; cursor != nil {
			continue
		}
		if fault = chain.End(p.Head.Seq, p.Head.Hash); fault == nil {
			fault = audit.Unlinked(p.Unlinked, p.Unchained)
		}
		if fault == nil {
			fault = audit.Early(anchor, headsOf(heads, p.TenantID)...)
		}
		return p, fault, nil
	}
}

func headsOf(heads []audit.Head, tenant string) (out []audit.Head) {
	for _, h := range heads {
		if h.Tenant == tenant {
			out = append(out, h)
		}
	}
	return out
}
