package xds

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/fleet"
)

// What a selector can ask of metadata: a path has 16 names at most, and a value, or a
// prefix, 1 KiB.
const (
	maxPath      = 16
	maxAskedText = 1<<10 + 1 // of a longer text a selector cannot tell more
)

// readMetadata is what fleet.Node has of a node's metadata, nil if there is none.
func readMetadata(n *corev3.Node) ([]byte, error) {
	if n.GetMetadata() == nil {
		return nil, nil
	}
	whole, err := protojson.Marshal(n.GetMetadata())
	if err != nil {
		return nil, fmt.Errorf("read node.metadata: %w", fleet.ErrInvalid)
	}
	if len(whole) > maxMetadata {
		return nil, fmt.Errorf("node.metadata takes %d bytes, %d is the limit: %w", len(whole), maxMetadata, fleet.ErrLimit)
	}
	kept := scalars(n.GetMetadata(), maxPath)
	asked, err := protojson.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("read node.metadata: %w", fleet.ErrInvalid)
	}
	if size := len(asked) + padding(kept); size > maxMetadata {
		return nil, fmt.Errorf("node.metadata takes %d bytes as it is stored, with all digits of its numbers, %d is the limit: %w", size, maxMetadata, fleet.ErrLimit)
	}
	return asked, nil
}

// padding is what a database adds to the JSON of metadata at most: a space behind each colon
// and comma, and all digits of numbers. 1e308 takes five bytes in JSON, and 309 there.
func padding(s *structpb.Struct) (n int) {
	for _, v := range s.GetFields() {
		n += 2
		switch k := v.GetKind().(type) {
		case *structpb.Value_NumberValue:
			n += len(strconv.FormatFloat(k.NumberValue, 'f', -1, 64))
		case *structpb.Value_StructValue:
			n += padding(k.StructValue)
		}
	}
	return n
}

// scalars returns what paths of so many names lead to. Lists, nulls and empty objects are
// no labels.
func scalars(s *structpb.Struct, names int) *structpb.Struct {
	out := &structpb.Struct{Fields: make(map[string]*structpb.Value)}
	for name, v := range s.GetFields() {
		switch k := v.GetKind().(type) {
		case *structpb.Value_StringValue:
			out.Fields[name] = structpb.NewStringValue(cut(k.StringValue))
		case *structpb.Value_NumberValue, *structpb.Value_BoolValue:
			out.Fields[name] = v
		case *structpb.Value_StructValue:
			if names == 1 {
				continue
			}
			if sub := scalars(k.StructValue, names-1); len(sub.GetFields()) > 0 {
				out.Fields[name] = structpb.NewStructValue(sub)
			}
		}
	}
	return out
}

// cut ends a text behind maxAskedText bytes, where a character ends.
func cut(s string) string {
	n := maxAskedText
	if len(s) <= n {
		return s
	}
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return s[:n]
}
