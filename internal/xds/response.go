package xds

import (
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/planner"
)

// response is a DiscoveryResponse or a DeltaDiscoveryResponse as its bytes: those that it
// shares with every other stream, and its own.
type response struct {
	shared  []byte
	own     []byte
	*handed // nil until it is sent
}

// respNonce is the field number of the nonce in both responses.
const respNonce = 5

func newResponse(r *planner.Response, nonce string) *response {
	own := protowire.AppendTag(make([]byte, 0, minHanded), respNonce, protowire.BytesType)
	return &response{shared: r.Body(), own: protowire.AppendString(own, nonce)}
}
