package xds

import (
	"encoding/json"
	"fmt"
	"math"
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
		return nil, tooLargef("node.metadata takes %d bytes, %d is the limit", len(whole), maxMetadata)
	}
	kept := scalars(n.GetMetadata(), maxPath)
	asked, err := protojson.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("read node.metadata: %w", fleet.ErrInvalid)
	}
	if size := len(asked) + padding(kept); size > maxMetadata {
		return nil, tooLargef("node.metadata takes %d bytes as it is stored, with all digits of its numbers, %d is the limit", size, maxMetadata)
	}
	return asked, nil
}

// What a client of gRPC's libraries takes at once, and one whose bootstrap Fairlead made for google_grpc.
const (
	defaultResponse = 4 << 20
	raisedResponse  = 64 << 20
)

// maxResponse is how many bytes a client of gRPC's libraries takes at once: what its bootstrap says in fairlead.max_response_bytes, or
// does where Fairlead made it for an Envoy.
func maxResponse(n fleet.Node) int {
	var says struct {
		Fairlead struct {
			Bootstrap any `json:"bootstrap"`
			Bytes     any `json:"max_response_bytes"`
		} `json:"fairlead"`
	}
	if json.Unmarshal(n.MetadataJSON, &says) != nil {
		return defaultResponse
	}
	if most, ok := says.Fairlead.Bytes.(float64); ok && most >= leastResponse {
		return int(min(most, math.MaxInt32))
	}
	if made, ok := says.Fairlead.Bootstrap.(float64); ok && made >= 2 && n.UserAgent == "envoy" {
		return raisedResponse
	}
	return defaultResponse
}

// readsErrors reports whether a client says that it understands resource_errors, by fairlead.resource_errors: no feature of the protocol tells.
func readsErrors(n fleet.Node) bool {
	var says struct {
		Fairlead struct {
			Errors any `json:"resource_errors"`
		} `json:"fairlead"`
	}
	return json.Unmarshal(n.MetadataJSON, &says) == nil && says.Fairlead.Errors == true
}

// leastResponse is what no client can say that it takes less than.
const leastResponse = 64 << 10

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
