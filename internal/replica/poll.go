package replica

import (
	"context"
	"math/rand/v2"
	"time"

	"fairlead/internal/fleet"
)

// pollHeads asks every Poll, and when all bells ring at once, which fleets moved. It is
// what a lost bell costs, how a database that is back is noticed, and what confirms
// that credentials are still the present ones.
func (r *Replica) pollHeads(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	away := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-r.pollNo:
		}
		err := r.pollOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !away:
			r.log.Warn("the database does not answer: what is held is served on", "doing", "read the heads", "error", err)
		case err == nil && away:
			r.log.Info("the database answers again")
		}
		away = err != nil
		r.away.Store(away)
		fifth := r.cfg.Poll / 5
		timer.Reset(r.cfg.Poll - fifth + rand.N(2*fifth+1))
	}
}

func (r *Replica) pollOnce(ctx context.Context) error {
	r.gone.trim()
	owners, known := r.positions()
	for _, o := range owners {
		o.earlier.forget()
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	begun := time.Now()
	keys, err := r.cfg.Feed.Moved(ctx, known)
	if err != nil {
		return err
	}
	r.ready.Store(true)
	moved := make(map[fleet.Key]struct{}, len(keys))
	for _, k := range keys {
		moved[k] = struct{}{}
	}
	n := 0
	for _, o := range owners {
		if _, ok := moved[o.key]; !ok {
			if o.held.Load() != nil {
				o.confirm(begun)
			}
			if o.failing.Load() {
				signal(o.dirty) // the database is back
			}
			continue
		}
		if n++; n > stormFrom {
			o.notBefore.Store(begun.Add(rand.N(stormSpread)).UnixNano())
		}
		o.ring(byPoll)
	}
	return nil
}

// positions returns all owners, and the positions of those that hold something.
func (r *Replica) positions() (owners []*owner, known []fleet.Known) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.fleets {
		owners = append(owners, o)
		if s := o.held.Load(); s != nil {
			known = append(known, fleet.Known{Key: o.key, At: s.at})
		}
	}
	return owners, known
}
