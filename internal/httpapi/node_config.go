package httpapi

import (
	"cmp"
	"context"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/snapshot"
	"fairlead/internal/store"
)

// GetNodeConfig implements getNodeConfig. It asks no xDS server: what a node should hold
// follows from the fleet, from what the node refused, and from what it confirmed.
func (a *API) GetNodeConfig(ctx context.Context, c *call, r oapi.GetNodeConfigRequestObject) (oapi.GetNodeConfigResponseObject, error) {
	if err := text("node", r.Node); err != nil {
		return nil, err
	}
	q := store.ConfigFilter{Limit: pageLimit(r.Params.Limit), State: string(deref(r.Params.State))}
	if r.Params.Type != nil {
		t := typeOf(*r.Params.Type)
		q.Type = &t
	}
	var err error
	if q.After, err = resourceCursor("node-config", r.Params.Cursor); err != nil {
		return nil, err
	}
	conf, known, err := a.nodeConfig(ctx, c, r.Node, q)
	if err != nil {
		return nil, noSuchNode(err)
	}
	out := oapi.GetNodeConfig200JSONResponse{
		Node: conf.Node.ID, State: oapi.NodeState(conf.Node.State), Settled: int64(conf.Node.Settled), Revision: int64(conf.Revision),
		UserAgent: optional(conf.Node.UserAgent), Version: optional(conf.Node.Version), Protocol: optional(conf.Node.Protocol),
		Frozen: frozenOf(conf.Node), LabelsUnknown: optional(!known),
	}
	target := targetOf(conf)
	out.Items = each(conf.Resources, func(r store.NodeResource) oapi.NodeResource {
		return nodeResourceOf(r, target.Types[r.Type].Get(r.Name), conf.Node)
	})
	if deref(r.Params.Bodies) {
		if out.Items, err = a.addBodies(ctx, c, r.Node, out.Items); err != nil {
			return nil, err
		}
	}
	if told := len(out.Items); conf.More || told < len(conf.Resources) {
		last := conf.Resources[told-1]
		out.NextCursor = next(cursor{List: "node-config", Type: last.Type.Slug(), Name: last.Name})
	}
	return out, nil
}

// targetOf is what the node should hold of a page, by the code that the xDS servers serve
// it with. Nothing in it has a body.
func targetOf(conf store.NodeConfig) *snapshot.Target {
	snap := &snapshot.Snapshot{Revision: conf.Revision}
	var exceptions []snapshot.Exception
	for _, r := range conf.Resources {
		present := bodiless(r, r.Present)
		snap.Types[r.Type] = snap.Types[r.Type].With(present)
		if r.Refusal == nil {
			continue
		}
		e := snapshot.Exception{Type: r.Type, Refused: present}
		switch {
		case r.Good.Version != "":
			e.Good = bodiless(r, r.Good)
		case !r.Refusal.KeptBack():
			continue // nothing was done about it
		}
		exceptions = append(exceptions, e)
	}
	return snapshot.NewTarget(snap, exceptions)
}

func bodiless(r store.NodeResource, v store.NodeVersion) *snapshot.Resource {
	return snapshot.NewResource(r.Type, fleet.Row{Type: r.Type, Name: r.Name, Version: v.Version, Revision: v.Revision}, nil)
}

// withheldFrom tells for what the node is without the fleet's version because it is not there: that counts as
// settled. It still is of a node that has gone meanwhile.
func withheldFrom(n store.NodeView, ref fleet.Ref) (by []fleet.Ref) {
	for _, w := range slices.Concat(n.Waits.Withheld, n.Last.Withheld) {
		if w.Ref == ref && !slices.Contains(by, w.By) { // a version and the one before it may wait for the same
			by = append(by, w.By)
		}
	}
	return by
}

// nodeResourceOf tells of one resource; held is what the node should hold of it, nil for
// nothing.
func nodeResourceOf(r store.NodeResource, held *snapshot.Resource, n store.NodeView) oapi.NodeResource {
	out := oapi.NodeResource{Type: oapi.ResourceType(r.Type.Slug()), Name: r.Name, Variant: optional(r.Variant)}
	inForce := r.Present
	switch {
	case held == nil:
		out.State, inForce = oapi.NodeResourceStateAbsent, store.NodeVersion{}
	case r.Refusal != nil:
		out.State, inForce = oapi.NodeResourceStateRefused, r.Good
	case n.Settled >= held.Revision && len(withheldFrom(n, fleet.Ref{Type: r.Type, Name: r.Name})) == 0:
		out.State = confirmedState(r, n)
	default:
		out.State = oapi.NodeResourceStatePending
	}
	out.Version, out.Revision = optional(inForce.Version), optional(int64(inForce.Revision))
	if f := r.Refusal; f != nil {
		out.RefusedVersion, out.RefusedRevision = optional(f.Version), optional(int64(f.Revision))
		out.Detail, out.Since = wordsOf(f.Detail), optionalTime(f.At)
		last := cmp.Or(r.GoodRefused, f)
		out.Action, out.ActionCode = optional(actionWords(last.Action, last.Beside)), actionCode(last.Action)
	}
	if len(r.Keeps) > 0 {
		keeps := each(r.Keeps, refOf)
		out.Keeps = &keeps
	}
	if inForce.TTL > 0 {
		ttl, word := ttlText(inForce.TTL), ttlFor(r.Type, n)
		out.Ttl, out.TtlDetail = &ttl, &word.why
		if word.known {
			out.TtlSent = &word.sent
		}
	}
	return out
}
