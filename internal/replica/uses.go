package replica

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

const (
	noteUseAgain = time.Hour // a credential's use is noted no more often by this server
	usesPerCall  = 500       // that are noted at once
)

// credentialUses are when the node credentials that were good here were used last. It is safe for concurrent use, calls
// nobody, and holds one of each credential.
type credentialUses struct {
	mu sync.Mutex // guards all below
	of map[fleet.CredentialID]*credentialUse
}

type credentialUse struct {
	key     fleet.Key
	address string
	last    time.Time
	streams int // that are live: it is in use
	noted   time.Time
}

func newCredentialUses() *credentialUses {
	return &credentialUses{of: map[fleet.CredentialID]*credentialUse{}}
}

// use notes one, and that so many streams more are live with it. Of a port that asks for no credential there is none.
func (u *credentialUses) use(id xds.Identity, address string, streams int, now time.Time) {
	if id.Credential == (fleet.CredentialID{}) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	x := u.of[id.Credential]
	if x == nil {
		x = &credentialUse{key: id.Key}
		u.of[id.Credential] = x
	}
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	if address != "" {
		x.address = address
	}
	x.last, x.streams = now, x.streams+streams
}

// due returns what is to be noted now, and forgets what was noted and is used no more.
func (u *credentialUses) due(now time.Time) (out []fleet.CredentialUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, x := range u.of {
		if x.streams > 0 {
			x.last = now
		}
		switch {
		case now.Sub(x.noted) < noteUseAgain:
		case x.last.After(x.noted):
			out = append(out, fleet.CredentialUse{Key: x.key, Credential: id, At: x.last, Address: x.address})
		default:
			delete(u.of, id)
		}
	}
	return out
}

func (u *credentialUses) noted(xs []fleet.CredentialUse, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, y := range xs {
		u.of[y.Credential].noted = now
	}
}

// NoteUses gives note which node credentials were used, each once an hour at most. What it refuses is due again the next
// time. Call it now and then, from one place.
func (r *Replica) NoteUses(ctx context.Context, note func(context.Context, []fleet.CredentialUse) error) error {
	for part := range slices.Chunk(r.uses.due(r.clock.now()), usesPerCall) {
		if err := note(ctx, part); err != nil {
			return err
		}
		r.uses.noted(part, r.clock.now())
	}
	return nil
}
