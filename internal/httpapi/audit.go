package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListAudit implements listAudit: newest first.
func (a *API) ListAudit(ctx context.Context, c *call, r oapi.ListAuditRequestObject) (oapi.ListAuditResponseObject, error) {
	const list = "audit"
	p, tenant := r.Params, c.tenant.ID
	after, err := eventCursor(list, p.Cursor)
	if err != nil {
		return nil, err
	}
	q := store.AuditFilter{
		After: after, Limit: pageLimit(p.Limit), Kind: deref(p.Kind), Actor: deref(p.Actor), Fleet: deref(p.Fleet), Since: deref(p.Since), Until: deref(p.Until),
	}
	for name, value := range map[string]string{"kind": q.Kind, "actor": q.Actor, "fleet": q.Fleet} {
		if !plainText(value) {
			return nil, badParameter(name, "invalid_text", "a name is UTF-8 without NUL")
		}
	}
	lines := deref(p.Format) == oapi.Jsonl
	if lines {
		q.Limit = 500
	}
	events, more, err := a.store.Audit(ctx, tenant, q)
	if err != nil {
		return nil, err
	}
	if lines {
		a.told(c, auditExport, "listAudit")
		return oapi.ListAudit200ApplicationjsonlResponse{Body: &auditLines{ctx: ctx, note: c.note, store: a.store, tenant: tenant, filter: q, page: events, more: more}}, nil
	}
	out := oapi.ListAudit200JSONResponse{Items: each(events, auditEventOf)}
	if more != nil {
		out.NextCursor = nextEvent(list, more.At, more.ID)
	}
	return out, nil
}

func auditEventOf(e store.AuditEvent) oapi.AuditEvent {
	out := oapi.AuditEvent{
		At: e.At, Kind: e.Kind, Object: e.Object, By: makerOf(e.By), Address: optional(e.IP), RequestId: optional(e.RequestID), Fleet: optional(e.FleetName),
		OldRevision: optional(int64(e.Old)), NewRevision: optional(int64(e.New)),
	}
	if e.Fleet != (fleet.ID{}) {
		out.FleetId = optional(e.Fleet.String())
	}
	if e.Seq > 0 {
		out.Seq, out.Hash = &e.Seq, optional(e.Hash.String())
	}
	if e.Detail != nil {
		out.Detail = &e.Detail
	}
	return out
}

// auditLines reads events as JSON lines, page by page: it holds one page, however many there
// are. What fails after the answer has begun cuts the connection, so that nobody takes a part for all.
type auditLines struct {
	ctx    context.Context //nolint:containedctx // of the one request that reads it
	note   *requestNote    // of the same
	store  *store.Store
	tenant fleet.TenantID
	filter store.AuditFilter
	page   []store.AuditEvent
	more   *store.EventCursor
	text   bytes.Buffer
}

// Read implements io.Reader.
func (l *auditLines) Read(p []byte) (int, error) {
	for l.text.Len() == 0 {
		if len(l.page) == 0 && l.more == nil {
			return 0, io.EOF
		}
		if err := l.fill(); err != nil {
			l.note.err = err
			panic(http.ErrAbortHandler)
		}
	}
	return l.text.Read(p)
}

func (l *auditLines) fill() (err error) {
	if len(l.page) == 0 {
		l.filter.After = *l.more
		if l.page, l.more, err = l.store.Audit(l.ctx, l.tenant, l.filter); err != nil {
			return err
		}
	}
	lines := json.NewEncoder(&l.text)
	for _, e := range l.page {
		if err := lines.Encode(auditEventOf(e)); err != nil {
			return err
		}
	}
	l.page = nil
	return nil
}
