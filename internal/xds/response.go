package xds

import (
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/planner"
)

// response is a DiscoveryResponse or a DeltaDiscoveryResponse as its bytes: those that it
// shares with every other stream, and its own.
type response struct {
	shared []byte
	handed          // what is its own
	nonce  [16]byte // as it is encoded
	of     *planner.Response
	id     string // the nonce
}

// respNonce is the field number of the nonce in both responses.
const respNonce = 5

// newResponse encodes nothing that is polled for: that goes out as JSON.
func newResponse(r *planner.Response, nonce string, polled bool) *response {
	if polled {
		return &response{of: r, id: nonce}
	}
	x := &response{shared: r.Body()}
	x.SliceBuffer = protowire.AppendString(protowire.AppendTag(x.nonce[:0], respNonce, protowire.BytesType), nonce)
	return x
}

// size is what it takes, in bytes; 0 of one that is polled for: each poll that is answered counts its own.
func (r *response) size() int {
	if r.shared == nil {
		return 0
	}
	return messagePrefix + len(r.shared) + r.Len()
}
