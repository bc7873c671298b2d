package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// Earlier contents of a fleet are kept for those who come back together.
const (
	maxBefore  = 5               // the present one among them
	maxViews   = 64              // of each: labels are the clients' words
	keepBefore = time.Minute     // after the last of them
	beforeWait = time.Second     // for one, with all that comes before it
	unreadRest = 5 * time.Second // then what the database did not tell is asked for again
	maxUnread  = 64
	// maxBeforeBytes is how much of them is kept beside what the fleet has now. The one that was read last is kept in any case.
	maxBeforeBytes = 64 << 20
	// A fleet may have so much of its past read at once, and so much a second: nodes that settled at more revisions than are kept have it read each time.
	pastBurst = 256 << 20
	pastRate  = 8 << 20
	rowTakes  = 256      // beside its body, about
	limitCost = 16 << 20 // of what turns out to be too much
)

// earlierContents are those of a fleet that were read lately. They are safe for concurrent use
// and call nobody.
type earlierContents struct {
	reading chan struct{} // one of the fleet's at a time: a place is taken by sending
	pace    pace          // of whoever has it

	mu   sync.Mutex // guards what follows
	kept map[fleet.Revision]*earlier
	held map[heldKey]*snapshot.Snapshot
	// lately are those up to some revisions, as many as there are contents: views of other labels may have begun at other revisions.
	lately map[fleet.Revision]*changes
	unread map[pastKey]unread
	whole  time.Time // when all may be read again that may be read at once
}

var errPaced = errors.New("much of the fleet's past was read lately")

// mayRead is errPaced while too much was read.
func (es *earlierContents) mayRead() error {
	es.mu.Lock()
	defer es.mu.Unlock()
	if time.Until(es.whole) >= pastBurst/pastRate*time.Second {
		return errPaced
	}
	return nil
}

// spend takes in what a reading cost.
func (es *earlierContents) spend(rows []fleet.Row, err error) {
	n := len(rows) * rowTakes
	for _, r := range rows {
		n += len(r.Body)
	}
	if errors.Is(err, fleet.ErrLimit) {
		n = limitCost
	}
	es.mu.Lock()
	defer es.mu.Unlock()
	if now := time.Now(); es.whole.Before(now) {
		es.whole = now
	}
	es.whole = es.whole.Add(time.Duration(n) * time.Second / pastRate)
}

// pastKey tells apart what is read of a fleet's past: its content at a revision, or its latest changes up to one.
type pastKey struct {
	at      fleet.Revision
	changes bool
	history uint64
}

// unread is why something of the past could not be read, which nobody tries again until then.
type unread struct {
	err   error
	until time.Time
}

// whyUnread is nil for what may be read.
func (es *earlierContents) whyUnread(k pastKey) error {
	es.mu.Lock()
	defer es.mu.Unlock()
	if u := es.unread[k]; time.Now().Before(u.until) {
		return u.err
	}
	return nil
}

// noteUnread keeps an error for all who want the same. What is not kept, or is too much, stays so.
func (es *earlierContents) noteUnread(k pastKey, err error) {
	rest := unreadRest
	if errors.Is(err, fleet.ErrLimit) || errors.Is(err, fleet.ErrNotFound) {
		rest = keepBefore
	}
	es.mu.Lock()
	defer es.mu.Unlock()
	if es.unread == nil {
		es.unread = make(map[pastKey]unread)
	}
	if _, has := es.unread[k]; !has && len(es.unread) >= maxUnread {
		delete(es.unread, slices.MinFunc(slices.Collect(maps.Keys(es.unread)), func(a, b pastKey) int { return es.unread[a].until.Compare(es.unread[b].until) }))
	}
	es.unread[k] = unread{err, time.Now().Add(rest)}
}

// earlier is the content of an earlier revision.
type earlier struct {
	content *content
	used    time.Time
	views   map[selector.Vector]*snapshot.Snapshot // of it, that somebody came back with
}

func (e *earlier) bytes() int { return e.content.own }

// get is the content of an earlier revision if it was read lately; nil if not.
func (es *earlierContents) get(at fleet.Revision, history uint64) *content {
	es.mu.Lock()
	defer es.mu.Unlock()
	e := es.kept[at]
	if e == nil || e.content.history != history {
		return nil
	}
	e.used = time.Now()
	return e.content
}

// view is what the nodes held that a vector is of, the same one for all of them while the content is kept: it costs as much
// as there are names with variants.
func (es *earlierContents) view(c *content, v selector.Vector) *snapshot.Snapshot {
	es.mu.Lock()
	defer es.mu.Unlock()
	e := es.kept[c.revision]
	if e == nil || e.content != c {
		return newView(c, v).snap
	}
	if e.views[v] == nil {
		e.views = withRoom(e.views)
		e.views[v] = newView(c, v).snap
	}
	return e.views[v]
}

// keep takes one in, in the place of that of which nobody came for the longest time if there are many.
func (es *earlierContents) keep(c *content) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if es.kept == nil {
		es.kept = make(map[fleet.Revision]*earlier)
	}
	es.held = nil
	e := &earlier{content: c, used: time.Now()}
	makeRoom(es.kept, c.revision, e, func(e *earlier) time.Time { return e.used })
	es.kept[c.revision] = e
}

// makeRoom drops what nobody has used for the longest time where there are many, or many bytes beside the new one's, and none of that revision.
func makeRoom[V interface{ bytes() int }](kept map[fleet.Revision]V, at fleet.Revision, fresh V, used func(V) time.Time) {
	all := fresh.bytes()
	for rev, v := range kept {
		if rev != at {
			all += v.bytes()
		}
	}
	others := slices.DeleteFunc(slices.Collect(maps.Keys(kept)), func(rev fleet.Revision) bool { return rev == at })
	slices.SortFunc(others, func(a, b fleet.Revision) int { return used(kept[a]).Compare(used(kept[b])) })
	for ; len(others) > 0 && (len(others) >= maxBefore || all > maxBeforeBytes); others = others[1:] {
		all -= kept[others[0]].bytes()
		delete(kept, others[0])
	}
}

// forget drops what nobody has come back for lately.
func (es *earlierContents) forget() {
	es.mu.Lock()
	defer es.mu.Unlock()
	maps.DeleteFunc(es.kept, func(_ fleet.Revision, e *earlier) bool { return time.Since(e.used) >= keepBefore })
	if len(es.kept) == 0 {
		es.held = nil
	}
	maps.DeleteFunc(es.lately, func(_ fleet.Revision, cs *changes) bool { return time.Since(cs.used) >= keepBefore })
	maps.DeleteFunc(es.unread, func(_ pastKey, u unread) bool { return !time.Now().Before(u.until) })
}

// before is what a node that has settled held then: the last known good of
// whatever it refuses now (SEMANTICS 3.2). nil: that cannot be found out, or it is all of the present revision.
func (o *owner) before(ctx context.Context, s xds.StreamInfo, past *nodePast, labels selector.Labels) *snapshot.Snapshot {
	if past == nil {
		return nil
	}
	at := past.Held.At
	if at == 0 {
		at = past.Settled
	}
	if at == 0 {
		return nil
	}
	now := o.shown()
	c := o.earlier.get(at, now.history)
	differs := len(past.Held.Without)+len(past.Refusals)+len(past.Ended) > 0 // from what the fleet has, as far as that is known yet
	switch {
	case at > now.revision, at == now.revision && !differs:
		return nil
	case at == now.revision && c == nil:
		c = now
		o.earlier.keep(c)
	case c == nil:
		var err error
		if c, err = o.contentAside(ctx, s, now, at); err != nil {
			o.r.log.Debug("what a node held before cannot be read", "fleet", o.key, "revision", at, "error", err)
			return nil
		}
	}
	snap := o.earlier.view(c, c.index.Match(labels))
	if len(past.Held.Without) > 0 && past.Settled < at { // of these it has what it had there
		had := nothing
		if past.Settled > 0 {
			then, err := o.contentThen(ctx, s, now, past.Settled)
			if err != nil {
				o.r.log.Debug("what a node had of what is withheld cannot be read", "fleet", o.key, "revision", past.Settled, "error", err)
				return nil
			}
			had = o.earlier.view(then, then.index.Match(labels))
		}
		snap = o.earlier.without(snap, had, past.Held.Without)
	}
	exceptions, unknown := o.past().exceptionsAt(snap, inOrder(slices.Concat(past.Refusals, past.Ended)))
	if len(exceptions)+len(unknown) > 0 {
		return o.earlier.except(snap, exceptions, unknown)
	}
	if at == now.revision && len(past.Held.Without) == 0 {
		return nil
	}
	return snap
}

// contentThen is the content of an earlier revision, out of those that are kept if it is among them.
func (o *owner) contentThen(ctx context.Context, s xds.StreamInfo, now *content, at fleet.Revision) (*content, error) {
	if c := o.earlier.get(at, now.history); c != nil {
		return c, nil
	}
	return o.contentAside(ctx, s, now, at)
}

// contentAside lets other streams begin while the database is read.
func (o *owner) contentAside(ctx context.Context, s xds.StreamInfo, now *content, at fleet.Revision) (c *content, err error) {
	s.Await(func() { c, err = o.contentAt(ctx, now, at) })
	return c, err
}

// without is a view with what nodes had of names that were withheld from them since: the same one for all that had the same.
// Whether they have it still is not known before they say so.
func (es *earlierContents) without(snap, then *snapshot.Snapshot, names []fleet.Ref) *snapshot.Snapshot {
	return es.own(heldKey{snap, then, fmt.Sprint(names)}, func(own *snapshot.Snapshot) {
		own.Unknown = names
		for _, ref := range names {
			if was := then.Types[ref.Type].Get(ref.Name); was != nil {
				own.Types[ref.Type] = own.Types[ref.Type].With(was)
			} else {
				own.Types[ref.Type] = own.Types[ref.Type].Without(ref.Name)
			}
		}
	})
}

// except is a view as nodes had it that refused the same of it, the same one for all of them.
func (es *earlierContents) except(snap *snapshot.Snapshot, exceptions []snapshot.Exception, unknown []fleet.Ref) *snapshot.Snapshot {
	k := fmt.Appendf(nil, "%q", unknown)
	for _, e := range exceptions {
		var good snapshot.Resource
		if e.Good != nil {
			good = *e.Good
		}
		k = fmt.Appendf(k, " %d %q %q %q %d", e.Type, e.Refused.Name, e.Refused.Version, good.Version, good.Revision)
	}
	return es.own(heldKey{snap, nil, string(k)}, func(own *snapshot.Snapshot) {
		own.Types = snapshot.NewTarget(snap, exceptions).Types
		own.Unknown = append(slices.Clip(own.Unknown), unknown...)
	})
}

// own is a view that was changed, by what is told apart by a key: the same one as long as it is kept.
func (es *earlierContents) own(k heldKey, change func(own *snapshot.Snapshot)) *snapshot.Snapshot {
	es.mu.Lock()
	defer es.mu.Unlock()
	if own := es.held[k]; own != nil {
		return own
	}
	own := *k.snap
	change(&own)
	es.held = withRoom(es.held)
	es.held[k] = &own
	return &own
}

// withRoom is a map with room for one more, in the place of some other: those that many share are asked for again.
func withRoom[K comparable](m map[K]*snapshot.Snapshot) map[K]*snapshot.Snapshot {
	if m == nil {
		return make(map[K]*snapshot.Snapshot)
	}
	for k := range m {
		if len(m) < maxViews {
			break
		}
		delete(m, k)
	}
	return m
}

// nothing is what a node had before it had settled anything.
var nothing = new(snapshot.Snapshot)

// heldKey tells apart what nodes had: all of a view, but for names of which they had what an earlier one has, or which they refused (without
// an earlier one).
type heldKey struct {
	snap, then *snapshot.Snapshot
	names      string
}

// inOrder sorts refusals: nodes that refused the same are told apart from others by that. Of a name those that stand and the later ones come first.
func inOrder(refusals []fleet.Refusal) []fleet.Refusal {
	slices.SortFunc(refusals, func(a, b fleet.Refusal) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(min(a.By, 1), min(b.By, 1)), cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Version, b.Version))
	})
	return refusals
}

// exceptionsAt are what a node refused of an earlier content, and the names of which it is
// not known what it had: it was offered them again at that revision, or what stood in is lost.
func (bd *builder) exceptionsAt(snap *snapshot.Snapshot, refusals []fleet.Refusal) (all []snapshot.Exception, unknown []fleet.Ref) {
	for _, f := range refusals {
		e := exceptionOf(f)
		if f.Revision > snap.Revision || f.By > 0 && f.By < snap.Revision || !e.Applies(snap) {
			continue
		}
		if e.Good = bd.revive(f); !f.Stood(snap.Revision) || e.Good == nil && f.Action != fleet.ActionRemoved {
			if ref := (fleet.Ref{Type: f.Type, Name: f.Name}); !slices.Contains(unknown, ref) {
				unknown = append(unknown, ref)
			}
		} else {
			all = append(all, e)
		}
	}
	return all, unknown
}

// contentAt is an earlier content.
func (o *owner) contentAt(ctx context.Context, now *content, at fleet.Revision) (c *content, err error) {
	kept := func() bool { c = o.earlier.get(at, now.history); return c != nil }
	err = o.readEarlier(ctx, pastKey{at: at, history: now.history}, kept, func(ctx context.Context) (err error) {
		c, err = o.deriveAt(ctx, now, at)
		return err
	})
	return c, err
}

// readEarlier has somebody read of the fleet's past in turn: those who wait want the same, as a rule. What is kept is not waited for, and what could not be
// read is not tried again for each of them. A client that goes meanwhile takes nobody's answer away.
func (o *owner) readEarlier(ctx context.Context, k pastKey, kept func() bool, read func(context.Context) error) error {
	if kept() {
		return nil
	}
	if err := o.earlier.whyUnread(k); err != nil {
		return err
	}
	end := time.Now().Add(beforeWait)
	turn, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	select {
	case o.earlier.reading <- struct{}{}:
		defer func() { <-o.earlier.reading }()
	case <-turn.Done():
		return context.Cause(turn)
	}
	if kept() {
		return nil
	}
	if err := o.earlier.whyUnread(k); err != nil {
		return err
	}
	if turn.Err() != nil {
		return context.Cause(turn)
	}
	ctx, stop := context.WithDeadline(context.WithoutCancel(ctx), end)
	defer stop()
	err := read(ctx)
	if err != nil && !errors.Is(err, errNoTurn) && !errors.Is(err, errPaced) {
		o.earlier.noteUnread(k, err)
	}
	return err
}

var errNoTurn = errors.New("the database was not asked for long enough to tell")

// rowsOf asks for rows of the fleet's past. It is errNoTurn where its time went by before the database had some of it.
func (o *owner) rowsOf(ctx context.Context, at fleet.Revision, ask func(context.Context, fleet.Key, fleet.Revision) ([]fleet.Row, error)) (rows []fleet.Row, err error) {
	if err := o.earlier.mayRead(); err != nil {
		return nil, err
	}
	defer func() { o.earlier.spend(rows, err) }()
	var begun time.Time
	err = o.r.lastStreams.do(ctx, &o.earlier.pace, forever, func(ctx context.Context) (err error) {
		begun = time.Now()
		rows, err = ask(ctx, o.key, at)
		return err
	})
	if late := ctx.Err() != nil && time.Since(begun) < beforeWait/2; err != nil && (begun.IsZero() || late) {
		return nil, errors.Join(errNoTurn, err)
	}
	return rows, err
}

func (o *owner) past() *builder { return o.builder.ofThePast(o.r.log) }

// deriveAt derives an earlier content from the present one, by what has changed since, unless it is kept. It is the caller's turn to read.
func (o *owner) deriveAt(ctx context.Context, now *content, at fleet.Revision) (*content, error) {
	if c := o.earlier.get(at, now.history); c != nil {
		return c, nil
	}
	rows, err := o.rowsOf(ctx, at, o.r.cfg.Feed.ResourcesAt)
	if err != nil {
		return nil, err
	}
	c := o.past().derive(now, fleet.Change{At: fleet.Position{Revision: at}, Rows: rows}, false).next
	o.earlier.keep(c)
	return c, nil
}
