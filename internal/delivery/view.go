package delivery

import (
	"time"

	"fairlead/internal/fleet"
)

// View says that the stream's node has another view since the selectors changed.
func (s *Stream) View(id string) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed || s.node.row.View == id {
		return
	}
	s.node.row.View, s.node.dirty = id, true
	f.roster.check(s.node)
	f.wake(time.Now())
}

// maxLabels is the most that is told of a node's metadata, in bytes of JSON: more is not kept
// until it is told. The sink measures it once more, in the form in which it is stored.
const maxLabels = 16 << 10

// labelsOf is what is told of a node's labels. Metadata that is too large is left out as a
// whole: the preview of a selector would rather miss a node than be wrong about it.
func labelsOf(n fleet.Node) *fleet.NodeLabels {
	l := &fleet.NodeLabels{
		Region: plain(n.Region, maxNodeText), Zone: plain(n.Zone, maxNodeText), SubZone: plain(n.SubZone, maxNodeText),
		MetadataJSON: n.MetadataJSON, Contrib: n.Contrib,
	}
	if len(n.MetadataJSON) > maxLabels {
		l.MetadataJSON, l.Cut = nil, true
	}
	return l
}
