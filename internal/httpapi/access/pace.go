package access

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const (
	mostBuckets = 1 << 16          // of tenants and tokens that asked lately
	limitsHold  = 10 * time.Second // for how long a tenant's limits are not read again
	mostTenants = 1 << 14          // whose limits are known
)

// BucketRefill is the time in which a bucket fills: one that nobody has used for as long is full, so it can be forgotten.
const BucketRefill = time.Minute

// Counted is what is counted in this process of one tenant or of one token.
type Counted struct {
	Whose [16]byte
	What  store.LimitName
}

// Pace bounds how many requests a tenant and a token make: a bucket for each, which holds
// as many as a minute allows and fills at that rate.
type Pace struct {
	now func() time.Time

	mu      sync.Mutex // guards buckets and what is in them
	buckets recent[Counted, *rate.Limiter]
}

// NewPace has every bucket full.
func NewPace(now func() time.Time) *Pace {
	return &Pace{now: now, buckets: recent[Counted, *rate.Limiter]{most: mostBuckets, keep: BucketRefill}}
}

// bucketLocked makes the bucket as large as its limit says now.
func (p *Pace) bucketLocked(k Counted, most int64, now time.Time) *rate.Limiter {
	per := rate.Limit(float64(most) / BucketRefill.Seconds())
	b := p.buckets.get(now, k, func() *rate.Limiter { return rate.NewLimiter(per, int(most)) })
	if b.Burst() != int(most) {
		b.SetLimitAt(now, per)
		b.SetBurstAt(now, int(most))
	}
	return b
}

// Take takes one out of each bucket, or none of any: then it returns the first that is
// empty, and when there will be one in it again.
func (p *Pace) Take(l Limits, ks ...Counted) (empty *Counted, wait time.Duration) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []*rate.Reservation
	for _, k := range ks {
		most, ok := l[k.What]
		if !ok {
			continue
		}
		r := p.bucketLocked(k, most, now).ReserveN(now, 1)
		if r.OK() && r.DelayFrom(now) == 0 {
			taken = append(taken, r)
			continue
		}
		wait = BucketRefill // of a limit of 0
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

// Used is how many were taken of a bucket and are not filled up again.
func (p *Pace) Used(k Counted, most int64) int64 {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.bucketLocked(k, most, now).TokensAt(now)
	return most - min(most, int64(math.Floor(left)))
}

// Polls counts the requests that wait for something. It holds a number only while
// somebody waits.
type Polls struct {
	mu      sync.Mutex // guards waiting
	waiting map[Counted]int64
}

// Enter counts a request that begins to wait, or returns what it would exceed.
func (p *Polls) Enter(l Limits, ks ...Counted) *Counted {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range ks {
		if most, ok := l[k.What]; ok && p.waiting[k] >= most {
			return &k
		}
	}
	if p.waiting == nil {
		p.waiting = map[Counted]int64{}
	}
	for _, k := range ks {
		p.waiting[k]++
	}
	return nil
}

// Leave counts a request that has ended to wait.
func (p *Polls) Leave(ks ...Counted) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range ks {
		if p.waiting[k]--; p.waiting[k] == 0 {
			delete(p.waiting, k)
		}
	}
}

// Len is of how many it holds a number.
func (p *Polls) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// Used is how many wait.
func (p *Polls) Used(k Counted) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[k]
}

// Limits are a tenant's. What is not in it is not bounded.
type Limits map[store.LimitName]int64

// LimitsBook remembers the limits of tenants for a while, so that a request does not ask
// the database for them.
type LimitsBook struct {
	patience time.Duration // for the database
	now      func() time.Time

	mu    sync.Mutex // guards pages and what is in them
	pages recent[fleet.TenantID, *limitsPage]
}

type limitsPage struct {
	limits Limits
	until  time.Time
}

// NewLimitsBook asks for so long at most.
func NewLimitsBook(now func() time.Time, patience time.Duration) *LimitsBook {
	return &LimitsBook{patience: patience, now: now, pages: recent[fleet.TenantID, *limitsPage]{most: mostTenants, keep: time.Minute}}
}

// Of returns the tenant's limits; the zero tenant has the defaults. One request reads them
// anew with load, the others go on with what is known. Where nothing is known and the database is
// away nothing is bounded here: such a request fails by itself.
func (b *LimitsBook) Of(ctx context.Context, t fleet.TenantID, load func(context.Context, fleet.TenantID) ([]store.Limit, error)) Limits {
	now := b.now()
	b.mu.Lock()
	page := b.pages.get(now, t, func() *limitsPage { return &limitsPage{} })
	known, good := page.limits, now.Before(page.until)
	if !good {
		page.until = now.Add(b.patience)
	}
	b.mu.Unlock()
	if good && known != nil {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	read, err := load(ctx, t)
	if err != nil {
		return known
	}
	fresh := make(Limits, len(read))
	for _, l := range read {
		fresh[l.Name] = l.Most
	}
	b.mu.Lock()
	page.limits, page.until = fresh, b.now().Add(limitsHold)
	b.mu.Unlock()
	return fresh
}

// BothOf counts a request for its token and, of a member, for the tenant. The token is
// first: what it may not do takes nothing from the tenant's others.
func BothOf(p auth.Principal, ofToken, ofTenant store.LimitName) []Counted {
	ks := []Counted{{Whose: p.Credential, What: ofToken}}
	if !p.Operator {
		ks = append(ks, Counted{Whose: p.Tenant, What: ofTenant})
	}
	return ks
}
