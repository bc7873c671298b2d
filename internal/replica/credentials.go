package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// Why a stream ends, or does not begin. The texts are for whoever reads the proxy's log.
var (
	errGone    = fmt.Errorf("the fleet was deleted: %w", fleet.ErrForbidden)
	errRemoved = fmt.Errorf("the node credential is not there any more: create a new one and put it into the proxy's token file: %w", fleet.ErrForbidden)
	errUnknown = fmt.Errorf("the node token is not known here: create a node credential and put its token into the proxy's token file: %w", fleet.ErrUnauthenticated)
)

var _ xds.Authenticator = (*Replica)(nil)

// Authenticate finds whose node token it is: among the credentials of the fleets that
// are held, as long as they were confirmed within a day, else in the database.
func (r *Replica) Authenticate(ctx context.Context, token string) (xds.Identity, error) {
	id, err := auth.ParseNodeToken(token)
	if err != nil {
		return xds.Identity{}, err
	}
	key, c, err := r.findCredential(ctx, id)
	// The hash is compared in every case, so that time does not tell known ids (T07).
	same := auth.Equal(c.Hash, auth.Hash(token))
	switch {
	case err != nil:
		return xds.Identity{}, err
	case !same:
		return xds.Identity{}, errUnknown
	}
	if why := invalid(c, r.now()); why != "" {
		return xds.Identity{}, fmt.Errorf("%s: %w", why, fleet.ErrUnauthenticated)
	}
	nodes, err := auth.ParseNodePattern(c.Nodes)
	if err != nil {
		return xds.Identity{}, fmt.Errorf("node credential %s: %w", c.ID, err)
	}
	return xds.Identity{Key: key, Credential: c.ID, Nodes: nodes}, nil
}

func (r *Replica) findCredential(ctx context.Context, id fleet.CredentialID) (fleet.Key, fleet.Credential, error) {
	if key, c, err := r.knownCredential(id); !errors.Is(err, errAsk) {
		return key, c, err
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	select {
	case r.finds <- struct{}{}:
		defer func() { <-r.finds }()
	case <-ctx.Done():
		return fleet.Key{}, fleet.Credential{}, fmt.Errorf("the node token cannot be checked now, too many wait for it: try again: %w", fleet.ErrUnavailable)
	}
	if key, c, err := r.knownCredential(id); !errors.Is(err, errAsk) { // somebody has found out meanwhile
		return key, c, err
	}
	key, c, err := r.cfg.Feed.FindNodeCredential(ctx, id)
	switch {
	case errors.Is(err, fleet.ErrNotFound):
		r.unknown.add(id, time.Now())
		return key, c, errUnknown
	case err != nil:
		r.log.Debug("find a node credential", "credential", id, "error", err)
		return key, c, fmt.Errorf("the node token cannot be checked now, the database does not answer: try again: %w", fleet.ErrUnavailable)
	}
	return key, c, nil
}

// errAsk says that only the database knows.
var errAsk = errors.New("not known without the database")

// knownCredential answers without the database, or errAsk: the credential is one of a
// fleet that is held, or was not to be found a moment ago.
func (r *Replica) knownCredential(id fleet.CredentialID) (fleet.Key, fleet.Credential, error) {
	r.mu.Lock()
	o := r.creds[id]
	r.mu.Unlock()
	if o != nil && time.Since(time.Unix(0, o.confirmed.Load())) < staleAfter {
		if c, ok := o.held.Load().creds[id]; ok {
			return o.key, c, nil
		}
	}
	if r.unknown.has(id, time.Now()) {
		return fleet.Key{}, fleet.Credential{}, errUnknown
	}
	return fleet.Key{}, fleet.Credential{}, errAsk
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
	h, now := o.held.Load(), o.r.now()
	o.expiryAt = time.Time{}
	for _, c := range h.creds {
		if c.ExpiresAt.After(now) && (o.expiryAt.IsZero() || c.ExpiresAt.Before(o.expiryAt)) {
			o.expiryAt = c.ExpiresAt
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for a := range o.streams {
		if c, ok := h.creds[a.id.Credential]; ok { // else it is judged by sweepUnknown
			if err := ended(c, now); err != nil {
				a.end(err)
			}
		}
	}
}

// sweepUnknown ends the streams whose credential is not among the fleet's, if the
// reading began after the stream did: a credential that was made a moment ago is found
// in the database before the fleet's owner has heard of it.
func (o *owner) sweepUnknown(round int) {
	creds := o.held.Load().creds
	o.mu.Lock()
	defer o.mu.Unlock()
	for a := range o.streams {
		if a.id.Credential == (fleet.CredentialID{}) {
			continue // of a port that asks for none
		}
		if _, ok := creds[a.id.Credential]; !ok && a.round < round {
			a.end(errRemoved)
		}
	}
}

// expired reports whether a credential has ended since the last sweep.
func (o *owner) expired() bool { return !o.expiryAt.IsZero() && !o.r.now().Before(o.expiryAt) }
