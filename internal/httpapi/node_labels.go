package httpapi

import (
	"context"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/selector"
	"fairlead/internal/store"
)

// maxScan is how many nodes a page looks at for those that it is to list. A page that
// comes to its end says where to go on.
const maxScan = 10_000

// matchingNodes lists the nodes after the given id that pass every filter.
func (a *API) matchingNodes(ctx context.Context, c *call, p oapi.ListNodesParams, after string) (out oapi.NodeList, err error) {
	prefix, err := prefixOf(p.Prefix)
	if err != nil {
		return out, err
	}
	look := a.nodesInState(c, prefix, p.State)
	if p.Selector != nil {
		sel, err := selector.Parse(*p.Selector)
		if err != nil {
			return out, badParameter("selector", "selector_invalid", fleet.Sentence(err))
		}
		look = a.nodesSelected(c, sel, prefix, p.State)
	}
	s := scan{last: after, limit: pageLimit(p.Limit), count: deref(p.Count), more: true}
	if err := s.run(ctx, look); err != nil {
		return out, err
	}
	nodes, err := a.store.NodesOf(ctx, c.tenant.ID, c.fleet.ID, s.found)
	if err != nil {
		return out, err
	}
	out = oapi.NodeList{Items: each(nodes, nodeOf), LabelsUnknown: optional(s.unknown)}
	if s.count {
		out.Matches, out.MatchesCut = &s.matches, optional(s.more)
	}
	if s.more || s.behind {
		out.NextCursor = next(cursor{List: "nodes", Name: s.last})
	}
	return out, nil
}

// scan looks for the nodes of a page, and on if it counts.
type scan struct {
	limit  int
	count  bool
	found  []string
	last   string // that the page has come to
	behind bool   // nodes behind it were looked at already
	more   bool   // than were looked at

	unknown, matches int
}

// run looks until the page is full, or all are counted, or at maxScan nodes.
func (s *scan) run(ctx context.Context, look func(ctx context.Context, after string) ([]candidate, bool, error)) (err error) {
	s.found = []string{}
	after := s.last
	for scanned := 0; s.more && (s.count || len(s.found) < s.limit) && scanned < maxScan; {
		var nodes []candidate
		if nodes, s.more, err = look(ctx, after); err != nil {
			return err
		}
		for _, n := range nodes {
			after = n.id
			scanned++
			s.take(n)
		}
	}
	return nil
}

func (s *scan) take(n candidate) {
	full := len(s.found) == s.limit
	if n.listed {
		s.matches++
	}
	switch {
	case full:
		s.behind = true
		return
	case n.unknown:
		s.unknown++
	case n.listed:
		s.found = append(s.found, n.id)
	}
	s.last = n.id
}

// candidate is a node that a page looks at.
type candidate struct {
	id      string
	listed  bool
	unknown bool // its labels are not known
}

// nodesInState looks at the nodes with the prefix, and lists those in the state; nil is any.
func (a *API) nodesInState(c *call, prefix string, state *oapi.NodeState) func(ctx context.Context, after string) ([]candidate, bool, error) {
	return func(ctx context.Context, after string) ([]candidate, bool, error) {
		nodes, more, err := a.store.NodeStates(ctx, c.tenant.ID, c.fleet.ID, prefix, after, 1000)
		return each(nodes, func(n store.NodeState) candidate {
			return candidate{id: n.ID, listed: state == nil || n.State == string(*state)}
		}), more, err
	}
}

// nodesSelected does the same of those that the selector matches.
func (a *API) nodesSelected(c *call, sel selector.Selector, prefix string, state *oapi.NodeState) func(ctx context.Context, after string) ([]candidate, bool, error) {
	inState := a.nodesInState(c, prefix, state)
	return func(ctx context.Context, after string) ([]candidate, bool, error) {
		nodes, more, err := inState(ctx, after)
		if err != nil || len(nodes) == 0 {
			return nodes, more, err
		}
		labels, err := a.store.LabelsOf(ctx, c.tenant.ID, c.fleet.ID, nodes[0].id, nodes[len(nodes)-1].id)
		if err != nil {
			return nil, false, err
		}
		for i, n := range nodes {
			l, ok := labels[n.id]
			nodes[i].unknown = n.listed && (!ok || !l.Known)
			nodes[i].listed = n.listed && !nodes[i].unknown && sel.Match(l.Node)
		}
		return nodes, more, nil
	}
}

// nodeConfig reads a page of what a node should hold, and which variants its labels choose,
// both of one revision unless the fleet changes all the time; known: all its labels are.
func (a *API) nodeConfig(ctx context.Context, c *call, node string, q store.ConfigFilter) (conf store.NodeConfig, known bool, err error) {
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
