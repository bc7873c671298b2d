package httpapi

import (
	"context"
	"time"

	"fairlead/internal/fleet"
)

// hearLocked notes that somebody begins to listen with a token; before them, nobody may have asked for long.
func (t *tail) hearLocked(token fleet.CredentialID) {
	if len(t.tokens) == 0 {
		t.failing, t.err, t.checked = time.Time{}, nil, t.now()
	}
	h := t.tokens[token]
	if h == nil {
		h = &heard{}
		t.tokens[token] = h
	}
	h.listeners++
}

func (t *tail) unhearLocked(token fleet.CredentialID) {
	if h := t.tokens[token]; h.listeners > 1 {
		h.listeners--
	} else {
		delete(t.tokens, token)
	}
}

// endLocked tells whether a listener is to go; the error is the database's.
func (t *tail) endLocked(token fleet.CredentialID, gone bool) (streamEnd, error) {
	switch {
	case gone:
		return endFleet, nil
	case t.tokens[token].ended:
		return endToken, nil
	case !t.failing.IsZero() && t.now().Sub(t.failing) > tailPatience:
		return endDatabase, t.err
	}
	return "", nil
}

// await waits for a reading, or takes the turn and reads; woken: it was time for something else.
func (t *tail) await(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time, news <-chan struct{}) (woken bool, _ streamEnd, _ error) {
	select {
	case t.turn <- struct{}{}:
		t.takeTurn(ctx, stop)
	case <-news:
		return false, "", nil
	case <-stop:
	case <-wake:
		return true, "", nil
	case <-ctx.Done():
	}
	switch {
	case ended(stop):
		return false, endServer, nil
	case ctx.Err() != nil:
		return false, "", ctx.Err()
	}
	select {
	case <-wake:
		return true, "", nil
	default:
		return false, "", nil
	}
}
