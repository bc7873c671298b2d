package xds

import (
	"bytes"
	"container/heap"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

// maxDepth is how deep messages of a request may be nested.
const maxDepth = 64

// jsonNode is the node of a poll.
type jsonNode struct {
	hash    [sha256.Size]byte // of its JSON
	id      string
	encoded []byte // as protobuf, without what is dropped
}

// jsonNodes are nodes that came lately, by their credentials. An Envoy's takes 77 kB, and stands in each of its polls: it is read once.
type jsonNodes struct {
	mu   sync.Mutex // guards what follows
	of   map[fleet.CredentialID]*ownNodes
	most bySize
	size int // of all
}

// ownNodes are those of a credential.
type ownNodes struct {
	whose fleet.CredentialID
	known map[[sha256.Size]byte]*jsonNode
	size  int
	place int // in bySize
}

// bySize is a heap of those of all credentials, the largest first. Thousands of credentials may have few nodes each, and the lock is one for all.
type bySize []*ownNodes

func (h bySize) Len() int           { return len(h) }
func (h bySize) Less(i, j int) bool { return h[i].size > h[j].size }
func (h bySize) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *bySize) Push(own any) {
	own.(*ownNodes).place = len(*h)
	*h = append(*h, own.(*ownNodes))
}

func (h *bySize) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}

// maxNodes is what the nodes that are known may take, in bytes. Then those are forgotten of the credential that has most: one whose polls have ever new nodes has its
// own forgotten.
const maxNodes = 32 << 20

// read reads a node in JSON.
func (ns *jsonNodes) read(whose fleet.CredentialID, raw []byte) (*jsonNode, error) {
	hash := sha256.Sum256(raw)
	if n := ns.lookUp(whose, hash); n != nil {
		return n, nil
	}
	n := &jsonNode{hash: hash}
	if err := n.read(raw); err != nil {
		return nil, err
	}
	ns.keep(whose, n)
	return n, nil
}

func (ns *jsonNodes) keep(whose fleet.CredentialID, n *jsonNode) {
	const entry, share = 256, 1024 // what stands beside a node, and beside those of a credential
	ns.mu.Lock()
	defer ns.mu.Unlock()
	for ns.size > 0 && ns.size+len(n.encoded)+entry+share > maxNodes {
		most := heap.Pop(&ns.most).(*ownNodes)
		ns.size -= most.size
		delete(ns.of, most.whose)
	}
	if ns.of == nil {
		ns.of = make(map[fleet.CredentialID]*ownNodes)
	}
	own := ns.of[whose]
	if own == nil {
		own = &ownNodes{whose: whose, known: make(map[[sha256.Size]byte]*jsonNode), size: share}
		ns.of[whose] = own
		heap.Push(&ns.most, own)
		ns.size += share
	}
	if own.known[n.hash] == nil { // else it was read twice at once
		own.known[n.hash] = n
		own.size, ns.size = own.size+len(n.encoded)+entry, ns.size+len(n.encoded)+entry
		heap.Fix(&ns.most, own.place)
	}
}

func (ns *jsonNodes) lookUp(whose fleet.CredentialID, hash [sha256.Size]byte) *jsonNode {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if own := ns.of[whose]; own != nil {
		return own.known[hash]
	}
	return nil
}

// knownIn finds the node of a poll whose very bytes were read before, and returns the poll with null in its place: reading it as JSON each time was most of what an
// Envoy's poll cost. nil: it is to be read.
func (ns *jsonNodes) knownIn(whose fleet.CredentialID, body []byte) (*jsonNode, []byte) {
	from, to := objectMember(body, "node")
	if to == 0 {
		return nil, body
	}
	n := ns.lookUp(whose, sha256.Sum256(body[from:to]))
	if n == nil {
		return nil, body
	}
	return n, slices.Concat(body[:from], []byte("null"), body[to:])
}

func (n *jsonNode) read(raw []byte) error {
	kept, err := without(raw, "extensions", "listening_addresses", "listeningAddresses", "dynamic_parameters", "dynamicParameters")
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	if len(kept) > maxNode {
		return fmt.Errorf("node: it takes %d bytes without its extensions, %d is the limit: %w", len(kept), maxNode, fleet.ErrLimit)
	}
	var message corev3.Node
	if err := fromJSON(kept, &message); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	n.id = message.GetId()
	n.encoded, err = proto.MarshalOptions{Deterministic: true}.Marshal(&message)
	if err != nil {
		return errNode
	}
	return nil
}

// fromJSON ignores fields that are not known, as gRPC does: a newer Envoy has some. An error names the field.
func fromJSON(b []byte, m proto.Message) error {
	into := protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth}
	err := into.Unmarshal(b, m)
	if err == nil {
		return nil
	}
	field := ""
	_ = eachMember(b, func(name string, value json.RawMessage) error {
		key, _ := json.Marshal(name) // a text is never refused
		if field == "" && into.Unmarshal(slices.Concat([]byte{'{'}, key, []byte{':'}, value, []byte{'}'}), m.ProtoReflect().New().Interface()) != nil {
			field = shortened(name, maxTypeURL) + ": "
		}
		return nil
	})
	return fmt.Errorf("%s%w", field, badJSON(err))
}

// badJSON takes out of the words of protobuf where something stands: that is of what was put together here.
func badJSON(err error) error {
	words := err.Error()
	if i := strings.LastIndex(words, "): "); i >= 0 {
		words = words[i+3:]
	}
	return fmt.Errorf("not the JSON of its message: %s: %w", shortened(words, maxNote), fleet.ErrInvalid)
}

// maxPolled is how many names a poll may have: more than a fleet has. Decoded a name takes 16 bytes and its own, and two in JSON.
const maxPolled = 1 << 17

// decodeJSON decodes a DiscoveryRequest in proto3 JSON. Nothing that it returns holds body.
func decodeJSON(body []byte, b bounds, nodes *jsonNodes, whose fleet.CredentialID) (*request, *jsonNode, error) {
	known, body := nodes.knownIn(whose, body)
	var node *jsonNode
	rest := []byte{'{'}
	err := eachMember(body, func(name string, value json.RawMessage) (err error) {
		if name == "node" {
			if !bytes.Equal(value, []byte("null")) {
				node, err = nodes.read(whose, value)
			}
			return err
		}
		if value, err = bounded(name, value); err == nil {
			rest, err = withMember(rest, name, value)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if known != nil {
		node = known
	}
	var message discoveryv3.DiscoveryRequest
	if err := fromJSON(append(rest, '}'), &message); err != nil {
		return nil, nil, err
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(&message)
	if err != nil {
		return nil, nil, badJSON(err)
	}
	if node != nil {
		encoded = protowire.AppendTag(encoded, sotwNode, protowire.BytesType)
		encoded = protowire.AppendBytes(encoded, node.encoded)
	}
	r := &request{bounds: b}
	if r.unmarshal(encoded); r.refused != nil {
		return nil, nil, r.refused
	}
	if r.lists() {
		r.raw = encoded
	}
	return r, node, nil
}

// bounded is a member of a poll as far as it is decoded. Of lists of messages nobody reads more than whether there are some: an empty one takes three bytes in JSON, and
// eighty decoded.
func bounded(name string, value json.RawMessage) (json.RawMessage, error) {
	switch name {
	case "resource_names", "resourceNames":
		if n := items(value); n > maxPolled {
			return nil, fmt.Errorf("the poll names %d resources, %d is the limit: %w", n, maxPolled, fleet.ErrLimit)
		}
	case "resource_locators", "resourceLocators":
		if items(value) > 0 {
			return json.RawMessage(`[{}]`), nil
		}
	case "error_detail", "errorDetail":
		if value[0] == '{' { // what is none of it is refused by its name
			return without(value, "details")
		}
	}
	return value, nil
}

// without is a JSON object without the members of these names.
func without(raw []byte, names ...string) ([]byte, error) {
	kept := []byte{'{'}
	err := eachMember(raw, func(name string, value json.RawMessage) (err error) {
		if !slices.Contains(names, name) {
			kept, err = withMember(kept, name, value)
		}
		return err
	})
	return append(kept, '}'), err
}

// withMember appends a member to a JSON object that is not closed yet.
func withMember(object []byte, name string, value json.RawMessage) ([]byte, error) {
	if len(object) > 1 {
		object = append(object, ',')
	}
	key, err := json.Marshal(name)
	return append(append(append(object, key...), ':'), value...), err //nolint:wrapcheck // a text is never refused
}

// maxMembers is how many members an object of a poll may have, those among them that are not known: each is noted.
const maxMembers = 1000

var errNoObject = fmt.Errorf("it is not a JSON object: %w", fleet.ErrInvalid)

// eachMember calls f for each member of a JSON object. One that stands there twice is refused.
func eachMember(b []byte, f func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errNoObject
	}
	seen := make(map[string]struct{})
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return badJSON(err)
		}
		name, _ := t.(string)
		if _, again := seen[name]; again {
			return fmt.Errorf("%q stands there twice: %w", shortened(name, maxTypeURL), fleet.ErrInvalid)
		}
		if seen[name] = struct{}{}; len(seen) > maxMembers {
			return fmt.Errorf("it has more than %d members: %w", maxMembers, fleet.ErrLimit)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return badJSON(err)
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return badJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something follows the JSON object: %w", fleet.ErrInvalid)
	}
	return nil
}
