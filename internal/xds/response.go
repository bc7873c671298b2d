package xds

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/snapshot"
)

// response is a DiscoveryResponse or a DeltaDiscoveryResponse as the bytes that make it
// up, most of which are shared with every other stream.
type response struct {
	shared [][]byte
	own    []byte // what differs from stream to stream
	*handed
}

// Field numbers that both responses have, and those of one alone.
const (
	respVersion      = 1 // version_info; delta: system_version_info
	respType         = 4
	respNonce        = 5
	sotwControlPlane = 6

	deltaRemoved      = 6
	deltaControlPlane = 7
)

// controlPlane is an encoded ControlPlane{identifier: "fairlead"}: Envoy shows it.
var controlPlane = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "fairlead")

// newResponse joins the parts. ttl: the client is sent TTLs.
func newResponse(r *snapshot.Response, nonce string, delta, ttl bool, h *handed) *response {
	version := r.Version.String()
	if delta {
		version = strconv.FormatInt(int64(r.Revision), 10)
	}
	own := make([]byte, 0, minHanded)
	own = appendString(own, respVersion, version)
	own = appendString(own, respType, r.Type.URL())
	own = appendString(own, respNonce, nonce)
	for _, n := range r.Removed {
		own = appendString(own, deltaRemoved, n)
	}
	for _, n := range r.Nonexistent {
		own = append(own, snapshot.Nonexistent(n)...)
	}
	plane := protowire.Number(sotwControlPlane)
	if delta {
		plane = deltaControlPlane
	}
	own = protowire.AppendTag(own, plane, protowire.BytesType)
	own = protowire.AppendBytes(own, controlPlane)
	return &response{shared: resourceParts(r, delta, ttl), own: own, handed: h}
}

func resourceParts(r *snapshot.Response, delta, ttl bool) [][]byte {
	parts := make([][]byte, 0, 2*len(r.Resources))
	for _, x := range r.Resources {
		if r.Heartbeat {
			parts = append(parts, x.Heartbeat())
			continue
		}
		head, body := x.SotW(ttl)
		if delta {
			head, body = x.Delta(ttl, r.Aliases[x.Name])
		}
		parts = append(parts, head, body)
	}
	return parts
}

func appendString(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}
