package httpapi

import (
	"context"
	"time"
)

// hearLocked notes that somebody begins to listen; before them, nobody may have asked for long.
func (t *tail) hearLocked(with holder) {
	if len(t.holders) == 0 {
		t.failing, t.err, t.checked = time.Time{}, nil, t.now()
	}
	h := t.holders[with]
	if h == nil {
		h = &heard{}
		t.holders[with] = h
	}
	h.listeners++
}

func (t *tail) unhearLocked(with holder) {
	if h := t.holders[with]; h.listeners > 1 {
		h.listeners--
	} else {
		delete(t.holders, with)
	}
}

// endLocked tells whether a listener is to go; the error is the database's.
func (t *tail) endLocked(with holder, gone bool) (streamEnd, error) {
	switch {
	case gone:
		return endFleet, nil
	case t.holders[with].ended:
		return with.end(), nil
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
