package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// breakable is a kind of fault: what it is of, how many of these there are, and how to break one.
type breakable struct {
	kind, of string
	targets  int
	harm     func(target int, lasts time.Duration) (heal func())
}

// fault is one that a seed chose: when, counted from the beginning, of which one, and for how long.
type fault struct {
	breakable
	at, lasts time.Duration
	target    int
}

func (f fault) String() string {
	return fmt.Sprintf("%s: %s %s %d for %s", f.at.Round(time.Millisecond), f.kind, f.of, f.target, f.lasts.Round(time.Millisecond))
}

// plan is the schedule of a seed, and the same for the same seed. All kinds come in turn, in an order that the seed chooses. Nothing is
// broken in two ways at once: what is stopped is not killed meanwhile.
func plan(seed uint64, whole time.Duration, kinds []breakable) (faults []fault) {
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // it has to be the same again
	until := map[string]time.Duration{}
	var turn []breakable
	for at := time.Duration(0); ; {
		at += 200*time.Millisecond + time.Duration(rng.Int64N(int64(min(whole/20, 5*time.Second))))
		lasts := 300*time.Millisecond + time.Duration(rng.Int64N(int64(min(whole/6, 20*time.Second))))
		if at >= whole {
			return faults
		}
		if len(turn) == 0 {
			turn = slices.Clone(kinds)
			rng.Shuffle(len(turn), func(i, k int) { turn[i], turn[k] = turn[k], turn[i] })
		}
		f := fault{turn[0], at, min(lasts, whole-at), rng.IntN(turn[0].targets)}
		if of := fmt.Sprint(f.of, f.target); until[of] <= at {
			until[of] = at + f.lasts + time.Second
			faults = append(faults, f)
			turn = turn[1:]
		}
	}
}

// play makes the faults, one goroutine for all, and returns when all is whole again.
func play(ctx context.Context, faults []fault, say func(string, ...any)) {
	type event struct {
		at time.Duration
		do func() // what is to be done
	}
	var events []event
	for _, f := range faults {
		var heal func()
		events = append(events, event{f.at, func() {
			say("%s", f)
			heal = f.harm(f.target, f.lasts)
		}}, event{f.at + f.lasts, func() {
			if heal != nil {
				heal()
			}
		}})
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
	began := time.Now()
	for _, e := range events {
		select {
		case <-ctx.Done(): // the test ends: what is broken is made whole, and nothing more is broken
		case <-time.After(e.at - time.Since(began)):
		}
		e.do()
	}
}
