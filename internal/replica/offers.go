package replica

import (
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// offer is the last one of a node that is known here: what ends ends with it.
type offer struct {
	node   *node
	by     fleet.Revision // the newest
	number fleet.Offer
}

func (ns *nodes) offer(n *node) offer { return offer{n, ns.views.content.revision, n.offer} }

// refused is the offer in which the node refuses something now: above all that were counted at earlier revisions. What only ends is in none of those
// of its revision: the node may have been in them on another server already, and have refused the version anew.
func (o offer) refused() offer {
	o.node.offer = max(o.node.offer, refusal.FirstOffer(o.by))
	o.number = o.node.offer
	return o
}

// over begins the node's next offer.
func (o offer) over() { o.node.offer = max(o.node.offer, o.number+1) }

// end is the end of all that the node has refused of a version.
func (o offer) end(k refusal.Key, how fleet.End) fleet.Refusal {
	o.over()
	return fleet.Refusal{Node: o.node.id, Type: k.Type, Name: k.Name, Version: k.Version, Offer: o.number, By: o.by, End: how}
}
