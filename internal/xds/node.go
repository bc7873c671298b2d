package xds

import (
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"unicode"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
)

// maxMetadata is the most that a node's metadata may take, in bytes of JSON.
const maxMetadata = 64 << 10

// pinnedNode is the node of a stream's first request. A later one must be the same:
// "only the first request on a stream is guaranteed to carry the node identifier".
type pinnedNode struct {
	node fleet.Node
	hash uint64 // of the bytes last seen, by nodeSeed
	// same is of the node in one fixed encoding: the node itself may take 61 kB, and what of
	// it matters is in node.
	same [32]byte
}

// nodeSeed is of this process alone: nobody finds two nodes with one hash. An Envoy reports its node, of 61 kB, each time.
var nodeSeed = maphash.MakeSeed()

// pin decodes the node of a first request.
func pin(encoded []byte) (pinnedNode, error) {
	if encoded == nil {
		return pinnedNode{}, fmt.Errorf("the first request of a stream must carry a node with an id: set node.id in the bootstrap: %w", fleet.ErrInvalid)
	}
	n, err := decodeNode(encoded)
	if err != nil {
		return pinnedNode{}, err
	}
	if n.GetId() == "" {
		return pinnedNode{}, fmt.Errorf("node.id is empty: set node.id in the bootstrap (or --service-node): %w", fleet.ErrInvalid)
	}
	if err := checkTexts(n); err != nil {
		return pinnedNode{}, err
	}
	metadata, err := readMetadata(n)
	if err != nil {
		return pinnedNode{}, err
	}
	same, err := fixed(n)
	if err != nil {
		return pinnedNode{}, err
	}
	return pinnedNode{
		hash: maphash.Bytes(nodeSeed, encoded),
		same: same,
		node: fleet.Node{
			ID:            n.GetId(),
			Cluster:       n.GetCluster(),
			UserAgent:     n.GetUserAgentName(),
			Version:       userAgentVersion(n),
			Region:        n.GetLocality().GetRegion(),
			Zone:          n.GetLocality().GetZone(),
			SubZone:       n.GetLocality().GetSubZone(),
			MetadataJSON:  metadata,
			ClientFeature: features(n.GetClientFeatures()),
			Contrib:       contribOf(encoded),
		},
	}, nil
}

// check refuses a node that is not the pinned one. Equal bytes cost a hash; others are
// decoded, since a map's order may have changed.
func (p *pinnedNode) check(encoded []byte) error {
	hash := maphash.Bytes(nodeSeed, encoded)
	if hash == p.hash {
		return nil
	}
	n, err := decodeNode(encoded)
	if err != nil {
		return err
	}
	same, err := fixed(n)
	if err != nil {
		return err
	}
	if same != p.same {
		return fmt.Errorf("the node changed within the stream: open a new stream for another node: %w", fleet.ErrForbidden)
	}
	p.hash = hash
	return nil
}

// fixed hashes a node whatever the order of its maps.
func fixed(n *corev3.Node) ([32]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	if err != nil {
		return [32]byte{}, fmt.Errorf("the node of the request cannot be read: %w", fleet.ErrInvalid)
	}
	return sha256.Sum256(b), nil
}

// maxText is the most that a text of a node may take, in bytes: it is kept, logged and
// stored.
const maxText = 512

func checkTexts(n *corev3.Node) error {
	l := n.GetLocality()
	for _, x := range []struct{ field, text string }{
		{"node.id", n.GetId()}, {"node.cluster", n.GetCluster()}, {"node.user_agent_name", n.GetUserAgentName()},
		{"node.user_agent_version", n.GetUserAgentVersion()},
		{"node.locality.region", l.GetRegion()}, {"node.locality.zone", l.GetZone()}, {"node.locality.sub_zone", l.GetSubZone()},
	} {
		switch {
		case len(x.text) > maxText:
			return tooLargef("%s takes %d bytes, %d is the limit", x.field, len(x.text), maxText)
		case strings.ContainsFunc(x.text, unicode.IsControl):
			return fmt.Errorf("%s holds a control character: %w", x.field, fleet.ErrInvalid)
		}
	}
	return nil
}

// maxNode is the most bytes of a node without what is dropped: an empty element of a list takes
// two of them, and a hundred and more in memory.
const maxNode = 256 << 10

// Field numbers of what is dropped of a Node. Envoy's 516 extensions are most of its bytes.
const nodeExtensions, nodeAddresses, nodeParameters = 9, 11, 12

var errNode = fmt.Errorf("the node of the request cannot be decoded: %w", fleet.ErrInvalid)

func decodeNode(encoded []byte) (*corev3.Node, error) {
	kept, err := keptOfNode(encoded)
	if err != nil {
		return nil, err
	}
	n := &corev3.Node{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: 64}).Unmarshal(kept, n); err != nil {
		return nil, errNode
	}
	return n, nil
}

// keptOfNode takes out of an encoded node what is dropped, before anything is decoded.
func keptOfNode(encoded []byte) ([]byte, error) {
	size := 0
	if err := eachKept(encoded, func(field []byte) { size += len(field) }); err != nil {
		return nil, err
	}
	if size > maxNode {
		return nil, tooLargef("the node takes %d bytes without its extensions, %d is the limit", size, maxNode)
	}
	kept := make([]byte, 0, size)
	err := eachKept(encoded, func(field []byte) { kept = append(kept, field...) })
	return kept, err
}

// eachKept calls f for every field of an encoded node that is not dropped.
func eachKept(encoded []byte, f func(field []byte)) error {
	for len(encoded) > 0 {
		num, _, n := protowire.ConsumeField(encoded)
		if n < 0 {
			return errNode
		}
		if num != nodeExtensions && num != nodeAddresses && num != nodeParameters {
			f(encoded[:n])
		}
		encoded = encoded[n:]
	}
	return nil
}

// Fields of a Node, and of an Extension, of which it lists those of its build.
const (
	nodeExtension     tag = nodeExtensions<<3 | tag(protowire.BytesType)
	extensionName     tag = 1<<3 | tag(protowire.BytesType)
	extensionDisabled tag = 5<<3 | tag(protowire.VarintType)
	extensionType     tag = 6<<3 | tag(protowire.BytesType)
)

// contribOf reads which extensions of contrib a node lists. What cannot be read tells nothing; nothing of the list is kept.
func contribOf(node []byte) (has fleet.Contrib) {
	_ = eachField(node, func(f field) error {
		if f.tag == nodeExtension {
			has |= contribIn(f.bytes)
		}
		return nil
	})
	return has
}

// contribIn is what one extension tells. One that the process was told not to use is not there.
func contribIn(extension []byte) (told fleet.Contrib) {
	disabled := false
	_ = eachField(extension, func(f field) error {
		switch f.tag {
		case extensionName:
			told |= envoyversion.ContribOfName(f.bytes)
		case extensionType:
			told |= fleet.ContribTold | envoyversion.ContribOfType(f.bytes)
		case extensionDisabled:
			disabled = f.n != 0
		}
		return nil
	})
	if disabled {
		told &= fleet.ContribTold
	}
	return told
}

// features are those of a client's that matter here, each once: they are kept as long as the
// stream lives.
func features(all []string) (known []string) {
	for _, f := range []string{featureWrapped, featureTTL} {
		if slices.Contains(all, f) {
			known = append(known, f)
		}
	}
	return known
}

func userAgentVersion(n *corev3.Node) string {
	if v := n.GetUserAgentVersion(); v != "" {
		return v
	}
	v := n.GetUserAgentBuildVersion().GetVersion()
	if v == nil {
		return ""
	}
	return strconv.FormatUint(uint64(v.GetMajorNumber()), 10) + "." + strconv.FormatUint(uint64(v.GetMinorNumber()), 10) +
		"." + strconv.FormatUint(uint64(v.GetPatch()), 10)
}
