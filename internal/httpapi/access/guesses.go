package access

import (
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// A Secret cannot be read, but who writes Secrets can send one and be told whether it is what is stored: by a plan, and by a write that
// is refused because it would change it. Each content that differs is a guess. A write that is made is none: a wrong
// one replaces the Secret, and is in the audit. After too many guesses no content that was not compared before may be planned or written, for
// what is refused only if it is wrong tells as well. Who may use every Secret could have it sent to themselves, so they are told of in the
// audit and kept from nothing.
const (
	GuessesOfSecret = 10        // contents that may be found to differ from a Secret within guessesHold
	GuessesHold     = time.Hour // from the first one on
	mostGuessed     = 1 << 16   // Secrets of which contents differed lately
	mostGuessedOf   = 10_000    // the same, of one tenant
)

// GuessKey is the Secret that is compared.
type GuessKey struct {
	Tenant fleet.TenantID
	Fleet  fleet.ID
	store.Cursor
}

// guessed is what was found to differ from it.
type guessed struct {
	begun    time.Time
	contents map[[32]byte]bool // keyed hashes
}

// Guesses bounds how many contents are compared with one Secret. The same content again is no new guess, so who plans the same folder
// all day is not kept from it.
type Guesses struct {
	Now func() time.Time

	mu  sync.Mutex // guards what follows and what is in it
	all map[GuessKey]*guessed
	of  map[fleet.TenantID]int // Secrets of each tenant in all
}

// NewGuesses counts from none.
func NewGuesses(now func() time.Time) *Guesses {
	return &Guesses{Now: now, all: map[GuessKey]*guessed{}, of: map[fleet.TenantID]int{}}
}

// Compare counts that a content was compared with a Secret. wait is above 0 where the answer must not be told, and when
// another may be compared; fresh is set for a comparison that the audit is told of: each content that differs once, and one that is the same after some that did.
func (g *Guesses) Compare(k GuessKey, content [32]byte, same bool) (wait time.Duration, fresh bool) {
	now := g.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.findLocked(k, now)
	switch {
	case x == nil && same:
		return 0, false
	case x == nil:
		if g.fullLocked(k.Tenant, now) {
			return GuessesHold, true
		}
		x = &guessed{begun: now, contents: map[[32]byte]bool{}}
		g.all[k] = x
		g.of[k.Tenant]++
	case x.contents[content]:
		return 0, false
	case len(x.contents) >= GuessesOfSecret:
		return GuessesHold - now.Sub(x.begun), true // of the right one too: else it would be told
	}
	if !same {
		x.contents[content] = true
	}
	return 0, true
}

// TooMany is how long to wait until the content may be compared; 0: it may be now.
func (g *Guesses) TooMany(k GuessKey, content [32]byte) time.Duration {
	now := g.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.findLocked(k, now)
	if x == nil || x.contents[content] || len(x.contents) < GuessesOfSecret {
		return 0
	}
	return GuessesHold - now.Sub(x.begun)
}

func (g *Guesses) findLocked(k GuessKey, now time.Time) *guessed {
	x := g.all[k]
	if x != nil && now.Sub(x.begun) >= GuessesHold {
		g.forgetLocked(k)
		return nil
	}
	return x
}

// fullLocked makes room by what is over, and tells whether there is none.
func (g *Guesses) fullLocked(t fleet.TenantID, now time.Time) bool {
	if len(g.all) < mostGuessed && g.of[t] < mostGuessedOf {
		return false
	}
	for k, x := range g.all {
		if now.Sub(x.begun) >= GuessesHold {
			g.forgetLocked(k)
		}
	}
	return len(g.all) >= mostGuessed || g.of[t] >= mostGuessedOf
}

func (g *Guesses) forgetLocked(k GuessKey) {
	delete(g.all, k)
	if g.of[k.Tenant]--; g.of[k.Tenant] == 0 {
		delete(g.of, k.Tenant)
	}
}

// Len is how many Secrets it remembers.
func (g *Guesses) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.all)
}
