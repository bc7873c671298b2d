package findings

import (
	"fmt"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// variants finds those that no node gets, and those that nothing but their names tells apart.
func (c *checker) variants() {
	for _, n := range c.order {
		if !c.on() {
			return
		}
		if len(n.variants) == 1 && n.fallback() {
			continue
		}
		c.ties(n)
		if len(c.Nodes) == 0 || c.NodesCut {
			continue
		}
		c.wins(n, func(v *variant, matched, won int) {
			switch {
			case matched == 0:
				c.add(v, Finding{Code: VariantUnmatched, Severity: Warning, Pointer: "/selector", Detail: fmt.Sprintf(
					"the selector of %s, %q, %s: compare it with the nodes' labels, or delete the variant", v.named(), v.Selector, matchesNone(len(c.Nodes)))})
			case won == 0:
				c.add(v, Finding{Code: VariantShadowed, Severity: Warning, Pointer: "/priority", Nodes: matched, Detail: fmt.Sprintf(
					"no node gets %s: others that come first match all the %d nodes that its selector matches; give it a higher priority, or delete it", v.named(), matched)})
			}
		})
		for _, v := range n.variants {
			v.won = nil // it is as large as there are views
		}
	}
}

// matchesNone says that of so many nodes.
func matchesNone(nodes int) string {
	if nodes == 1 {
		return "does not match the fleet's only node"
	}
	return fmt.Sprintf("matches none of the fleet's %d nodes", nodes)
}

// maxRivals bounds with how many variants of its name and priority each one is compared.
const maxRivals = 100

// ties finds variants of one priority that a node may match both.
func (c *checker) ties(n *name) {
	byPriority := map[int32][]*variant{}
	for _, v := range n.variants {
		if !c.on() {
			return
		}
		if v.Variant == "" {
			continue
		}
		group := byPriority[v.Priority]
		byPriority[v.Priority] = append(group, v)
		var rivals []*variant
		for _, o := range group[:min(len(group), maxRivals)] {
			if !v.selector.IsZero() && !o.selector.IsZero() && !selector.Disjoint(v.selector, o.selector) {
				rivals = append(rivals, o)
			}
		}
		if len(rivals) > 0 {
			c.add(v, tie(v, rivals))
		}
	}
}

// tie is about the variant that loses: its rivals' names sort before its own.
func tie(v *variant, rivals []*variant) Finding {
	var names []string
	for _, o := range rivals[:min(len(rivals), 5)] {
		names = append(names, fmt.Sprintf("%q", o.Variant))
	}
	return Finding{Code: VariantTie, Severity: Warning, Pointer: "/priority", To: rivals[0].Ref, ToVariant: rivals[0].Variant, Detail: fmt.Sprintf(
		"the variant %q and %s of %s have the same priority, %d: a node that more than one of them matches gets the one whose name sorts first, not %q; give one a higher priority, or selectors that exclude each other",
		v.Variant, strings.Join(names, ", "), called(v.Ref), v.Priority, v.Variant)}
}

// staticClusters finds clusters that the proxies have already.
func (c *checker) staticClusters() {
	for s := range c.static {
		n := c.names[fleet.Ref{Type: fleet.Cluster, Name: s}]
		if n == nil {
			continue
		}
		for _, v := range n.variants {
			c.add(v, Finding{Code: StaticCluster, Severity: Warning, Detail: fmt.Sprintf(
				"the fleet's static_clusters say that %s stands in the proxies' bootstrap: Envoy keeps that one and ignores this; give it another name, or take it off the list", v.named())})
		}
	}
}
