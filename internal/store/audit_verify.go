package store

import (
	"context"
	"fmt"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
)

// auditPage is how many links are read at once.
const auditPage = 1000

// VerifyAudit verifies the tenant's chain from its anchor to its head, through all heads that are stored with a signature. It holds a page at a time, calls keep after each, and
// returns how far it came and what is wrong first; nil: nothing.
func (s *Store) VerifyAudit(ctx context.Context, t fleet.TenantID, by audit.Signer, keep func() error) (int64, *audit.Fault, error) {
	heads, err := s.allSignedHeads(ctx, t)
	if err != nil {
		return 0, nil, err
	}
	for _, h := range heads {
		if !by.Signed(h) {
			return 0, &audit.Fault{What: audit.BadSignature, Seq: h.Seq, Detail: fmt.Sprintf("the head of %s is signed by no API server", h.At.Format(time.RFC3339))}, nil
		}
	}
	p, err := s.AuditLinks(ctx, t, 0, 1)
	if err != nil {
		return 0, nil, err
	}
	if f := audit.Early(p.Anchor, heads...); f != nil {
		return 0, f, nil
	}
	for _, h := range heads {
		if h.Unchained != p.Unchained {
			return 0, &audit.Fault{What: audit.EventInserted, Detail: fmt.Sprintf("%d events are said to be from before the chain, and a signed head says %d", p.Unchained, h.Unchained)}, nil
		}
	}
	c := audit.NewChain(t.String(), p.Anchor)
	c.Expect(heads...)
	f, _, err := s.walk(ctx, t, c, keep)
	return c.Seq(), f, err
}

func (s *Store) allSignedHeads(ctx context.Context, t fleet.TenantID) (all []audit.Head, err error) {
	for {
		after := int64(0)
		if len(all) > 0 {
			after = all[len(all)-1].Seq
		}
		hs, err := s.SignedHeads(ctx, t, after, auditPage)
		if err != nil || len(hs) == 0 {
			return all, err
		}
		all = append(all, hs...)
	}
}

// walk verifies from where c is to the head, and returns the last page.
func (s *Store) walk(ctx context.Context, t fleet.TenantID, c *audit.Chain, keep func() error) (*audit.Fault, AuditPage, error) {
	for {
		p, err := s.AuditChain(ctx, t, c.Seq(), auditPage)
		if err != nil {
			return nil, p, err
		}
		c.Removed(p.Anchor)
		for _, l := range p.Links {
			if l.Seq <= p.Anchor.Seq {
				continue
			}
			if f := c.Add(l); f != nil {
				return f, p, nil
			}
		}
		if !p.More {
			f := c.End(p.Seq, p.Hash)
			if f == nil {
				f = audit.Unlinked(p.Unlinked, p.Unchained)
			}
			return f, p, nil
		}
		if err := keep(); err != nil {
			return nil, p, err
		}
	}
}

// SignAudit signs the head of the tenant's chain and stores that, after it has verified what came since the last one. It returns nil where there is nothing to sign, or what is wrong.
func (s *Store) SignAudit(ctx context.Context, t fleet.TenantID, by audit.Signer, keep func() error) (*audit.Head, *audit.Fault, error) {
	last, err := s.LastSignedHead(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	var from audit.Anchor
	if last != nil {
		if !by.Signed(*last) {
			return nil, &audit.Fault{What: audit.BadSignature, Seq: last.Seq, Detail: "the last head is signed by no API server"}, nil
		}
		from = audit.Anchor{Seq: last.Seq, Hash: last.Hash}
	}
	c := audit.NewChain(t.String(), from)
	f, p, err := s.walk(ctx, t, c, keep)
	if f != nil && p.Seq < from.Seq {
		f = &audit.Fault{What: audit.Truncated, Seq: p.Seq + 1, Detail: fmt.Sprintf("the head is %d, and one with the number %d is signed", p.Seq, from.Seq)}
	}
	if f != nil || err != nil || p.Seq == from.Seq {
		return nil, f, err
	}
	h := p.Head(t)
	h.At = time.Now()
	h = by.Sign(h)
	return &h, nil, s.SaveHead(ctx, t, h)
}
