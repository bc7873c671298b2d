package httpapi

import (
	"crypto/sha256"
	"errors"
	"net/http"

	"fairlead/internal/store"
)

// idempotency names a request, so that the store can tell a repeat from another one.
// The hash is over the operation, the fleet and the very bytes that were sent.
func idempotency(c *call, key *string, operation string, sent []byte) *store.Idempotency {
	if key == nil {
		return nil
	}
	h := sha256.New()
	h.Write([]byte(operation))
	h.Write([]byte{0})
	h.Write(c.fleet.ID[:])
	h.Write(sent)
	return &store.Idempotency{Key: *key, RequestHash: [32]byte(h.Sum(nil))}
}

var idempotencyFault = headerFault("Idempotency-Key", "in_use", "another request has this key")

// repeated tells what is wrong with a repeat that gets no stored answer.
func repeated(err error, key *store.Idempotency) error {
	var p *problem
	switch {
	case key == nil:
		return err
	case errors.Is(err, store.ErrKeyReused):
		p = refuse(http.StatusUnprocessableEntity, "idempotency_key_reused", "this Idempotency-Key was used for another request", idempotencyFault)
	case errors.Is(err, store.ErrBusy):
		p = refuse(http.StatusConflict, "in_flight", "a request with this Idempotency-Key is under way", idempotencyFault)
		p.retry = retryAfter
	default:
		return err
	}
	p.cause = err
	return p
}
