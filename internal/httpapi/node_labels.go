package httpapi

import (
	"context"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/selector"
	"fairlead/internal/store"
)

// maxScan is how many nodes a page looks at for those that a selector matches. A page that
// comes to its end says where to go on.
const maxScan = 10_000

// matchingNodes lists the nodes after the given id that the selector matches.
func (a *API) matchingNodes(ctx context.Context, text, after string, limit int) (out oapi.NodeList, err error) {
	sel, err := selector.Parse(text)
	if err != nil {
		return out, badParameter("selector", "selector_invalid", fleet.Sentence(err))
	}
	c := callOf(ctx)
	found, unknown, more := []string{}, 0, true
	for scanned := 0; more && len(found) < limit && scanned < maxScan; {
		var nodes []store.LabeledNode
		if nodes, more, err = a.store.NodeLabels(ctx, c.tenant.ID, c.fleet.ID, after, 1000); err != nil {
			return out, err
		}
		for i, n := range nodes {
			after = n.ID
			scanned++
			if !n.Known {
				unknown++
			} else if sel.Match(n.Node) {
				found = append(found, n.ID)
			}
			if len(found) == limit {
				more = more || i < len(nodes)-1
				break
			}
		}
	}
	nodes, err := a.store.NodesOf(ctx, c.tenant.ID, c.fleet.ID, found)
	if err != nil {
		return out, err
	}
	out = oapi.NodeList{Items: each(nodes, nodeOf), LabelsUnknown: optional(unknown)}
	if more {
		out.NextCursor = next(cursor{List: "nodes", Name: after})
	}
	return out, nil
}

// nodeConfig reads a page of what a node should hold, and which variants its labels choose,
// both of one revision unless the fleet changes all the time; known: all its labels are.
func (a *API) nodeConfig(ctx context.Context, node string, q store.ConfigFilter) (conf store.NodeConfig, known bool, err error) {
	c := callOf(ctx)
	labels, err := a.store.OneNodeLabels(ctx, c.tenant.ID, c.fleet.ID, node)
	if err != nil {
		return conf, false, err
	}
	for range 5 {
		rows, at, err := a.store.Variants(ctx, c.tenant.ID, c.fleet.ID, nil)
		if err != nil {
			return conf, false, err
		}
		q.Choices = choicesOf(labels.Node, rows)
		conf, err = a.store.NodeConfig(ctx, c.tenant.ID, c.fleet.ID, node, q)
		if err != nil || conf.Revision == at {
			return conf, labels.Known, err
		}
	}
	return conf, labels.Known, nil
}
