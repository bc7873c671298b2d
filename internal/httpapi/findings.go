package httpapi

import (
	"context"
	"time"

	"fairlead/internal/compute"
	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/read"
	"fairlead/internal/redact"
	"fairlead/internal/store"
)

// ListFindings implements listFindings.
func (a *API) ListFindings(ctx context.Context, c *call, r oapi.ListFindingsRequestObject) (oapi.ListFindingsResponseObject, error) {
	from, err := findingsCursor(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	of, err := a.findings(ctx, c)
	if err != nil {
		return nil, err
	}
	out := oapi.ListFindings200JSONResponse{Revision: int64(of.At), Items: []oapi.Finding{}, Errors: of.Errors, Warnings: of.Warnings, Infos: of.Infos}
	p, limit := r.Params, pageLimit(r.Params.Limit)
	var last [9]string
	for i := range of.Found {
		f := &of.Found[i]
		if p.Severity != nil && f.Severity != findings.Severity(*p.Severity) || p.Code != nil && f.Code != findings.Code(*p.Code) ||
			p.Type != nil && f.Type != typeOf(*p.Type) || p.Name != nil && f.Name != *p.Name || from != nil && findings.Compare(f.Key(), *from) <= 0 {
			continue
		}
		if len(out.Items) >= limit && f.Key() != last { // a cursor cannot stand between equal ones
			out.NextCursor = next(cursor{List: "findings", Key: &last})
			break
		}
		out.Items, last = append(out.Items, findingOf(*f)), f.Key()
	}
	return out, nil
}

// findings looks at the whole fleet of the call, once for all who ask at the same time.
func (a *API) findings(ctx context.Context, c *call) (read.Checked, error) {
	return a.checks.Do(ctx, findingsOf{keyOf(c), c.fleet.ETag}, func(ctx context.Context, begin func()) (read.Checked, error) {
		return a.check(ctx, c, begin)
	})
}

func (a *API) check(ctx context.Context, c *call, begin func()) (out read.Checked, err error) {
	f := findings.Fleet{StaticClusters: append([]string{findings.BootstrapCluster}, c.fleet.StaticClusters...), PrivateClusters: c.fleet.PrivateClusters, Values: c.fleet.Values}
	if f.Resources, out.At, err = a.facts.Read(ctx, a.store, keyOf(c), begin); err != nil {
		return out, err
	}
	if f.Nodes, f.Unlabeled, f.NodesCut, err = a.labeledNodes(ctx, c); err != nil {
		return out, err
	}
	if f.ServerKeys, err = a.serverKeys(ctx); err != nil {
		return out, err
	}
	f.OwnKey = a.sealer.KeyID()
	if f.Endpoints, err = a.store.EndpointClusters(ctx, c.tenant.ID, c.fleet.ID, nil); err != nil {
		return out, err
	}
	if f.Failing, err = a.failingClusters(ctx, c); err != nil {
		return out, err
	}
	if f.Idle, err = a.idleClusters(ctx, c); err != nil {
		return out, err
	}
	if f.Credentials, err = a.endingCredentials(ctx, c); err != nil {
		return out, err
	}
	if f.Tokens, err = a.tokenEnds(ctx, c); err != nil {
		return out, err
	}
	if f.TooLarge, err = a.tooLarge(ctx, c); err != nil {
		return out, err
	}
	kind := compute.Small
	if len(f.Resources)+len(f.Nodes) > largeCount {
		kind = compute.Large
	}
	err = a.compute(ctx, c, kind, func(step func() error) (err error) {
		if known, again := a.facts.Checked(keyOf(c), f); again {
			out.Found, out.Errors, out.Warnings, out.Infos = known.Found, known.Errors, known.Warnings, known.Infos
			return nil
		}
		in := f
		in.Now, in.Step = time.Now(), step
		if out.Found, err = findings.Check(in); err != nil {
			return err
		}
		out.Errors, out.Warnings, out.Infos = findings.Count(out.Found)
		a.facts.KeepChecked(keyOf(c), read.Check{In: f, Out: out, At: in.Now})
		return nil
	})
	return out, err
}

// labeledNodes reads the fleet's nodes with their labels, and which of them have others that are not known; cut: some, or
// some of their labels, are left out.
func (a *API) labeledNodes(ctx context.Context, c *call) (nodes []fleet.Node, unlabeled map[string]bool, cut bool, err error) {
	unlabeled = map[string]bool{}
	for after, more := "", true; more && !cut; {
		var page []store.LabeledNode
		if page, more, err = a.store.NodeLabels(ctx, c.tenant.ID, c.fleet.ID, after, 1000); err != nil {
			return nil, nil, false, err
		}
		for _, n := range page {
			after = n.ID
			nodes = append(nodes, n.Node)
			if !n.Known {
				unlabeled[n.ID], cut = true, true
			}
		}
		cut = cut || more && len(nodes) >= maxScan
	}
	return nodes, unlabeled, cut, nil
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

// serverKeys are the ids of the keys with which xDS servers open secrets, as far as they tell.
func (a *API) serverKeys(ctx context.Context) ([]string, error) {
	keys, err := a.store.ServerKeys(ctx)
	return each(keys, func(k store.ServerKey) string { return k.ID }), err
}

// endingCredentials are those that nodes of the fleet have come with and that end soon, or whose end has cut nodes off.
func (a *API) endingCredentials(ctx context.Context, c *call) ([]findings.Credential, error) {
	ending, err := a.store.EndingCredentials(ctx, c.tenant.ID, c.fleet.ID, findings.CredentialSoon)
	return each(ending, func(x store.EndingCredential) findings.Credential {
		return findings.Credential{ID: x.ID.String(), ExpiresAt: x.ExpiresAt, Nodes: x.Nodes, Named: x.Named}
	}), err
}

// failingClusters are those whose requests fail, as proxies report.
func (a *API) failingClusters(ctx context.Context, c *call) ([]findings.Failing, error) {
	failing, err := a.store.FailingClusters(ctx, c.tenant.ID, c.fleet.ID, findings.FailingWithin, findings.FailingLeast, findings.FailingOneIn)
	return each(failing, func(l store.ClusterLoad) findings.Failing {
		return findings.Failing{Cluster: l.Cluster, Ended: l.Succeeded + l.Failed, Failed: l.Failed}
	}), err
}

// idleClusters are those to which no proxy has sent anything for long, where that is known.
func (a *API) idleClusters(ctx context.Context, c *call) ([]findings.Idle, error) {
	idle, err := a.store.IdleClusters(ctx, c.tenant.ID, c.fleet.ID, findings.NotCalledFor)
	return each(idle, func(i store.IdleCluster) findings.Idle { return findings.Idle(i) }), err
}

// tooLarge are the resources that are kept from nodes of the fleet, as these do not take so much at once.
func (a *API) tooLarge(ctx context.Context, c *call) ([]findings.TooLarge, error) {
	kept, err := a.store.TooLarge(ctx, c.tenant.ID, c.fleet.ID)
	return each(kept, func(x store.TooLarge) findings.TooLarge {
		return findings.TooLarge{Ref: x.Ref, Nodes: x.Nodes, Named: x.Named}
	}), err
}

// tokenEnds are the API tokens that are bound to the fleet and end soon or have ended lately.
func (a *API) tokenEnds(ctx context.Context, c *call) ([]findings.Token, error) {
	ends, err := a.store.TokenEnds(ctx, c.tenant.ID, c.fleet.ID, findings.TokenSoon)
	return each(ends, func(x store.TokenEnd) findings.Token {
		return findings.Token{ID: x.ID.String(), Name: x.Name, ExpiresAt: x.ExpiresAt}
	}), err
}
