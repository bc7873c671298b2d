package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const (
	mostBuckets  = 1 << 16          // of tenants and tokens that asked lately
	limitsHold   = 10 * time.Second // for how long a tenant's limits are not read again
	mostTenants  = 1 << 14          // whose limits are known
	bucketRefill = time.Minute      // a bucket that nobody has used for as long is full, so it can be forgotten
)

// counted is what is counted in this process of one tenant or of one token.
type counted struct {
	whose [16]byte
	what  store.LimitName
}

// pace bounds how many requests a tenant and a token make: a bucket for each, which holds
// as many as a minute allows and fills at that rate.
type pace struct {
	now func() time.Time

	mu      sync.Mutex // guards buckets and what is in them
	buckets recent[counted, *rate.Limiter]
}

func newPace(now func() time.Time) *pace {
	return &pace{now: now, buckets: recent[counted, *rate.Limiter]{most: mostBuckets, keep: bucketRefill}}
}

// bucketLocked makes the bucket as large as its limit says now.
func (p *pace) bucketLocked(k counted, most int64, now time.Time) *rate.Limiter {
	per := rate.Limit(float64(most) / bucketRefill.Seconds())
	b := p.buckets.get(now, k, func() *rate.Limiter { return rate.NewLimiter(per, int(most)) })
	if b.Burst() != int(most) {
		b.SetLimitAt(now, per)
		b.SetBurstAt(now, int(most))
	}
	return b
}

// take takes one out of each bucket, or none of any: then it returns the first that is
// empty, and when there will be one in it again.
func (p *pace) take(l limits, ks ...counted) (empty *counted, wait time.Duration) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []*rate.Reservation
	for _, k := range ks {
		most, ok := l[k.what]
		if !ok {
			continue
		}
		r := p.bucketLocked(k, most, now).ReserveN(now, 1)
		if r.OK() && r.DelayFrom(now) == 0 {
			taken = append(taken, r)
			continue
		}
		wait = bucketRefill // of a limit of 0
		if r.OK() {
			wait = r.DelayFrom(now)
			r.CancelAt(now)
		}
		for _, t := range taken {
			t.CancelAt(now)
		}
		return &k, wait
	}
	return nil, 0
}

// used is how many were taken of a bucket and are not filled up again.
func (p *pace) used(k counted, most int64) int64 {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.bucketLocked(k, most, now).TokensAt(now)
	return most - min(most, int64(math.Floor(left)))
}

// polls counts the requests that wait for something. It holds a number only while
// somebody waits.
type polls struct {
	mu      sync.Mutex // guards waiting
	waiting map[counted]int64
}

// enter counts a request that begins to wait, or returns what it would exceed.
func (p *polls) enter(l limits, ks ...counted) *counted {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range ks {
		if most, ok := l[k.what]; ok && p.waiting[k] >= most {
			return &k
		}
	}
	if p.waiting == nil {
		p.waiting = map[counted]int64{}
	}
	for _, k := range ks {
		p.waiting[k]++
	}
	return nil
}

func (p *polls) leave(ks ...counted) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range ks {
		if p.waiting[k]--; p.waiting[k] == 0 {
			delete(p.waiting, k)
		}
	}
}

func (p *polls) used(k counted) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[k]
}

// limits are a tenant's. What is not in it is not bounded.
type limits map[store.LimitName]int64

// limitsBook remembers the limits of tenants for a while, so that a request does not ask
// the database for them.
type limitsBook struct {
	load func(context.Context, fleet.TenantID) ([]store.Limit, error)
	now  func() time.Time

	mu    sync.Mutex // guards pages and what is in them
	pages recent[fleet.TenantID, *limitsPage]
}

type limitsPage struct {
	limits limits
	until  time.Time
}

func newLimitsBook(now func() time.Time, load func(context.Context, fleet.TenantID) ([]store.Limit, error)) *limitsBook {
	return &limitsBook{load: load, now: now, pages: recent[fleet.TenantID, *limitsPage]{most: mostTenants, keep: time.Minute}}
}

// of returns the tenant's limits; the zero tenant has the defaults. One request reads them
// anew, the others go on with what is known. Where nothing is known and the database is
// away nothing is bounded here: such a request fails by itself.
func (b *limitsBook) of(ctx context.Context, t fleet.TenantID) limits {
	now := b.now()
	b.mu.Lock()
	page := b.pages.get(now, t, func() *limitsPage { return &limitsPage{} })
	known, good := page.limits, now.Before(page.until)
	if !good {
		page.until = now.Add(databasePatience)
	}
	b.mu.Unlock()
	if good && known != nil {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	read, err := b.load(ctx, t)
	if err != nil {
		return known
	}
	fresh := make(limits, len(read))
	for _, l := range read {
		fresh[l.Name] = l.Most
	}
	b.mu.Lock()
	page.limits, page.until = fresh, b.now().Add(limitsHold)
	b.mu.Unlock()
	return fresh
}

// bothOf counts a request for its token and, of a member, for the tenant. The token is
// first: what it may not do takes nothing from the tenant's others.
func bothOf(p auth.Principal, ofToken, ofTenant store.LimitName) []counted {
	ks := []counted{{whose: p.Credential, what: ofToken}}
	if !p.Operator {
		ks = append(ks, counted{whose: p.Tenant, what: ofTenant})
	}
	return ks
}

// paced refuses what comes too fast, before it is looked at.
func (a *API) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rule := a.operation(r).rule
		if rule.scope == anybody {
			next.ServeHTTP(w, r) // whose it is, the handler finds
			return
		}
		p := callOf(r.Context()).principal
		ks := bothOf(p, store.LimitTokenWrites, store.LimitWrites)
		if r.Method == http.MethodGet || rule.reads {
			ks = bothOf(p, store.LimitTokenReads, store.LimitReads)
		}
		if err := a.spend(r.Context(), p, ks); err != nil {
			fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// spend counts a request, or refuses it.
func (a *API) spend(ctx context.Context, p auth.Principal, ks []counted) error {
	l := a.limits.of(ctx, p.Tenant)
	if empty, wait := a.pace.take(l, ks...); empty != nil {
		return tooFast(empty.what, l[empty.what], wait)
	}
	return nil
}

func tooFast(what store.LimitName, limit int64, wait time.Duration) *problem {
	p := refuse(http.StatusTooManyRequests, "rate_limited", fmt.Sprintf("%s has made the %d %s that one minute allows on this server: send the request again after the time that Retry-After says",
		words[what].whose, limit, words[what].noun))
	p.at, p.retry, p.window = &store.LimitError{What: what, Limit: limit, Used: limit}, wait, bucketRefill
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
func (a *API) beginToWait(ctx context.Context) (done func(), err error) {
	p := callOf(ctx).principal
	l, ks := a.limits.of(ctx, p.Tenant), bothOf(p, store.LimitTokenWaitingPolls, store.LimitWaitingPolls)
	if full := a.polls.enter(l, ks...); full != nil {
		limit := l[full.what]
		p := refuse(http.StatusTooManyRequests, "too_many_waiting", fmt.Sprintf("%s has %d %s on this server, which is the limit: let one end, or ask without wait",
			words[full.what].whose, limit, words[full.what].noun))
		p.at, p.retry = &store.LimitError{What: full.what, Limit: limit, Used: limit}, pollRetry
		return nil, p
	}
	callOf(ctx).giveWay()
	return func() { a.polls.leave(ks...) }, nil
}

const pollRetry = 5 * time.Second // a guess: polls last a minute at most
