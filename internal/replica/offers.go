package replica

import (
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// offer is the one that a node is in: what it refuses it refuses in that, and what ends ends with it.
type offer struct {
	node   *node
	by     fleet.Revision // the newest
	number fleet.Offer
}

func (ns *nodes) offer(n *node) offer {
	by := ns.views.content.revision
	n.offer = max(n.offer, refusal.FirstOffer(by))
	return offer{n, by, n.offer}
}

// over begins the node's next offer.
func (o offer) over() { o.node.offer = max(o.node.offer, o.number+1) }

// end is the end of all that the node has refused of a version.
func (o offer) end(k refusal.Key, how fleet.End) fleet.Refusal {
	o.over()
	return fleet.Refusal{Node: o.node.id, Type: k.Type, Name: k.Name, Version: k.Version, Offer: o.number, By: o.by, End: how}
}
