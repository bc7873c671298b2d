package planner

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/snapshot"
)

// Field numbers that both responses have, and those of one alone.
const (
	respVersion      = 1 // version_info; delta: system_version_info
	respType         = 4
	sotwControlPlane = 6
	sotwErrors       = 7

	deltaRemoved      = 6
	deltaControlPlane = 7
	deltaErrors       = 9
)

// appendError adds a ResourceError{resource_name: {name}, error_detail: {code, message}}.
func appendError(b []byte, num protowire.Number, e Error) []byte {
	detail := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(e.Code))
	detail = appendString(detail, 2, e.Why)
	m := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), appendString(nil, 1, e.Name))
	m = protowire.AppendBytes(protowire.AppendTag(m, 2, protowire.BytesType), detail)
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), m)
}

// controlPlane is an encoded ControlPlane{identifier: "fairlead"}: Envoy shows it.
var controlPlane = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "fairlead")

// Body is the encoded response without its nonce. It is made once, shared by all who send the
// response, and must not be written to.
func (r *Response) Body() []byte {
	r.body.once.Do(func() { r.body.bytes = r.encode() })
	return r.body.bytes
}

func (r *Response) encode() []byte {
	delta := r.kind.Delta
	version := r.Version.String()
	plane, errors := protowire.Number(sotwControlPlane), protowire.Number(sotwErrors)
	if delta {
		version, plane, errors = strconv.FormatInt(int64(r.Revision), 10), deltaControlPlane, deltaErrors
	}
	parts, size := r.parts()
	b := make([]byte, 0, size+256)
	b = appendString(b, respVersion, version)
	b = appendString(b, respType, r.Type.URL())
	for _, p := range parts {
		b = append(b, p...)
	}
	for _, n := range r.Removed {
		b = appendString(b, deltaRemoved, n)
	}
	for _, n := range r.Nonexistent {
		b = append(b, snapshot.Nonexistent(n)...)
	}
	for _, e := range r.Errors {
		b = appendError(b, errors, e)
	}
	b = protowire.AppendTag(b, plane, protowire.BytesType)
	return protowire.AppendBytes(b, controlPlane)
}

func (r *Response) parts() (parts [][]byte, size int) {
	parts = make([][]byte, 0, 2*len(r.Resources))
	for _, x := range r.Resources {
		if r.Heartbeat {
			parts = append(parts, x.Heartbeat())
			continue
		}
		head, body := x.SotW(r.kind.TTL)
		if r.kind.Delta {
			head, body = x.Delta(r.kind.TTL, r.Aliases[x.Name])
		}
		parts = append(parts, head, body)
	}
	for _, p := range parts {
		size += len(p)
	}
	for _, n := range r.Removed {
		size += len(n) + 4
	}
	for _, n := range r.Nonexistent {
		size += 2*len(n) + 16
	}
	for _, e := range r.Errors {
		size += e.size()
	}
	return parts, size
}

func appendString(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

// JSON is the response as a DiscoveryResponse in proto3 JSON, without a nonce. What a resource is as an Any says resource, ResourceJSON or what it returned before.
func (r *Response) JSON(resource func(*snapshot.Resource) ([]byte, error)) (b []byte, err error) {
	b = append(b, `{"version_info":"`+r.Version.String()+`","type_url":"`+r.Type.URL()+`","control_plane":{"identifier":"fairlead"},"resources":[`...)
	for i, x := range r.Resources {
		if i > 0 {
			b = append(b, ',')
		}
		one, err := resource(x)
		if err != nil {
			return nil, fmt.Errorf("write %s %q as JSON: %w", r.Type, x.Name, err)
		}
		b = append(b, one...)
	}
	return append(b, "]}"...), nil
}

// ResourceJSON is a resource as an Any in proto3 JSON. Its bytes are decoded for it, so who needs it again keeps it.
func ResourceJSON(x *snapshot.Resource) ([]byte, error) {
	message := &anypb.Any{}
	if err := proto.Unmarshal(x.Encoded(), message); err != nil {
		return nil, fmt.Errorf("decode it: %w", err)
	}
	return protojson.MarshalOptions{UseProtoNames: true}.Marshal(message) //nolint:wrapcheck // JSON says of what
}
