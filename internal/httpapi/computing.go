package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"fairlead/internal/compute"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

const (
	// largeBytes is from what size on what is computed is large; of findings it is largeCount, of resources and nodes.
	largeBytes = 64 << 10
	largeCount = 1_000

	computingWaits    = 100              // of a tenant's computations
	computingPatience = 10 * time.Second // for a turn
	readingWaits      = 100              // of a tenant's readings of whole fleets
	// readersOfFacts is how many fleets are read at the same time, where there are processors for more, in turn between tenants: of one that is not kept all
	// bodies are.
	readersOfFacts = 2

	// finishing is for how long a server that stops goes on with what it computes.
	finishing = 5 * time.Second
)

// newComputing leaves a processor to those who compute nothing: on two, one is for what is large. What is small has another one.
func newComputing() *compute.Pool {
	large := max(1, runtime.GOMAXPROCS(0)-1)
	return compute.New(compute.Config{Slots: large + 1, Reserved: 1, Waiting: computingWaits, Patience: computingPatience})
}

// newReading are the turns of whole fleets that are read.
func newReading() *compute.Pool {
	return compute.New(compute.Config{Slots: min(readersOfFacts, max(1, runtime.GOMAXPROCS(0)-1)), Waiting: readingWaits, Patience: computingPatience})
}

// largeRest is for how long there is no large computation before they are over: whoever writes in parts comes again by then.
const largeRest = time.Second

// TellLarge calls f with true when large computations begin, and with false when they are over, until ctx ends. A server has one caller.
func (p *Process) TellLarge(ctx context.Context, f func(here bool)) error {
	p.computing.TellLarge(ctx, largeRest, f)
	return nil
}

// sizeKind tells by its size what is large.
func sizeKind(bytes int) compute.Kind {
	if bytes < largeBytes {
		return compute.Small
	}
	return compute.Large
}

// partBytes is how large a part counts of something that is computed in parts, of so many rows: as large as the whole is at least, which takes as long.
func partBytes(bytes, rows int) int { return max(bytes, rows*rowBytes) }

// compute calls f when it is the tenant's turn. f calls step at each of its steps, and ends with its error: when the client has gone,
// or the server has been stopping for a while.
func (a *API) compute(ctx context.Context, c *call, kind compute.Kind, f func(step func() error) error) error {
	turn := c.turn
	if c.turn = nil; turn == nil {
		var err error
		if turn, err = a.turn(ctx, c, kind); err != nil {
			return err
		}
	}
	defer turn.Leave()
	return f(func() error { return a.step(ctx, turn) })
}

// turn waits until it is the tenant's turn to compute.
func (a *API) turn(ctx context.Context, c *call, kind compute.Kind) (*compute.Turn, error) {
	begun := time.Now()
	if kind == compute.Large {
		c.giveWay()
	}
	turn, err := a.computing.Enter(ctx, c.tenantID(), kind)
	_, refused := asBusy(err)
	a.metrics.Computes(kind == compute.Large, !refused, time.Since(begun))
	return turn, err
}

// checked checks requests against the contract: those with a long body in a turn, with which the first computation of the request goes on. Who has
// none, and waits for something else, leaves it before (leaveTurn).
func (a *API) checked(validate func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		check := validate(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !a.operation(r).rule.rows || r.ContentLength < largeBytes {
				check.ServeHTTP(w, r)
				return
			}
			c := callOf(r)
			turn, err := a.turn(r.Context(), c, compute.Large)
			if err != nil {
				fail(w, r, err)
				return
			}
			defer turn.Leave()
			c.turn = turn
			check.ServeHTTP(w, r)
		})
	}
}

// leaveTurn: the request computes nothing any more.
func (c *call) leaveTurn() {
	if c.turn != nil {
		c.turn.Leave()
		c.turn = nil
	}
}

// ended reports whether stop is closed.
func ended(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func (a *API) step(ctx context.Context, turn *compute.Turn) error {
	if ended(a.draining) && time.Now().After(a.finishBy) {
		return errStopping
	}
	return turn.Yield(ctx)
}

// computeReading is compute for a reading, which is made without a turn where it is small.
func (a *API) computeReading(ctx context.Context, c *call, bytes int, f func(step func() error) error) error {
	if bytes < largeBytes {
		return f(func() error { return nil })
	}
	return a.compute(ctx, c, compute.Large, f)
}

// errStopping: nothing was done.
var errStopping = &problem{
	status: http.StatusServiceUnavailable, code: "unavailable", retry: retryAfter,
	detail: "this server stops before the request would be done, and nothing was done: repeat it",
}

// busy tells of a computation that did not get its turn.
func busy(e *compute.BusyError) *problem {
	p := refuse(http.StatusServiceUnavailable, "timeout", "")
	p.retry = retryAfter
	if e.Crowded {
		p.detail = "too many of the tenant's requests wait for a processor, and nothing was done: repeat the request, or send fewer at the same time"
	} else {
		p.detail = fmt.Sprintf("no processor was free within %v, and nothing was done: repeat the request, or send less at once", e.Patience)
	}
	return p
}

// asBusy is the problem of an error that is one.
func asBusy(err error) (*problem, bool) {
	var e *compute.BusyError
	if !errors.As(err, &e) {
		return nil, false
	}
	return busy(e), true
}

// withStep is a document that is compiled in a computation.
func withStep(d resource.Document, step func() error) resource.Document {
	d.Step = step
	return d
}

// findingsOf is of what findings are asked for: those of a fleet are the same for everybody who may read it.
type findingsOf struct {
	fleet.Key
	settings string // the ETag of the fleet's settings, which count as well
}
