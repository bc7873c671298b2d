package live

import (
	"context"

	"fairlead/internal/fleet"
)

// Holder is what somebody listens with: a token, or a session of it.
type Holder struct {
	Token   fleet.CredentialID
	Session fleet.SessionID // zero: the token itself
}

// heard is a token or a session while somebody listens with it.
type heard struct {
	listeners int
	ended     bool
}

// End is why a listener goes when what it listens with has ended.
func (h Holder) End() End {
	if h.Session != (fleet.SessionID{}) {
		return EndSession
	}
	return EndToken
}

// Hear notes that somebody waits, but for nothing of the tail's, until the function that it returns is called.
func (t *Tail) Hear(with Holder) (leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hearLocked(with)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.unhearLocked(with)
	}
}

// Holds tells one who is heard whether what they wait with has ended; "": it has not. It looks that up for all where nobody else does. A look-up that fails says nothing:
// what they wait for comes from the same database.
func (t *Tail) Holds(ctx context.Context, with Holder) End {
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
		return with.End()
	}
	return ""
}

// checkHolders looks up, once in a while, the tokens and sessions of all who listen.
func (t *Tail) checkHolders(ctx context.Context) error {
	t.mu.Lock()
	due := t.now().Sub(t.checked) >= holdersTick
	var asked []Holder
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
func (t *Tail) live(ctx context.Context, asked []Holder) (map[Holder]bool, error) {
	var tokens []fleet.CredentialID
	var sessions []fleet.SessionID
	for _, h := range asked {
		if h.Session == (fleet.SessionID{}) {
			tokens = append(tokens, h.Token)
		} else {
			sessions = append(sessions, h.Session)
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
	out := make(map[Holder]bool, len(asked))
	for _, h := range asked {
		out[h] = good[h.Token] && h.Session == (fleet.SessionID{}) || open[h.Session]
	}
	return out, nil
}
