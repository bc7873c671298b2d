package httpapi

import (
	"context"
	"fmt"

	"fairlead/internal/audit"
	"fairlead/internal/httpapi/oapi"
)

// GetAuditCheck implements getAuditCheck.
func (a *API) GetAuditCheck(ctx context.Context, c *call, _ oapi.GetAuditCheckRequestObject) (oapi.GetAuditCheckResponseObject, error) {
	tenant := c.tenant.ID
	page, err := a.store.AuditLinks(ctx, tenant, 0, 1)
	if err != nil {
		return nil, err
	}
	check, err := a.store.AuditCheck(ctx, tenant)
	if err != nil {
		return nil, err
	}
	signed, err := a.store.LastSignedHead(ctx, tenant)
	if err != nil {
		return nil, err
	}
	deliveries, err := a.store.AuditDeliveries(ctx, tenant)
	if err != nil {
		return nil, err
	}
	out := oapi.GetAuditCheck200JSONResponse{State: oapi.Unverified, Unchained: page.Unchained, Deliveries: []oapi.AuditDelivery{}, BegunAt: optionalTime(page.BegunAt)}
	if page.Seq > 0 {
		out.Head = &oapi.AuditHead{Seq: page.Seq, Hash: page.Hash.String()}
	}
	if signed != nil {
		out.Signed = signedHeadOf(*signed)
	}
	if page.Anchor.Seq > 0 {
		out.Anchor = anchorOf(page.Anchor)
	}
	if !check.At.IsZero() {
		out.State, out.CheckedAt, out.CheckedSeq = oapi.Intact, &check.At, &check.Seq
	}
	if f := check.Fault; f != nil {
		out.State, out.Fault = oapi.Broken, &oapi.AuditFault{What: oapi.AuditFaultWhat(f.What), Seq: f.Seq, Detail: f.Detail}
	}
	for _, d := range deliveries {
		out.Deliveries = append(out.Deliveries, oapi.AuditDelivery{Collector: oapi.AuditDeliveryCollector(d.Collector), Seq: d.Seq, At: optionalTime(d.At)})
	}
	return out, nil
}

// ListAuditChain implements listAuditChain: oldest first.
func (a *API) ListAuditChain(ctx context.Context, c *call, r oapi.ListAuditChainRequestObject) (oapi.ListAuditChainResponseObject, error) {
	const list = "audit chain"
	tenant := c.tenant.ID
	after, err := parseCursor(list, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := a.store.AuditChain(ctx, tenant, after.Revision, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	a.told(c, auditExport, "listAuditChain")
	out := oapi.ListAuditChain200JSONResponse{TenantId: tenant.String(), Items: each(page.Links, linkOf), Unchained: &page.Unchained}
	if page.Seq > 0 {
		out.Head = &oapi.AuditHead{Seq: page.Seq, Hash: page.Hash.String()}
	}
	if page.Anchor.Seq > 0 {
		out.Anchor = anchorOf(page.Anchor)
	}
	if page.More {
		out.NextCursor = next(cursor{List: list, Revision: page.Links[len(page.Links)-1].Seq})
	} else {
		out.Unlinked = &page.Unlinked
	}
	return out, nil
}

func linkOf(l audit.Link) oapi.AuditLink {
	out := oapi.AuditLink{Seq: l.Seq, Hash: l.Hash.String()}
	if e := l.Event; e != nil {
		out.Event = &oapi.AuditRecord{
			Id: e.ID, At: e.At, Credential: e.Credential, Actor: e.Actor, Address: e.Address, RequestId: e.RequestID, Kind: e.Kind, Object: e.Object, FleetId: e.Fleet,
			OldRevision: e.Old, NewRevision: e.New, Detail: e.Detail,
		}
	}
	return out
}

func signedHeadOf(h audit.Head) *oapi.AuditHead {
	return &oapi.AuditHead{
		TenantId: &h.Tenant, Seq: h.Seq, Hash: h.Hash.String(), At: &h.At, AnchorSeq: &h.Anchor, Unchained: &h.Unchained, Signature: optional(fmt.Sprint(h.Signature)),
	}
}

func anchorOf(a audit.Anchor) *oapi.AuditAnchor {
	return &oapi.AuditAnchor{Seq: a.Seq, Hash: a.Hash.String(), EventAt: a.EventAt, At: a.At}
}
