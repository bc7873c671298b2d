package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/store"
)

const (
	// cellsGrace is how long the other cells are waited for where one knows a token. A question that is given up costs its connection.
	cellsGrace = 100 * time.Millisecond
	// awayFor is for how long a cell that did not answer counts as away for tokens that are looked for in all.
	awayFor = time.Second
)

// credential is what a request comes with.
type credential struct {
	id      fleet.CredentialID // public; of a session its own
	session bool
	sent    [32]byte // the hash of all of it
}

// lookedUp is what was found of a credential.
type lookedUp struct {
	credential
	api     *API // whose database has it; nil: none
	session store.Session
	token   store.Token
	err     error // fleet.ErrNotFound: there is none
}

// same reports whether what was found is what was sent.
func (f *lookedUp) same() bool {
	if f.credential.session {
		return auth.Equal(f.session.Hash, f.sent)
	}
	return auth.Equal(f.token.Hash, f.sent)
}

type lookedUpKey struct{}

// foundBefore is what the front of several cells has found of what the request came with, before it chose the API; nil: nothing.
func foundBefore(ctx context.Context) *lookedUp {
	f, _ := ctx.Value(lookedUpKey{}).(*lookedUp)
	return f
}

// find looks a credential up that came with a call: in this API's database, or in those of all cells. What the front has found counts.
func (a *API) find(ctx context.Context, c *call, cred credential) lookedUp {
	if c.found != nil && c.found.credential == cred {
		return *c.found
	}
	if a.cells != nil {
		return a.cells.find(ctx, c.remote, cred)
	}
	var f lookedUp
	err := a.lookUp(ctx, c.remote, func(ctx context.Context) error {
		if f = a.ask(ctx, cred); f.err != nil || !f.same() { // another cell may have its tenant
			f.place(ctx)
		}
		return f.err
	})
	if f.err = err; errors.Is(err, errOnItsWay) || errors.Is(err, errGone) {
		a.lookups.Doubt(c.remote, time.Now())
		f.err = errElsewhere(err)
	}
	return f
}

// ask looks it up in this API's database. Those who ask for one token at the same time share an answer.
func (a *API) ask(ctx context.Context, cred credential) lookedUp {
	f := lookedUp{credential: cred, api: a}
	if cred.session {
		f.session, f.token, f.err = a.store.FindSession(ctx, fleet.SessionID(cred.id))
	} else {
		f.token, f.err = a.tokens.Do(ctx, cred.id, func(ctx context.Context) (store.Token, error) { return a.store.FindToken(ctx, cred.id) })
	}
	return f
}

// find asks the cell in which it was good before, without a wait: whoever has not the whole token gets no further than the others. Else, and where
// that cell does not know it any more, all are asked.
func (c *Cells) find(ctx context.Context, address string, cred credential) lookedUp {
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	if i, ok := c.homes.Of(cred.sent); ok {
		f := c.cells[i].api.Load().ask(ctx, cred)
		if !errors.Is(f.err, fleet.ErrNotFound) {
			return f
		}
		c.homes.Forget(cred.sent)
	}
	leave, err := c.process.lookups.Begin(ctx, address, time.Now())
	if err != nil {
		return lookedUp{credential: cred, err: err}
	}
	defer leave()
	f, err := c.asks.Do(ctx, cred, func(ctx context.Context) (lookedUp, error) {
		f := c.askAll(ctx, cred)
		return f, f.err
	})
	switch {
	case err == nil:
		c.homes.Put(cred.sent, slices.IndexFunc(c.cells, func(x *cell) bool { return x.api.Load() == f.api }))
	case errors.Is(err, fleet.ErrNotFound):
		f = lookedUp{credential: cred, err: err}
	default:
		if errors.Is(err, errTwice) {
			c.log.ErrorContext(ctx, "two cells serve the tenant of a token, which is not let in: unless a move ends just now, one of them was restored to a time before it (docs/cells.md)", "credential", cred.id)
		}
		c.process.lookups.Doubt(address, time.Now())
		f = lookedUp{credential: cred, err: errElsewhere(err)}
	}
	return f
}

// errElsewhere: a cell that could not be asked may have the token, a tenant is between two cells, or in one that this server does not know. Who has no token is told
// no more than that.
func errElsewhere(cause error) *problem {
	p := refuse(http.StatusServiceUnavailable, "tenant_elsewhere", "the tenant has moved to another cell, which this server does not know, and nothing was done: its operator has to give it a --cells-file (FAIRLEAD_CELLS_FILE) that names that cell")
	if !errors.Is(cause, errGone) {
		p = refuse(http.StatusServiceUnavailable, "unavailable", "it cannot be told now whose token or session this is: a part of the installation does not answer, or a tenant is being moved; repeat the request")
	}
	p.retry, p.cause = retryAfter, cause
	return p
}

// askAll asks all cells at the same time. That there is none is told when all have answered so.
func (c *Cells) askAll(ctx context.Context, cred credential) lookedUp {
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan lookedUp, len(c.cells))
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for _, x := range c.cells {
		all.Go(func() {
			f := lookedUp{credential: cred}
			err := lifecycle.Contain(c.log, "a question to a cell", func() error { f = x.ask(ctx, cred); return nil })
			if err != nil { // it panicked
				f.err = err
			}
			answers <- f
		})
	}
	var late <-chan time.Time
	said := heard{found: lookedUp{credential: cred, err: fleet.ErrNotFound}}
	for range c.cells {
		select {
		case f := <-answers:
			if said.hear(f); f.err == nil && late == nil {
				late = time.After(cellsGrace)
			}
		case <-late:
			return said.all()
		}
	}
	return said.all()
}

// heard is what cells have said.
type heard struct {
	found          lookedUp
	away, onItsWay error // of one that could not be asked, of one that is about to have the tenant
	gone           error // of one that has what the tenant has left
	wrong          bool  // one knows the id, with another secret
	twice          bool  // two know it, all of it
	deleted        bool  // one has deleted the tenant
}

func (h *heard) hear(f lookedUp) {
	switch {
	case f.err == nil:
		h.found, h.twice = f, h.found.api != nil
	case errors.Is(f.err, errWrongSecret):
		h.wrong = true
	case errors.Is(f.err, errDeleted):
		h.deleted = true
	case errors.Is(f.err, errOnItsWay):
		h.onItsWay = f.err
	case errors.Is(f.err, errGone):
		h.gone = f.err
	case !errors.Is(f.err, fleet.ErrNotFound):
		h.away = f.err
	}
}

// all is what they have said together. A tenant that one knows, or has deleted, is not on its way any more, whatever
// the cell says that it has left.
func (h *heard) all() lookedUp {
	switch {
	case h.twice:
		return lookedUp{credential: h.found.credential, err: errTwice}
	case h.found.err == nil:
	case h.away != nil:
		h.found.err = h.away
	case h.wrong || h.deleted:
	case h.onItsWay != nil:
		h.found.err = h.onItsWay
	case h.gone != nil:
		h.found.err = h.gone
	}
	return h.found
}

// ask looks it up in one cell of several, in two questions: one with a wrong secret is told from an unknown one by nothing (T07). A tenant that is on its way to or
// from this cell is not unknown to it.
func (x *cell) ask(ctx context.Context, cred credential) lookedUp {
	f := lookedUp{credential: cred, api: x.api.Load()}
	if f.api == nil {
		f.err = fmt.Errorf("cell %s: its database was not reached yet: %w", x.name, fleet.ErrUnavailable)
		return f
	}
	if at := x.away.Load(); at != 0 && time.Since(time.Unix(0, at)) < awayFor {
		f.err = fmt.Errorf("cell %s: its database did not answer lately: %w", x.name, fleet.ErrUnavailable)
		return f
	}
	f.read(ctx)
	f.place(ctx)
	switch {
	case f.err == nil || errors.Is(f.err, fleet.ErrNotFound):
		x.away.Store(0)
	case errors.Is(ctx.Err(), context.Canceled): // another cell has it
	default:
		if !errors.Is(f.err, errOnItsWay) && !errors.Is(f.err, errGone) {
			x.away.Store(time.Now().UnixNano())
		}
		f.err = fmt.Errorf("cell %s: %w", x.name, f.err)
	}
	return f
}

// read is one question, which ends with ctx.
func (f *lookedUp) read(ctx context.Context) {
	if f.credential.session {
		f.session, f.token, f.err = f.api.store.FindSession(ctx, fleet.SessionID(f.id))
	} else {
		f.token, f.err = f.api.store.FindToken(ctx, f.id)
	}
}

var (
	// errOnItsWay tells that a tenant is between two cells.
	errOnItsWay = fmt.Errorf("the tenant is being moved: %w", fleet.ErrUnavailable)
	// errGone tells that a cell has what a tenant has left. Where no cell is about to have the tenant, it is in one that this server does not know.
	errGone = fmt.Errorf("the tenant has moved to another cell: %w", fleet.ErrUnavailable)
	// errTwice tells that two cells serve the tenant, which a move never comes to. None is believed: what is written in one the other has not.
	errTwice = fmt.Errorf("two cells serve the tenant: %w", fleet.ErrUnavailable)
	// errDeleted is told nobody: another cell may have what the tenant has left there, and it is on its way to none.
	errDeleted = fmt.Errorf("the tenant is deleted: %w", fleet.ErrNotFound)
	// errWrongSecret is told nobody: it is as good as none.
	errWrongSecret = fmt.Errorf("it has another secret: %w", fleet.ErrNotFound)
)

// place asks whether a tenant of the cell has what was not found, secret and all.
func (f *lookedUp) place(ctx context.Context) {
	if f.err != nil && !errors.Is(f.err, fleet.ErrNotFound) {
		return
	}
	at, err := f.api.store.Place(ctx, f.id, f.sent)
	switch {
	case f.err == nil && f.same():
	case err != nil:
		f.err = err
	case at == store.TokenArriving:
		f.err = errOnItsWay
	case at == store.TokenGone:
		f.err = errGone
	case at == store.TokenDeleted:
		f.err = errDeleted
	case f.err == nil:
		f.err = errWrongSecret
	case at == store.TokenHere: // since this moment
		f.read(ctx)
	}
}

// endElsewhere ends the session whose cookie came along with a sign-in to another cell.
func (c *Cells) endElsewhere(ctx context.Context, in *API, by *call, begun store.NewSession) {
	f := c.find(ctx, by.remote, credential{id: fleet.CredentialID(begun.Before), session: true, sent: begun.OldHash})
	if f.err != nil || f.api == in {
		return
	}
	p := f.token.Principal
	old := &call{principal: p, session: &f.session, actor: by.actor}
	old.actor.Credential, old.actor.Name = p.Credential, p.Name
	if err := f.api.endOwn(ctx, old); err != nil && !errors.Is(err, fleet.ErrNotFound) {
		c.log.WarnContext(ctx, "the session of another cell is not ended at a sign-in", "error", err)
	}
}
