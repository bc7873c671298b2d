package planner

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/snapshot"
)

// Field numbers that both responses have, and those of one alone.
const (
	respVersion      = 1 // version_info; delta: system_version_info
	respType         = 4
	sotwControlPlane = 6

	deltaRemoved      = 6
	deltaControlPlane = 7
)

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
	plane := protowire.Number(sotwControlPlane)
	if delta {
		version, plane = strconv.FormatInt(int64(r.Revision), 10), deltaControlPlane
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
	return parts, size
}

func appendString(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}
