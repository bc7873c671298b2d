package replica

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// Earlier contents of a fleet are kept for those who come back together.
const (
	maxBefore  = 4
	keepBefore = time.Minute // after the last of them
)

// earlier is the content of an earlier revision.
type earlier struct {
	content *content
	used    time.Time
}

// recallBefore is the content of an earlier revision if it was read lately; nil if not.
// o.mu is held.
func (o *owner) recallBefore(at fleet.Revision, history uint64) *content {
	e := o.befores[at]
	if e == nil || e.content.history != history {
		return nil
	}
	e.used = time.Now()
	return e.content
}

// forgetBefores drops what nobody has come back for lately.
func (o *owner) forgetBefores() {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.befores, func(_ fleet.Revision, e *earlier) bool { return time.Since(e.used) >= keepBefore })
}

// before is what a node that has settled an earlier revision held then: the last good of
// whatever it refuses now (SEMANTICS 3.2). nil: that cannot be found out, or it is known
// anyway.
func (o *owner) before(ctx context.Context, past *recalled, labels selector.Labels) *snapshot.Snapshot {
	if past == nil || past.Settled == 0 {
		return nil
	}
	o.mu.Lock()
	now := o.content
	c := o.recallBefore(past.Settled, now.history)
	o.mu.Unlock()
	if past.Settled >= now.revision {
		return nil
	}
	if c == nil {
		var err error
		if c, err = o.contentAt(ctx, now, past.Settled); err != nil {
			o.r.log.Debug("what a node held before cannot be read", "fleet", o.key, "revision", past.Settled, "error", err)
			return nil
		}
	}
	return o.without(newView(c, c.index.Match(labels)).snap, slices.Concat(past.Refusals, past.Ended))
}

// without is what a node held of a view that refused some of it. Where bytes are lost it is
// the view's own.
func (o *owner) without(snap *snapshot.Snapshot, refusals []fleet.PastRefusal) *snapshot.Snapshot {
	for _, f := range refusals {
		e := snapshot.Exception{Type: f.Type, Name: f.Name, Refused: f.Version}
		if !f.Stood(snap.Revision) || !e.Applies(snap) {
			continue
		}
		switch good := o.revive(f); {
		case good != nil:
			snap.Types[f.Type] = snap.Types[f.Type].With(good)
		case strings.HasPrefix(f.Action, fleet.ActionRemoved):
			snap.Types[f.Type] = snap.Types[f.Type].Without(f.Name)
		}
	}
	return snap
}

// contentAt derives an earlier content from the present one, by what has changed since.
func (o *owner) contentAt(ctx context.Context, now *content, at fleet.Revision) (*content, error) {
	ctx, cancel := context.WithTimeout(ctx, pastWait)
	defer cancel()
	select {
	case o.r.befores <- struct{}{}: // one reading at a time: those who wait want the same, as a rule
		defer func() { <-o.r.befores }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	o.mu.Lock()
	c := o.recallBefore(at, now.history)
	o.mu.Unlock()
	if c != nil {
		return c, nil
	}
	rows, err := o.r.cfg.Feed.ResourcesAt(ctx, o.key, at)
	if err != nil {
		return nil, err
	}
	c = o.derive(now, fleet.Change{At: fleet.Position{Revision: at}, Rows: rows}, false).next
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.befores == nil {
		o.befores = make(map[fleet.Revision]*earlier)
	}
	for oldest := range o.befores { // any of them: they cost a reading
		if len(o.befores) >= maxBefore {
			delete(o.befores, oldest)
		}
	}
	o.befores[at] = &earlier{c, time.Now()}
	return c, nil
}
