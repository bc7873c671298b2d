package httpapi

import (
	"context"
	"slices"
	"time"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/redact"
	"fairlead/internal/store"
)

// ListFindings implements listFindings.
func (a *API) ListFindings(ctx context.Context, r oapi.ListFindingsRequestObject) (oapi.ListFindingsResponseObject, error) {
	from, err := findingsCursor(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	found, at, err := a.findings(ctx)
	if err != nil {
		return nil, err
	}
	out := oapi.ListFindings200JSONResponse{Revision: int64(at), Items: []oapi.Finding{}}
	for _, f := range found {
		switch f.Severity {
		case findings.Error:
			out.Errors++
		case findings.Warning:
			out.Warnings++
		default:
			out.Infos++
		}
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f findings.Finding) bool {
		p := r.Params
		return p.Severity != nil && f.Severity != findings.Severity(*p.Severity) || p.Code != nil && f.Code != findings.Code(*p.Code) ||
			p.Type != nil && f.Type != typeOf(*p.Type) || p.Name != nil && f.Name != *p.Name || from != nil && findings.Compare(f.Key(), *from) <= 0
	})
	if limit := pageLimit(r.Params.Limit); len(found) > limit {
		last := found[limit-1].Key()
		for limit < len(found) && found[limit].Key() == last { // a cursor cannot stand between them
			limit++
		}
		if limit < len(found) {
			out.NextCursor = next(cursor{List: "findings", Key: &last})
		}
		found = found[:limit]
	}
	out.Items = each(found, findingOf)
	return out, nil
}

// findings looks at the whole fleet of the call.
func (a *API) findings(ctx context.Context) ([]findings.Finding, fleet.Revision, error) {
	c := callOf(ctx)
	f := findings.Fleet{StaticClusters: append([]string{findings.BootstrapCluster}, c.fleet.StaticClusters...), Now: time.Now()}
	var at fleet.Revision
	var err error
	if f.Resources, at, err = a.facts.read(ctx, fleet.Key{Tenant: c.tenant.ID, Fleet: c.fleet.ID}); err != nil {
		return nil, 0, err
	}
	for after, more := "", true; more && !f.NodesCut; {
		var nodes []store.LabeledNode
		if nodes, more, err = a.store.NodeLabels(ctx, c.tenant.ID, c.fleet.ID, after, 1000); err != nil {
			return nil, 0, err
		}
		for _, n := range nodes {
			after = n.ID
			f.Nodes = append(f.Nodes, n.Node)
			f.NodesCut = f.NodesCut || !n.Known
		}
		f.NodesCut = f.NodesCut || more && len(f.Nodes) >= maxScan
	}
	return findings.Check(f), at, nil
}

// findingsCursor is the key of the last finding of the page before; nil is the beginning.
func findingsCursor(s *string) (*[9]string, error) {
	from, err := parseCursor("findings", s)
	if err != nil || from.List == "" {
		return nil, err
	}
	if from.Key == nil {
		return nil, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
	}
	return from.Key, nil
}

func findingOf(f findings.Finding) oapi.Finding {
	out := oapi.Finding{
		Code: oapi.FindingCode(f.Code), Severity: oapi.FindingSeverity(f.Severity), Type: oapi.ResourceType(f.Type.Slug()), Name: f.Name,
		Variant: optional(f.Variant), Pointer: f.Pointer, ToVariant: optional(f.ToVariant), Nodes: optional(f.Nodes), Detail: redact.Keys(f.Detail),
	}
	if f.To.Name != "" {
		to := refOf(fleet.Ref{Type: f.To.Type, Name: redact.Keys(f.To.Name)})
		out.To = &to
	}
	return out
}
