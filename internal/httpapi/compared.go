package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// compared counts the Secrets of a write that was not made, of which there is one, and tells the audit. hash is that of
// the content that is there of a change. The error is that of too many, and then nothing else may be told.
func (a *API) compared(c *call, changes []store.ResourceChange, hash func(change int) (stored [32]byte, there bool)) error {
	var refused *problem
	for i, ch := range changes {
		stored, there := hash(i)
		if ch.Type != fleet.Secret || ch.Delete || !there {
			continue
		}
		same := stored == ch.DocHash
		wait, fresh := a.guesses.Compare(access.GuessKey{Tenant: c.tenant.ID, Fleet: c.fleet.ID, Cursor: cursorOf(ch)}, ch.DocHash, same)
		if usesAny(c) {
			wait = 0
		}
		if wait > 0 && refused == nil {
			refused = errGuesses(ch, wait)
		}
		if fresh {
			a.comparisons.Add(access.DenialKey{Tenant: c.tenant.ID, Token: c.principal.Credential, Operation: titleOf(ch), Code: outcome(same, wait)}, c.actor, c.fleet.ID)
		}
	}
	if refused != nil {
		return refused
	}
	return nil
}

func outcome(same bool, wait time.Duration) string {
	switch {
	case wait > 0:
		return "refused"
	case same:
		return "same"
	}
	return "differs"
}

func errGuesses(ch store.ResourceChange, wait time.Duration) *problem {
	p := refuse(http.StatusTooManyRequests, "too_many_comparisons", fmt.Sprintf(
		"%d other contents were compared with %s within the hour: another one waits, or is written by an admin", access.GuessesOfSecret, titleOf(ch)))
	p.retry = wait
	return p
}

// mayCompare refuses a write, or a plan of one, that has a content of which nothing may be told any more.
func (a *API) mayCompare(c *call, w store.Write, where *places) error {
	if usesAny(c) {
		return nil
	}
	for _, ch := range w.Changes {
		_, sent := where.fields[place{fleet.Ref{Type: ch.Type, Name: ch.Name}, ch.Variant}] // what is kept is no guess
		if ch.Type != fleet.Secret || ch.Delete || !sent {
			continue
		}
		if wait := a.guesses.TooMany(access.GuessKey{Tenant: c.tenant.ID, Fleet: c.fleet.ID, Cursor: cursorOf(ch)}, ch.DocHash); wait > 0 {
			a.comparisons.Add(access.DenialKey{Tenant: c.tenant.ID, Token: c.principal.Credential, Operation: titleOf(ch), Code: outcome(false, wait)}, c.actor, c.fleet.ID)
			return errGuesses(ch, wait)
		}
	}
	return nil
}

// refusedUnseen is the refusal of a write, or that too many Secrets were compared by such.
func (a *API) refusedUnseen(ctx context.Context, c *call, w store.Write, refusal error) error {
	var moved *store.MovedError
	if refusal == nil || errors.As(refusal, &moved) || errors.Is(refusal, fleet.ErrUnavailable) || errors.Is(refusal, fleet.ErrNotFound) || errors.Is(refusal, store.ErrKeyReused) {
		return refusal // whatever was sent
	}
	var which []store.Cursor
	for _, ch := range w.Changes {
		if ch.Type == fleet.Secret && !ch.Delete {
			which = append(which, cursorOf(ch))
		}
	}
	if len(which) == 0 {
		return refusal
	}
	stored, err := a.store.Stored(ctx, c.tenant.ID, c.fleet.ID, which)
	if err != nil {
		return err
	}
	err = a.compared(c, w.Changes, func(i int) ([32]byte, bool) {
		row, there := stored[cursorOf(w.Changes[i])]
		return row.DocHash, there
	})
	if err != nil {
		return err
	}
	return refusal
}

// shownSecret is what is told of a Secret. A fingerprint is told of a certificate alone, which is no secret: older summaries hold one of
// whatever the Secret is.
func shownSecret(name string, summary []byte) (*oapi.SecretSummary, error) {
	out := &oapi.SecretSummary{}
	if err := json.Unmarshal(summary, out); err != nil {
		return nil, fmt.Errorf("read the summary of secret %q: %w", name, err)
	}
	if out.NotAfter == nil {
		out.Fingerprint = nil
	}
	return out, nil
}
