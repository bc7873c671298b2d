package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// ErrUnknown is why a node token is refused that the database does not know.
var ErrUnknown = fmt.Errorf("the node token is not known here: create a node credential and put its token into the proxy's token file: %w", fleet.ErrUnauthenticated)

// ErrMoved ends the streams of a tenant that another database has by now: its proxies connect again, and are served from there.
var ErrMoved = fmt.Errorf("the tenant has moved; connect again: %w", fleet.ErrUnavailable)

// ErrElsewhere is said of a token whose tenant has moved to a cell that the server does not have.
var ErrElsewhere = fmt.Errorf("the tenant has moved to another cell, which this server does not know: its operator has to give it a --cells-file (FAIRLEAD_CELLS_FILE) that names that cell: %w", fleet.ErrUnavailable)

// ErrHere is Config.Elsewhere's of a token that the database has, whose tenant has come since it was asked.
var ErrHere = errors.New("the database has the token")

// Why a stream ends, or does not begin. The texts are for whoever reads the proxy's log.
var (
	errGone    = fmt.Errorf("the fleet was deleted: %w", fleet.ErrForbidden)
	errRemoved = fmt.Errorf("the node credential is not there any more: create a new one and put it into the proxy's token file: %w", fleet.ErrForbidden)
)

var _ xds.Authenticator = (*Replica)(nil)

// Authenticate finds whose node token it is: among the credentials of the fleets that
// are held, as long as they were confirmed within a day, else in the database. A wrong
// secret takes the way of an unknown id, so that time does not tell them apart (T07). What is refused is counted, and what is good noted as used.
func (r *Replica) Authenticate(ctx context.Context, token string) (xds.Identity, error) {
	id, err := r.authenticate(ctx, token)
	r.denied(err, "", xds.RemoteAddr(ctx))
	return id, err
}

// Recheck is Authenticate of a token that was valid once: it need not be read again.
func (r *Replica) Recheck(ctx context.Context, was xds.Identity) (xds.Identity, error) {
	id, err := r.identify(ctx, was.Credential, was.Token)
	r.denied(err, "", xds.RemoteAddr(ctx))
	return id, err
}

func (r *Replica) authenticate(ctx context.Context, token string) (xds.Identity, error) {
	id, err := auth.ParseNodeToken(token)
	if err != nil {
		return xds.Identity{}, err
	}
	return r.identify(ctx, id, auth.Hash(token))
}

// identify finds whose credential it is, and whether it is valid and its token has this hash.
func (r *Replica) identify(ctx context.Context, id fleet.CredentialID, sent [32]byte) (xds.Identity, error) {
	if why := r.rejected(sent); why != nil {
		return xds.Identity{}, why
	}
	key, c := r.heldCredential(id)
	if !auth.Equal(c.Hash, sent) {
		var err error
		if key, c, err = r.findCredential(ctx, id, sent); err != nil {
			return xds.Identity{}, err
		}
	}
	why := judge(c, sent, r.clock.now())
	if why == nil && r.gone.has(key) {
		why = &goneError{error: errGone, key: key}
	}
	if why != nil {
		why = deniedFor(key, c, why)
		if r.cfg.Moving == nil || r.cfg.Elsewhere != nil || !errors.Is(why, ErrUnknown) { // else another database may know it
			r.lookups.Reject(sent, xds.RemoteAddr(ctx), why, time.Now())
		}
		return xds.Identity{}, why
	}
	nodes, err := auth.ParseNodePattern(c.Nodes)
	if err != nil {
		return xds.Identity{}, fmt.Errorf("node credential %s: %w", c.ID, err)
	}
	who := xds.Identity{Key: key, Credential: c.ID, Nodes: nodes, Token: sent}
	r.uses.use(who, xds.RemoteAddr(ctx), 0, r.clock.now())
	return who, nil
}

// goneError is errGone of a token that was looked up: unlike what else is wrong with one, it may be taken back.
type goneError struct {
	error
	key fleet.Key
}

func (e *goneError) Unwrap() error { return e.error }

// rejected says why the token of this hash was found to be no good lately; nil if it was not, or if its fleet may be there again.
func (r *Replica) rejected(sent [32]byte) error {
	why := r.lookups.Rejected(sent, time.Now())
	if gone := (*goneError)(nil); errors.As(why, &gone) && !r.gone.has(gone.key) {
		return nil
	}
	return why
}

// judge says why a token with this hash is not good for the credential, nil if it is. Of an
// unknown id there is no credential: the hash is compared with zeroes then, in the same time
// as with another token's.
func judge(c fleet.Credential, sent [32]byte, now time.Time) error {
	same := auth.Equal(c.Hash, sent)
	if !same || c.ID == (fleet.CredentialID{}) {
		return ErrUnknown
	}
	if why := invalid(c, now); why != "" {
		return fmt.Errorf("%s: %w", why, fleet.ErrUnauthenticated)
	}
	return nil
}

// findCredential asks the database, unless somebody did within the last second; the zero credential if there is none.
func (r *Replica) findCredential(ctx context.Context, id fleet.CredentialID, sent [32]byte) (key fleet.Key, c fleet.Credential, err error) {
	if f := r.finds.get(id, time.Now()); auth.Equal(f.credential.Hash, sent) {
		return f.key, f.credential, nil
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	leave, err := r.lookups.Begin(ctx, xds.RemoteAddr(ctx), time.Now())
	if err != nil {
		return key, c, err
	}
	defer leave()
	if key, c := r.heldCredential(id); auth.Equal(c.Hash, sent) { // somebody has found out meanwhile
		return key, c, nil
	}
	if f := r.finds.get(id, time.Now()); auth.Equal(f.credential.Hash, sent) {
		return f.key, f.credential, nil
	}
	if why := r.rejected(sent); why != nil {
		return key, c, why
	}
	asked := time.Now()
	if key, c, err = r.askFor(ctx, id); err != nil {
		return key, c, err
	}
	if !auth.Equal(c.Hash, sent) {
		err := r.elsewhere(ctx, id, sent)
		if errors.Is(err, ErrHere) { // a move has just ended
			asked = time.Now()
			key, c, err = r.askFor(ctx, id)
		}
		if err != nil {
			return fleet.Key{}, fleet.Credential{}, err
		}
	}
	if c.ID == (fleet.CredentialID{}) {
		return key, c, nil
	}
	r.finds.put(id, find{key, c}, asked)
	return key, c, nil
}

// askFor asks the database; the zero credential if it has none.
func (r *Replica) askFor(ctx context.Context, id fleet.CredentialID) (fleet.Key, fleet.Credential, error) {
	key, c, err := r.cfg.Feed.FindNodeCredential(ctx, id)
	switch {
	case errors.Is(err, fleet.ErrNotFound):
		return fleet.Key{}, fleet.Credential{}, nil
	case err != nil:
		r.log.Debug("find a node credential", "credential", id, "error", err)
		return fleet.Key{}, fleet.Credential{}, errUnchecked
	}
	return key, c, nil
}

var errUnchecked = fmt.Errorf("the node token cannot be checked now, the database does not answer: try again: %w", fleet.ErrUnavailable)

// elsewhere is why a token that the database does not know, or not with this secret, is not turned away: another database has its tenant, or may. It is ErrHere where this
// one has it by now.
func (r *Replica) elsewhere(ctx context.Context, id fleet.CredentialID, sent [32]byte) error {
	if r.cfg.Elsewhere == nil {
		return nil
	}
	why, err := r.cfg.Elsewhere(ctx, id, sent)
	if err != nil {
		r.log.Debug("find where the tenant of a node credential is", "credential", id, "error", err)
		return errUnchecked
	}
	if why != nil && !errors.Is(why, ErrHere) {
		r.lookups.Doubt(xds.RemoteAddr(ctx), time.Now())
	}
	return why
}

// foundFor is for how long what the database said of a credential is believed, of a fleet that is not held. A revocation is seen that much later.
const foundFor = time.Second

// finds are the credentials that the database was asked for since a moment, no more than foundFor ago. It asks again for each of
// them then: once a second, however many nodes have it. There are no more than the database tells in that time. It is safe for concurrent use.
type finds struct {
	mu    sync.Mutex // guards what follows
	since time.Time
	by    map[fleet.CredentialID]find
}

type find struct {
	key        fleet.Key
	credential fleet.Credential
}

// get is the zero find where the database was not asked of late.
func (f *finds) get(id fleet.CredentialID, now time.Time) find {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.since) >= foundFor {
		return find{}
	}
	return f.by[id]
}

// put notes what the database said, which was asked then.
func (f *finds) put(id fleet.CredentialID, found find, asked time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case asked.Sub(f.since) >= foundFor:
		f.since, f.by = asked, map[fleet.CredentialID]find{}
	case asked.Before(f.since), f.by == nil: // others have begun anew meanwhile, or it was forgotten
		return
	}
	f.by[id] = found
}

// forget is for a database that has moved a tenant away since it was asked.
func (f *finds) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.by = nil
}

// heldCredential is a credential of a fleet that is held; the zero one if there is none.
func (r *Replica) heldCredential(id fleet.CredentialID) (fleet.Key, fleet.Credential) {
	r.mu.Lock()
	o := r.creds[id]
	r.mu.Unlock()
	if o != nil && time.Since(time.Unix(0, o.confirmed.Load())) < staleAfter {
		if c, ok := o.held.Load().creds[id]; ok {
			return o.key, c
		}
	}
	return fleet.Key{}, fleet.Credential{}
}

// invalid says why a credential is not good at the given time (the database's clock);
// "" if it is.
func invalid(c fleet.Credential, now time.Time) string {
	switch {
	case !c.RevokedAt.IsZero():
		return fmt.Sprintf("node credential %s is revoked: create a new one and put it into the proxy's token file", c.ID)
	case !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt):
		return fmt.Sprintf("node credential %s expired at %s: create a new one and put it into the proxy's token file",
			c.ID, c.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return ""
}

// ended is invalid as the error of a stream that has begun: revoked is forbidden,
// expired is unauthenticated.
func ended(c fleet.Credential, now time.Time) error {
	why := invalid(c, now)
	switch {
	case why == "":
		return nil
	case !c.RevokedAt.IsZero():
		return fmt.Errorf("%s: %w", why, fleet.ErrForbidden)
	}
	return fmt.Errorf("%s: %w", why, fleet.ErrUnauthenticated)
}

// sweep ends the streams whose credentials have ended, and sets when to look again.
func (o *owner) sweep() {
	h, now := o.held.Load(), o.r.clock.now()
	o.expiryAt = time.Time{}
	good := int64(0) // the same, of those that are not revoked
	for _, c := range h.creds {
		if !c.ExpiresAt.After(now) {
			continue
		}
		if o.expiryAt.IsZero() || c.ExpiresAt.Before(o.expiryAt) {
			o.expiryAt = c.ExpiresAt
		}
		if at := c.ExpiresAt.UnixNano(); c.RevokedAt.IsZero() && (good == 0 || at < good) {
			good = at
		}
	}
	o.ends.Store(good)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streams.sweep(h.creds, now)
}

// expired reports whether a credential has ended since the last sweep.
func (o *owner) expired() bool { return !o.expiryAt.IsZero() && !o.r.clock.now().Before(o.expiryAt) }
