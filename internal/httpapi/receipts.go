package httpapi

import (
	"context"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/redact"
	"fairlead/internal/store"
)

const longestWait = 60 * time.Second

// GetReceipt implements getReceipt. With a wait it answers at the first refusal, or when
// nothing is pending, or all that is pending is withheld, or when the time, the client or the server ends.
func (a *API) GetReceipt(ctx context.Context, c *call, r oapi.GetReceiptRequestObject) (oapi.GetReceiptResponseObject, error) {
	wait, err := waitOf(r.Params.Wait)
	if err != nil {
		return nil, err
	}
	rev := fleet.Revision(r.Revision)
	q, err := receiptFilter(r.Params, r.Revision)
	if err != nil {
		return nil, err
	}
	receipt, more, err := a.store.ReceiptPage(ctx, c.tenant.ID, c.fleet.ID, rev, q)
	if err != nil {
		return nil, a.noSuchRevision(ctx, c, err, r.Revision)
	}
	if wait > 0 && !live.Settled(receipt) {
		done, err := a.beginToWait(ctx, c)
		if err != nil {
			return nil, err
		}
		defer done()
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		with := holderOf(c)
		unheard := a.tail.Hear(with)
		defer unheard()
		k := fleet.Key{Tenant: c.tenant.ID, Fleet: c.fleet.ID}
		may := func(ctx context.Context) error { return refusalAtEnd(a.movedAtEnd(ctx, with, a.tail.Holds(ctx, with))) }
		asked := receipt.CommittedAt
		if receipt, err = a.receipts.Wait(waiting, a.draining, k, rev, receipt, may); err == nil && !receipt.CommittedAt.Equal(asked) {
			err = fleet.ErrNotFound // the database has failed over and lost it; another one has its number
		}
		if err != nil {
			return nil, a.noSuchRevision(ctx, c, err, r.Revision)
		}
		if q.State != "" { // who waits together is told of the list that all share
			if receipt, more, err = a.store.ReceiptPage(ctx, c.tenant.ID, c.fleet.ID, rev, q); err != nil {
				return nil, err
			}
		}
	}
	out := receiptOf(receipt)
	if more {
		out.NextCursor = next(cursor{List: "receipt", Type: q.State, Name: receipt.Nodes[len(receipt.Nodes)-1].ID, Revision: r.Revision})
	}
	return oapi.GetReceipt200JSONResponse(out), nil
}

// receiptFilter reads which nodes are to be listed. A cursor is good for the revision and
// the state that it was made for.
func receiptFilter(p oapi.GetReceiptParams, rev int64) (store.ReceiptFilter, error) {
	q := store.ReceiptFilter{State: string(deref(p.State))}
	from, err := parseCursor("receipt", p.Cursor)
	switch {
	case err != nil:
		return q, err
	case from != (cursor{}) && (from.Type != q.State || from.Revision != rev):
		return q, badParameter("cursor", "invalid_cursor", "this cursor is of another revision or state: it goes with the revision and the state that it was made for")
	case q.State != "":
		q.After, q.Limit = from.Name, pageLimit(p.Limit)
	}
	return q, nil
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

func receiptOf(r fleet.Receipt) oapi.Receipt {
	return oapi.Receipt{
		Revision: int64(r.Revision), State: oapi.ReceiptState(r.State), CommittedAt: r.CommittedAt,
		Counts: oapi.ReceiptCounts{
			Acked: r.Counts.Acked, Nacked: r.Counts.Nacked, Pending: r.Counts.Pending,
			Offline: r.Counts.Offline, Left: r.Counts.Left, Withheld: r.Counts.Withheld, Unaffected: r.Counts.Unaffected, Late: r.Counts.Late,
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
	r := receiptRefusalOf(n.ReceiptRefusal)
	out := oapi.ReceiptNode{
		Id: n.ID, State: oapi.ReceiptNodeState(n.State), At: optionalTime(n.At), Left: optional(n.Left), NoEnvoy: optional(n.NoEnvoy), MoreRefused: optional(n.MoreRefused),
		Detail: r.Detail, Resource: r.Resource, Action: r.Action, ActionCode: r.ActionCode, Ended: r.Ended, ResolvedBy: r.ResolvedBy,
	}
	if len(n.Also) > 0 {
		also := each(n.Also, receiptRefusalOf)
		out.AlsoRefused = &also
	}
	if len(n.StillRefusing) > 0 {
		refs := each(n.StillRefusing, refOf)
		out.StillRefusing = &refs
	}
	if !n.Waits.Empty() {
		w := waitsOf(n.Waits, n.Refusing)
		out.Warming, out.Withheld, out.WithheldBy, out.MoreWaits = some(w.Warming), some(w.Withheld), some(w.WithheldBy), w.More
	}
	return out
}

func receiptRefusalOf(r fleet.ReceiptRefusal) oapi.ReceiptRefusal {
	out := oapi.ReceiptRefusal{
		Detail: wordsOf(r.Detail), Action: optional(actionWords(r.Action, r.Beside)), ActionCode: actionCode(r.Action), Ended: optional(oapi.RefusalEnd(r.End.String())),
		ResolvedBy: resolvedBy(r.End, r.ResolvedBy),
	}
	if r.Resource.Name != "" {
		ref := refOf(r.Resource)
		out.Resource = &ref
	}
	return out
}

// wordsOf is what a client said. Servers take keys out of it before they keep it; this is
// for what was kept before they did.
func wordsOf(s string) *string { return optional(redact.Keys(s)) }

func refOf(r fleet.Ref) oapi.ResourceRef {
	return oapi.ResourceRef{Type: oapi.ResourceType(r.Type.Slug()), Name: r.Name}
}
