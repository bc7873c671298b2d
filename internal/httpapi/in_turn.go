package httpapi

import (
	"errors"
	"net/http"

	"fairlead/internal/httpapi/access"
)

// giveWay lets the tenant's next request in, and large computations go on: this one waits for something that takes no processor, or computes itself.
func (c *call) giveWay() {
	if c.yield != nil {
		c.yield()
	}
}

// inTurn works on a request when its tenant has a place for it. What stands in its path was looked up before, so nobody waits for that with a place. Operators share one, and what anybody may ask for waits for none.
func (a *API) inTurn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.operation(r).rule.scope == anybody {
			next.ServeHTTP(w, r)
			return
		}
		c := callOf(r)
		if gathers(r, a.operation(r)) {
			if err := a.unread.Await(r.Context(), c.principal); err != nil {
				fail(w, r, unreadAnswers(err))
				return
			}
		}
		place, err := a.shares.Enter(r.Context(), c.principal.Tenant)
		if err != nil {
			fail(w, r, err)
			return
		}
		defer place.Leave()
		over := a.computing.Brief(a.shares.Brief)
		defer over()
		c.yield = func() { over(); place.Yield() }
		next.ServeHTTP(a.unread.Answers(w, c.principal), r)
	})
}

// unreadAnswers is the problem of a caller who does not read what it was answered.
func unreadAnswers(err error) error {
	var full *access.UnreadError
	if !errors.As(err, &full) {
		return err
	}
	p := refuse(http.StatusServiceUnavailable, "timeout", full.Error())
	p.retry = retryAfter
	return p
}

// gathers reports whether the answer to a request may be long. Revocations and deletions wait for nobody who does not read.
func gathers(r *http.Request, op operation) bool {
	return r.Method == http.MethodGet || op.rule.reads || op.rule.document
}
