package live

import (
	"context"
	"time"
)

// hearLocked notes that somebody begins to listen; before them, nobody may have asked for long.
func (t *Tail) hearLocked(with Holder) {
	if len(t.holders) == 0 {
		t.outages, t.checked = [asks]outage{}, t.now()
	}
	h := t.holders[with]
	if h == nil {
		h = &heard{}
		t.holders[with] = h
	}
	h.listeners++
}

func (t *Tail) unhearLocked(with Holder) {
	if h := t.holders[with]; h.listeners > 1 {
		h.listeners--
	} else {
		delete(t.holders, with)
	}
}

// endLocked tells whether a listener is to go; the error is the database's. of are the questions that it lives by, beside the one about tokens and sessions.
func (t *Tail) endLocked(with Holder, gone bool, of ...outage) (End, error) {
	switch {
	case gone:
		return EndFleet, nil
	case t.holders[with].ended:
		return with.End(), nil
	}
	for _, o := range append(of, t.outages[askHolders]) {
		if o.over(t.now()) {
			return EndDatabase, o.err
		}
	}
	return "", nil
}

// await waits for news, of all or of its own, or takes the turn and asks; woken: it was time for something else.
func (t *Tail) await(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time, news, own <-chan struct{}) (woken bool, _ End, _ error) {
	select {
	case t.turn <- struct{}{}:
		t.takeTurn(ctx, stop)
	case <-news:
		return false, "", nil
	case <-own:
		return false, "", nil
	case <-stop:
	case <-wake:
		return true, "", nil
	case <-ctx.Done():
	}
	switch {
	case closed(stop):
		return false, EndServer, nil
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

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
