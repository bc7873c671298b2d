package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// A Secret cannot be read, but who writes Secrets can send one and be told whether it is what is stored: by a plan, and by a write that
// is refused because it would change it. Each content that differs is a guess. A write that is made is none: a wrong
// one replaces the Secret, and is in the audit. After too many guesses no content that was not compared before may be planned or written, for
// what is refused only if it is wrong tells as well. Who may use every Secret could have it sent to themselves, so they are told of in the
// audit and kept from nothing.
const (
	guessesOfSecret = 10        // contents that may be found to differ from a Secret within guessesHold
	guessesHold     = time.Hour // from the first one on
	mostGuessed     = 1 << 16   // Secrets of which contents differed lately
	mostGuessedOf   = 10_000    // the same, of one tenant
)

// guessKey is the Secret that is compared.
type guessKey struct {
	tenant fleet.TenantID
	fleet  fleet.ID
	store.Cursor
}

// guessed is what was found to differ from it.
type guessed struct {
	begun    time.Time
	contents map[[32]byte]bool // keyed hashes
}

// guesses bounds how many contents are compared with one Secret. The same content again is no new guess, so who plans the same folder
// all day is not kept from it.
type guesses struct {
	now func() time.Time

	mu  sync.Mutex // guards what follows and what is in it
	all map[guessKey]*guessed
	of  map[fleet.TenantID]int // Secrets of each tenant in all
}

func newGuesses(now func() time.Time) *guesses {
	return &guesses{now: now, all: map[guessKey]*guessed{}, of: map[fleet.TenantID]int{}}
}

// compare counts that a content was compared with a Secret. wait is above 0 where the answer must not be told, and when
// another may be compared; fresh is set for a comparison that the audit is told of: each content that differs once, and one that is the same after some that did.
func (g *guesses) compare(k guessKey, content [32]byte, same bool) (wait time.Duration, fresh bool) {
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.findLocked(k, now)
	switch {
	case x == nil && same:
		return 0, false
	case x == nil:
		if g.fullLocked(k.tenant, now) {
			return guessesHold, true
		}
		x = &guessed{begun: now, contents: map[[32]byte]bool{}}
		g.all[k] = x
		g.of[k.tenant]++
	case x.contents[content]:
		return 0, false
	case len(x.contents) >= guessesOfSecret:
		return guessesHold - now.Sub(x.begun), true // of the right one too: else it would be told
	}
	if !same {
		x.contents[content] = true
	}
	return 0, true
}

// tooMany is how long to wait until the content may be compared; 0: it may be now.
func (g *guesses) tooMany(k guessKey, content [32]byte) time.Duration {
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.findLocked(k, now)
	if x == nil || x.contents[content] || len(x.contents) < guessesOfSecret {
		return 0
	}
	return guessesHold - now.Sub(x.begun)
}

func (g *guesses) findLocked(k guessKey, now time.Time) *guessed {
	x := g.all[k]
	if x != nil && now.Sub(x.begun) >= guessesHold {
		g.forgetLocked(k)
		return nil
	}
	return x
}

// fullLocked makes room by what is over, and tells whether there is none.
func (g *guesses) fullLocked(t fleet.TenantID, now time.Time) bool {
	if len(g.all) < mostGuessed && g.of[t] < mostGuessedOf {
		return false
	}
	for k, x := range g.all {
		if now.Sub(x.begun) >= guessesHold {
			g.forgetLocked(k)
		}
	}
	return len(g.all) >= mostGuessed || g.of[t] >= mostGuessedOf
}

func (g *guesses) forgetLocked(k guessKey) {
	delete(g.all, k)
	if g.of[k.tenant]--; g.of[k.tenant] == 0 {
		delete(g.of, k.tenant)
	}
}

// compared counts the Secrets of a write that was not made, of which there is one, and tells the audit. hash is that of
// the content that is there of a change. The error is that of too many, and then nothing else may be told.
func (a *API) compared(ctx context.Context, changes []store.ResourceChange, hash func(change int) (stored [32]byte, there bool)) error {
	c := callOf(ctx)
	var refused *problem
	for i, ch := range changes {
		stored, there := hash(i)
		if ch.Type != fleet.Secret || ch.Delete || !there {
			continue
		}
		same := stored == ch.DocHash
		wait, fresh := a.guesses.compare(guessKey{c.tenant.ID, c.fleet.ID, cursorOf(ch)}, ch.DocHash, same)
		if usesAny(ctx) {
			wait = 0
		}
		if wait > 0 && refused == nil {
			refused = errGuesses(ch, wait)
		}
		if fresh {
			a.comparisons.add(denialKey{tenant: c.tenant.ID, token: c.principal.Credential, operation: titleOf(ch), code: outcome(same, wait)}, c.actor, c.fleet.ID)
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
		"%d other contents were compared with %s within the hour: another one waits, or is written by an admin", guessesOfSecret, titleOf(ch)))
	p.retry = wait
	return p
}

// mayCompare refuses a write, or a plan of one, that has a content of which nothing may be told any more.
func (a *API) mayCompare(ctx context.Context, w store.Write, where *places) error {
	if usesAny(ctx) {
		return nil
	}
	c := callOf(ctx)
	for _, ch := range w.Changes {
		_, sent := where.fields[place{fleet.Ref{Type: ch.Type, Name: ch.Name}, ch.Variant}] // what is kept is no guess
		if ch.Type != fleet.Secret || ch.Delete || !sent {
			continue
		}
		if wait := a.guesses.tooMany(guessKey{c.tenant.ID, c.fleet.ID, cursorOf(ch)}, ch.DocHash); wait > 0 {
			a.comparisons.add(denialKey{tenant: c.tenant.ID, token: c.principal.Credential, operation: titleOf(ch), code: outcome(false, wait)}, c.actor, c.fleet.ID)
			return errGuesses(ch, wait)
		}
	}
	return nil
}

// refusedUnseen is the refusal of a write, or that too many Secrets were compared by such.
func (a *API) refusedUnseen(ctx context.Context, w store.Write, refusal error) error {
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
	c := callOf(ctx)
	stored, err := a.store.Stored(ctx, c.tenant.ID, c.fleet.ID, which)
	if err != nil {
		return err
	}
	err = a.compared(ctx, w.Changes, func(i int) ([32]byte, bool) {
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
