package httpapi

import (
	"context"
	"fmt"

	"fairlead/internal/compute"
	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/redact"
)

// mostTopology is how many names a graph has where nothing else is asked.
const mostTopology = 1000

// GetTopology implements getTopology. It costs what the findings cost but for the nodes: of what is known
// nothing but the resources that changed is read.
func (a *API) GetTopology(ctx context.Context, c *call, r oapi.GetTopologyRequestObject) (oapi.GetTopologyResponseObject, error) {
	p := r.Params
	var focus *fleet.Ref
	switch {
	case p.Type != nil && p.Name != nil:
		focus = &fleet.Ref{Type: typeOf(*p.Type), Name: *p.Name}
	case p.Type != nil:
		return nil, badParameter("name", "required", "a focus is a type and a name: give both, or neither")
	case p.Name != nil:
		return nil, badParameter("type", "required", "a focus is a type and a name: give both, or neither")
	}
	most := mostTopology
	if p.Most != nil {
		most = *p.Most
	}
	resources, at, err := a.facts.Read(ctx, a.store, keyOf(c), func() {})
	if err != nil {
		return nil, err
	}
	f := findings.Fleet{Resources: resources, StaticClusters: append([]string{findings.BootstrapCluster}, c.fleet.StaticClusters...), PrivateClusters: c.fleet.PrivateClusters}
	var g findings.Graph
	there := false
	kind := compute.Small
	if len(resources) > largeCount {
		kind = compute.Large
	}
	err = a.compute(ctx, c, kind, func(step func() error) (err error) {
		f.Step = step
		g, there, err = findings.GraphOf(f, focus, most)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, errMissing(oapi.MissingResource, fmt.Sprintf("the fleet has no %s, and nothing names it", resourceWords(focus.Type, shortened(focus.Name, maxName), "")))
	}
	return oapi.GetTopology200JSONResponse{
		Revision: int64(at), MoreResources: g.MoreNames, MoreEdges: g.MoreEdges,
		Resources: each(g.Names, topologyResource), Edges: each(g.Edges, topologyEdge),
	}, nil
}

func topologyResource(n findings.GraphName) oapi.TopologyResource {
	return oapi.TopologyResource{
		Type: oapi.ResourceType(n.Type.Slug()), Name: redact.Keys(n.Name), State: oapi.TopologyState(n.State), Variants: n.Variants, AnyCluster: optional(n.AnyCluster),
	}
}

func topologyEdge(e findings.GraphEdge) oapi.TopologyEdge {
	return oapi.TopologyEdge{From: e.From, To: e.To, Variant: optional(e.Variant), Pointer: optional(e.Pointer), Mentions: e.Mentions}
}
