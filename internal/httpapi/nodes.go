package httpapi

import (
	"context"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/redact"
	"fairlead/internal/store"
)

// ListNodes implements listNodes.
func (a *API) ListNodes(ctx context.Context, c *call, r oapi.ListNodesRequestObject) (oapi.ListNodesResponseObject, error) {
	from, err := parseCursor("nodes", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	if r.Params.Selector != nil || r.Params.State != nil || r.Params.Prefix != nil || deref(r.Params.Count) {
		list, err := a.matchingNodes(ctx, c, r.Params, from.Name)
		return oapi.ListNodes200JSONResponse(list), err
	}
	nodes, more, err := a.store.Nodes(ctx, c.tenant.ID, c.fleet.ID, from.Name, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	out := oapi.ListNodes200JSONResponse{Items: each(nodes, nodeOf)}
	if more {
		out.NextCursor = next(cursor{List: "nodes", Name: nodes[len(nodes)-1].ID})
	}
	return out, nil
}

// GetNode implements getNode.
func (a *API) GetNode(ctx context.Context, c *call, r oapi.GetNodeRequestObject) (oapi.GetNodeResponseObject, error) {
	if err := text("node", r.Node); err != nil {
		return nil, err
	}
	n, err := a.store.Node(ctx, c.tenant.ID, c.fleet.ID, r.Node)
	if err != nil {
		return nil, noSuchNode(err)
	}
	labels, err := a.store.OneNodeLabels(ctx, c.tenant.ID, c.fleet.ID, r.Node)
	if err != nil {
		return nil, noSuchNode(err)
	}
	out := nodeOf(n)
	l := nodeLabelsOf(labels)
	out.Labels, out.LabelsUnknown = &l, optional(!labels.Known)
	out.OldBootstrap = optional(labels.Known && findings.RunsOldBootstrap(labels.Node))
	return oapi.GetNode200JSONResponse(out), nil
}

func nodeOf(n store.NodeView) oapi.Node {
	out := oapi.Node{
		Id: n.ID, State: oapi.NodeState(n.State), Settled: int64(n.Settled), Cluster: optional(n.Cluster),
		UserAgent: optional(n.UserAgent), Version: optional(n.Version), Protocol: optional(n.Protocol),
		Server: optional(n.Server), Streams: optional(n.Streams), Connections: optional(n.Connections), Duplicates: optional(n.Duplicates), RemoteAddr: optional(n.RemoteAddr),
		FirstSeen: n.FirstSeen, LastSeen: n.LastSeen, Since: optionalTime(n.Since), Refusals: each(n.Refusals, refusalOf),
		Frozen: frozenOf(n), Subscribes: subscribesOf(n.Subscribes),
	}
	if !n.Waits.Empty() {
		waits := waitsOf(n.Waits, standing(n.Refusals))
		out.Waits = &waits
	}
	if n.Credential != (fleet.CredentialID{}) {
		id := n.Credential.String()
		out.Credential, out.CredentialExpiresAt = &id, optionalTime(n.CredentialEnds)
	}
	return out
}

func refusalOf(r fleet.Refusal) oapi.Refusal {
	out := oapi.Refusal{
		Type: oapi.ResourceType(r.Type.Slug()), Name: r.Name, Version: r.Version, Revision: int64(r.Revision), Detail: redact.Keys(r.Detail),
		Action: optional(actionWords(r.Action, r.Beside)), ActionCode: actionCode(r.Action), At: r.At, ResolvedAt: optionalTime(r.Ended), Ended: optional(oapi.RefusalEnd(r.End.String())),
		ResolvedBy: resolvedBy(r.End, r.By), StandsIn: optional(r.Good),
	}
	if r.Stands() {
		lifted := liftedBy(r)
		out.LiftedBy = &lifted
	}
	return out
}

// resolvedBy is the revision that ended a refusal, if one did.
func resolvedBy(how fleet.End, by fleet.Revision) *int64 {
	if how != fleet.EndReplaced {
		return nil
	}
	return optional(int64(by))
}

// liftedBy is what would end a refusal (SEMANTICS 3.6), in words.
func liftedBy(r fleet.Refusal) string {
	switch {
	case r.Action == fleet.ActionFrozen:
		return "another version of it, another stream of the node, or retry"
	case r.Name == "":
		return "another version of what it refused, or retry"
	case r.Rival.Name != "":
		return "another version of it, or of " + r.Type.Slug() + "/" + r.Rival.Name + ", or retry"
	case r.Lacked != "":
		return "another version of it, or clusters/" + r.Lacked + ", which it was not given, or retry"
	}
	return "another version of it, or retry"
}

// standing are the resources that are refused at present.
func standing(rs []fleet.Refusal) (refs []fleet.Ref) {
	for _, r := range rs {
		if r.Stands() {
			refs = append(refs, fleet.Ref{Type: r.Type, Name: r.Name})
		}
	}
	return refs
}

// frozenOf is nil where nothing is frozen.
func frozenOf(n store.NodeView) *[]oapi.ResourceType {
	if len(n.Frozen) == 0 {
		return nil
	}
	types := each(n.Frozen, func(t fleet.Type) oapi.ResourceType { return oapi.ResourceType(t.Slug()) })
	return &types
}
