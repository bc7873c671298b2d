package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/store"
)

// paced refuses what comes too fast, before it is looked at.
func (a *API) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rule := a.operation(r).rule
		if rule.scope == anybody {
			next.ServeHTTP(w, r) // whose it is, the handler finds
			return
		}
		p := callOf(r).principal
		ks := access.BothOf(p, store.LimitTokenWrites, store.LimitWrites)
		if r.Method == http.MethodGet || rule.reads {
			ks = access.BothOf(p, store.LimitTokenReads, store.LimitReads)
		}
		if err := a.spend(r.Context(), p, ks); err != nil {
			fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// spend counts a request, or refuses it.
func (a *API) spend(ctx context.Context, p auth.Principal, ks []access.Counted) error {
	l := a.limits.Of(ctx, p.Tenant, a.store.Limits)
	if empty, wait := a.pace.Take(l, ks...); empty != nil {
		return tooFast(empty.What, l[empty.What], wait)
	}
	return nil
}

func tooFast(what store.LimitName, limit int64, wait time.Duration) *problem {
	p := refuse(http.StatusTooManyRequests, "rate_limited", fmt.Sprintf("%s has made the %d %s that one minute allows on this server: send the request again after the time that Retry-After says",
		words[what].whose, limit, words[what].noun))
	p.at, p.retry, p.window = &store.LimitError{What: what, Limit: limit, Used: limit}, wait, access.BucketRefill
	return p
}

// rateHeaders tells a refused client its rate, after the draft "RateLimit header fields
// for HTTP". Other answers do not have them: they would tell a stranger's request from
// another.
func rateHeaders(h http.Header, p *problem) {
	if p.window == 0 {
		return
	}
	h.Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, p.at.What, p.at.Limit, int(p.window.Seconds())))
	h.Set("RateLimit", fmt.Sprintf(`"%s";r=0;t=%d`, p.at.What, wholeSecondsUp(p.retry)))
}

func wholeSecondsUp(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// beginToWait counts a long poll until the function that it returns is called.
func (a *API) beginToWait(ctx context.Context, c *call) (done func(), err error) {
	p := c.principal
	l, ks := a.limits.Of(ctx, p.Tenant, a.store.Limits), access.BothOf(p, store.LimitTokenWaitingPolls, store.LimitWaitingPolls)
	if full := a.polls.Enter(l, ks...); full != nil {
		limit := l[full.What]
		p := refuse(http.StatusTooManyRequests, "too_many_waiting", fmt.Sprintf("%s has %d %s on this server, which is the limit: let one end, or ask without wait",
			words[full.What].whose, limit, words[full.What].noun))
		p.at, p.retry = &store.LimitError{What: full.What, Limit: limit, Used: limit}, pollRetry
		return nil, p
	}
	c.giveWay()
	return func() { a.polls.Leave(ks...) }, nil
}

const pollRetry = 5 * time.Second // a guess: polls last a minute at most
