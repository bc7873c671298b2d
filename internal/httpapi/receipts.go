package httpapi

import (
	"context"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

const longestWait = 60 * time.Second

// GetReceipt implements getReceipt. With a wait it answers at the first refusal, or when
// nothing is pending, or when the time, the client or the server ends.
func (a *API) GetReceipt(ctx context.Context, r oapi.GetReceiptRequestObject) (oapi.GetReceiptResponseObject, error) {
	c := callOf(ctx)
	wait, err := waitOf(r.Params.Wait)
	if err != nil {
		return nil, err
	}
	rev := fleet.Revision(r.Revision)
	receipt, err := a.store.Receipt(ctx, c.tenant.ID, c.fleet.ID, rev)
	if err != nil {
		return nil, err
	}
	if wait > 0 && !settled(receipt) {
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		k := fleet.Key{Tenant: c.tenant.ID, Fleet: c.fleet.ID}
		if receipt, err = a.receipts.wait(waiting, a.draining, k, rev, receipt, settled); err != nil {
			return nil, err
		}
	}
	return oapi.GetReceipt200JSONResponse(receiptOf(receipt)), nil
}

func waitOf(s *string) (time.Duration, error) {
	if s == nil {
		return 0, nil
	}
	d, err := time.ParseDuration(*s)
	if err != nil || d < 0 || d > longestWait {
		return 0, badParameter("wait", "invalid_duration", "a time such as 30s or 1500ms, at most 60s")
	}
	return d, nil
}

// settled reports whether waiting longer is for nothing (SEMANTICS 5.5).
func settled(r fleet.Receipt) bool { return r.State != fleet.ReceiptPending }

func receiptOf(r fleet.Receipt) oapi.Receipt {
	return oapi.Receipt{
		Revision: int64(r.Revision), State: oapi.ReceiptState(r.State), CommittedAt: r.CommittedAt,
		Counts: oapi.ReceiptCounts{
			Acked: r.Counts.Acked, Nacked: r.Counts.Nacked, Pending: r.Counts.Pending,
			Offline: r.Counts.Offline, Unaffected: r.Counts.Unaffected,
		},
		Nodes:      each(r.Nodes, receiptNodeOf),
		FirstAckMs: after(r.CommittedAt, r.FirstAck), LastAckMs: after(r.CommittedAt, r.LastAck),
	}
}

// after is in milliseconds; nil where there is no such time.
func after(from, to time.Time) *float64 {
	if to.IsZero() {
		return nil
	}
	ms := float64(to.Sub(from).Microseconds()) / 1000
	return &ms
}

func receiptNodeOf(n fleet.ReceiptNode) oapi.ReceiptNode {
	out := oapi.ReceiptNode{
		Id: n.ID, State: oapi.ReceiptNodeState(n.State), At: optionalTime(n.At),
		Detail: optional(n.Detail), Action: optional(n.Action), ResolvedBy: optional(int64(n.ResolvedBy)),
	}
	if n.Resource.Name != "" {
		ref := refOf(n.Resource)
		out.Resource = &ref
	}
	if len(n.StillRefusing) > 0 {
		refs := each(n.StillRefusing, refOf)
		out.StillRefusing = &refs
	}
	return out
}

func refOf(r fleet.Ref) oapi.ResourceRef {
	return oapi.ResourceRef{Type: oapi.ResourceType(r.Type.Slug()), Name: r.Name}
}
