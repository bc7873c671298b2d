package replica

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// exclude refuses a stream of a client whose node id another one has here, if the fleet
// wants that.
func (ns *nodes) exclude(id, kind string) error {
	n := ns.byID[id]
	if n == nil {
		return nil
	}
	for x := range n.streams {
		if collide(x.kind, kind) {
			return taken(id, kind, "")
		}
	}
	return nil
}

// excludeElsewhere is exclude for streams on other servers, as far as the database knows:
// whether one lives is told within a second or two, and while the database is away nobody is
// refused. past is what it told of the node, nil if it was not asked.
func (o *owner) excludeElsewhere(ctx context.Context, id string, s xds.StreamInfo, past *nodePast) error {
	kind := s.Protocol
	if h := o.held.Load(); h == nil || !h.exclusive || !single(kind) { // the last: of these an Envoy has thousands
		return nil
	}
	var as []string
	if past != nil {
		as = past.LiveAs
	} else if asked, err := o.askAside(ctx, s, fleet.AskedNode{Node: id, Without: o.r.cfg.Recorder.Server()}); err == nil {
		as = asked.LiveAs
	}
	if slices.ContainsFunc(as, func(other string) bool { return collide(other, kind) }) {
		return taken(id, kind, " on another server")
	}
	return nil
}

// collide reports whether one client has not both streams: they are of the same service,
// be it in either protocol, and of one of which a client has a single stream.
func collide(a, b string) bool { return service(a) == service(b) && single(a) }

// single reports whether a client has one stream of the kind at most. For types that are asked
// for by names an Envoy opens a stream for each.
func single(kind string) bool {
	return slices.Contains([]string{"ADS", "CDS", "LDS", "SRDS"}, service(kind))
}

func service(kind string) string { return kind[strings.LastIndexByte(kind, ' ')+1:] }

func taken(id, kind, where string) error {
	return fmt.Errorf("a client with the node id %q has a stream (%s)%s, and node_ids of this fleet is exclusive: give each client an id of its own; "+
		"if it was this client's own connection that broke, it is let in within 40 s, when that has been noticed: %w", id, kind, where, fleet.ErrForbidden)
}
