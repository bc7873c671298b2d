package httpapi

import (
	"context"

	"fairlead/internal/fleet"
)

// holder is with what somebody listens: a token, or a session of it.
type holder struct {
	token   fleet.CredentialID
	session fleet.SessionID // zero: the token itself
}

// heard is a token or a session while somebody listens with it.
type heard struct {
	listeners int
	ended     bool
}

// end is why a listener goes when what it listens with has ended.
func (h holder) end() streamEnd {
	if h.session != (fleet.SessionID{}) {
		return endSession
	}
	return endToken
}

// holderOf is with what a caller listens.
func holderOf(c *call) holder {
	h := holder{token: c.principal.Credential}
	if c.session != nil {
		h.session = c.session.ID
	}
	return h
}

// refusal is what one is answered who waits for a single answer; nil: with what there is.
func (e streamEnd) refusal() error {
	switch e {
	case endToken:
		return errTokenNotValid()
	case endSession:
		return errSessionOver()
	case endFleet:
		return errNoFleet
	case endDatabase, endServer:
	}
	return nil
}

// hear notes that somebody waits, but for nothing of the tail's, until the function that it returns is called.
func (t *tail) hear(with holder) (leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hearLocked(with)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.unhearLocked(with)
	}
}

// holds refuses one who is heard when what they wait with has ended. It looks that up for all where nobody else does. A look-up that fails says nothing:
// what they wait for comes from the same database.
func (t *tail) holds(ctx context.Context, with holder) error {
	select {
	case t.turn <- struct{}{}:
		func() {
			defer func() { <-t.turn }()
			_ = t.checkHolders(ctx) // see above
		}()
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holders[with].ended {
		return with.end().refusal()
	}
	return nil
}

// checkHolders looks up, once in a while, the tokens and sessions of all who listen.
func (t *tail) checkHolders(ctx context.Context) error {
	t.mu.Lock()
	due := t.now().Sub(t.checked) >= holdersTick
	var asked []holder
	for h := range t.holders {
		asked = append(asked, h)
	}
	t.mu.Unlock()
	if !due {
		return nil
	}
	live, err := t.live(ctx, asked)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checked = t.now()
	for _, h := range asked {
		if x := t.holders[h]; x != nil && !live[h] {
			x.ended = true
		}
	}
	return nil
}

// live are those that hold at present: a statement for all tokens, and one for all sessions.
func (t *tail) live(ctx context.Context, asked []holder) (map[holder]bool, error) {
	var tokens []fleet.CredentialID
	var sessions []fleet.SessionID
	for _, h := range asked {
		if h.session == (fleet.SessionID{}) {
			tokens = append(tokens, h.token)
		} else {
			sessions = append(sessions, h.session)
		}
	}
	good, err := t.store.LiveTokens(ctx, tokens)
	if err != nil {
		return nil, err
	}
	open, err := t.store.LiveSessions(ctx, sessions)
	if err != nil {
		return nil, err
	}
	out := make(map[holder]bool, len(asked))
	for _, h := range asked {
		out[h] = good[h.token] && h.session == (fleet.SessionID{}) || open[h.session]
	}
	return out, nil
}
