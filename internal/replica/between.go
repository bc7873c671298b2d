package replica

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// changes are a fleet's latest revisions up to one, each with what it changed. They are immutable but for the last two.
type changes struct {
	upTo    fleet.Revision
	history uint64
	base    *content // the oldest of them; nil: there are no steps
	steps   []difference
	views   map[string]*snapshot.Snapshot // of the newest of them, by all vectors; guarded by earlierContents.mu
	used    time.Time                     // guarded by earlierContents.mu
}

func (cs *changes) bytes() int {
	if cs.base == nil {
		return 0
	}
	n := cs.base.own
	for _, d := range cs.steps {
		n += d.next.own
	}
	return n
}

// between is a view as it was when this server came to the fleet or passed revisions over, with what it had been before: a client in state of the world
// that another server gave some of that reports a version, and not what it has. nil: the server has seen all that came after the node settled, or it cannot be found out.
// It costs one reading of the changes up to there, for all nodes of the fleet whose views began with it, and a view for those of the same labels.
func (o *owner) between(ctx context.Context, s xds.StreamInfo, a *attachment, settled fleet.Revision, labels selector.Labels) *snapshot.Snapshot {
	since, now := o.since(a), o.shown() // which is as new, at least
	if now == nil || settled >= since {
		return nil
	}
	var cs *changes
	var err error
	s.Await(func() { cs, err = o.changesUpTo(ctx, now, since) })
	switch {
	case err != nil:
		o.r.log.Debug("what a fleet held lately cannot be read", "fleet", o.key, "revision", since, "error", err)
		return nil
	case len(cs.steps) == 0: // nothing came before
		return nil
	}
	return o.earlier.viewUpTo(cs, labels)
}

// since is from which revision on the server has seen all that a stream's view held.
func (o *owner) since(a *attachment) fleet.Revision {
	o.mu.Lock()
	defer o.mu.Unlock()
	return a.subscriber.view.snap.Since
}

// changesUpTo reads them, unless they were read lately.
func (o *owner) changesUpTo(ctx context.Context, now *content, upTo fleet.Revision) (cs *changes, err error) {
	kept := func() bool { cs = o.earlier.changesUpTo(upTo, now.history); return cs != nil }
	err = o.readEarlier(ctx, pastKey{at: upTo, changes: true, history: now.history}, kept, func(ctx context.Context) error {
		rows, err := o.rowsOf(ctx, upTo, o.r.cfg.Feed.ChangesUpTo)
		if err != nil {
			return err
		}
		read := &changes{upTo: upTo, history: now.history, used: time.Now()}
		if len(rows) > 0 {
			slices.SortStableFunc(rows, func(a, b fleet.Row) int { return cmp.Compare(a.Revision, b.Revision) })
			if read.base, err = o.deriveAt(ctx, now, rows[0].Revision); err != nil { // which may not be told whole
				return err
			}
			read.steps = o.past().steps(read.base, rows)
		}
		o.earlier.keepChanges(read)
		cs = read
		return nil
	})
	return cs, err
}

// steps are the differences that rows make of a content, a revision after the other. Rows of the content's own are passed over.
func (bd *builder) steps(c *content, rows []fleet.Row) (steps []difference) {
	for len(rows) > 0 {
		at := rows[0].Revision
		n := len(rows)
		if i := slices.IndexFunc(rows, func(r fleet.Row) bool { return r.Revision != at }); i > 0 {
			n = i
		}
		if at > c.revision {
			steps = append(steps, bd.derive(c, fleet.Change{At: fleet.Position{Revision: at}, Rows: rows[:n]}, false))
			c = steps[len(steps)-1].next
		}
		rows = rows[n:]
	}
	return steps
}

func (es *earlierContents) changesUpTo(upTo fleet.Revision, history uint64) *changes {
	es.mu.Lock()
	defer es.mu.Unlock()
	if cs := es.lately[upTo]; cs != nil && cs.history == history {
		cs.used = time.Now()
		return cs
	}
	return nil
}

func (es *earlierContents) keepChanges(cs *changes) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if es.lately == nil {
		es.lately = make(map[fleet.Revision]*changes)
	}
	makeRoom(es.lately, cs.upTo, cs, func(cs *changes) time.Time { return cs.used })
	es.lately[cs.upTo] = cs
}

// viewUpTo is the newest view of the labels, the same one for all that have the same.
func (es *earlierContents) viewUpTo(cs *changes, labels selector.Labels) *snapshot.Snapshot {
	vectors, key := make([]selector.Vector, len(cs.steps)), strings.Builder{}
	first := cs.base.index.Match(labels)
	last := first
	fmt.Fprintf(&key, "%q", last)
	for i, d := range cs.steps {
		if d.last.index != d.next.index {
			last = d.next.index.Match(labels)
			fmt.Fprintf(&key, " %d %q", i, last)
		}
		vectors[i] = last
	}
	es.mu.Lock()
	defer es.mu.Unlock()
	if v := cs.views[key.String()]; v != nil {
		return v
	}
	v := newView(cs.base, first)
	for i := range cs.steps {
		v = v.next(&cs.steps[i], vectors[i])
	}
	cs.views = withRoom(cs.views)
	cs.views[key.String()] = v.snap
	return v.snap
}
