package replica

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// database is a feed and the sink of several servers in memory: what the store's
// statements make of reports (SEMANTICS 5 and 6).
type database struct {
	*feed
	key fleet.Key

	mu       sync.Mutex // guards all below
	away     bool       // reports and leases fail
	status   map[statusKey]statusRow
	settled  map[fleet.ServerID]fleet.Revision
	leases   map[fleet.ServerID]time.Time
	terms    map[fleet.ServerID]fleet.Term
	seen     map[string]time.Time // nodes
	refusals map[refusalKey]*fleet.Refusal
	rows     int // written
}

type statusKey struct {
	node   string
	server fleet.ServerID
}

type statusRow struct {
	fleet.NodeStatus
	own bool
}

type refusalKey struct {
	node          string
	typ           fleet.Type
	name, version string
	revision      fleet.Revision
}

func newDatabase() *database {
	d := &database{
		feed: newFeed(), status: map[statusKey]statusRow{}, settled: map[fleet.ServerID]fleet.Revision{},
		leases: map[fleet.ServerID]time.Time{}, terms: map[fleet.ServerID]fleet.Term{}, seen: map[string]time.Time{}, refusals: map[refusalKey]*fleet.Refusal{},
	}
	d.key = d.add()
	return d
}

func (d *database) setAway(away bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.away = away
}

func (d *database) isAway() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.away
}

// report is Sink.Report.
func (d *database) report(s fleet.Status) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return errAway
	}
	d.rows += 1 + len(s.Nodes) + len(s.Delivered) + len(s.Refusals) + len(s.Resolved)
	d.settled[s.Server] = s.Settled
	for _, n := range s.Nodes {
		if _, ok := d.seen[n.Node]; !ok {
			d.seen[n.Node] = n.Since
		}
		row := statusRow{NodeStatus: n, own: n.Settled != nil}
		if !n.Connected && n.Settled == nil {
			row.Settled, row.own = &s.Settled, true
		}
		row.Clean = n.Clean && !n.Connected
		d.status[statusKey{n.Node, s.Server}] = row
	}
	for _, r := range s.Refusals {
		k := refusalKey{r.Node, r.Type, r.Name, r.Version, r.Revision}
		if x := d.refusals[k]; x == nil || r.Offer > x.Offer || r.Offer == x.Offer && x.Stands() {
			d.refusals[k] = &r
		}
	}
	for _, r := range s.Resolved {
		for k, x := range d.refusals {
			if k.node == r.Node && refusal.Ends(r, *x) {
				if x.Offer = r.Offer; x.Stands() {
					x.By, x.End = r.By, r.End
				}
			}
		}
	}
	return nil
}

func (d *database) lease(id fleet.ServerID, ttl time.Duration) (fleet.Term, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return 0, errAway
	}
	if time.Now().After(d.leases[id]) {
		d.terms[id]++
	}
	d.leases[id] = time.Now().Add(ttl)
	return d.terms[id], nil
}

// standing is a node's row as readers take it.
type standing struct {
	server    fleet.ServerID
	live      bool
	clean     bool
	settled   fleet.Revision // but for what is withheld
	confirmed fleet.Revision
	held      fleet.Held
	since     time.Time
	ended     time.Time
	view      string
}

// standings are a node's rows. d.mu is held.
func (d *database) standings(node string, without fleet.ServerID) (all []standing) {
	for k, row := range d.status {
		if k.node != node || k.server == without {
			continue
		}
		until := d.leases[k.server]
		x := standing{
			server: k.server, live: row.Connected && until.After(time.Now()), clean: row.Clean,
			settled: d.settled[k.server], since: row.Since, ended: row.Since, view: row.View,
		}
		if row.own {
			x.settled = *row.Settled
		}
		if row.Connected && !until.IsZero() {
			x.ended = until
		}
		x.held, x.confirmed = row.Held(x.settled), row.Waits.Confirmed(x.settled)
		all = append(all, x)
	}
	falseFirst := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case b:
			return -1
		}
		return 1
	}
	slices.SortFunc(all, func(a, b standing) int {
		return cmp.Or(falseFirst(a.live, b.live), b.ended.Compare(a.ended), falseFirst(a.clean, b.clean), cmp.Compare(a.settled, b.settled))
	})
	return all
}

// LastStreams does what the store's statement does.
func (d *database) LastStreams(_ context.Context, _ fleet.Key, nodes []fleet.AskedNode) (all []fleet.LastStream, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range nodes {
		all = append(all, d.lastStream(n.Node, n.Without))
	}
	return all, nil
}

// lastStream is of one node. d.mu is held.
func (d *database) lastStream(node string, without fleet.ServerID) fleet.LastStream {
	var p fleet.LastStream
	if _, ok := d.seen[node]; !ok {
		return p
	}
	p.Known = true
	all := d.standings(node, without)
	live := slices.DeleteFunc(slices.Clone(all), func(x standing) bool { return !x.live })
	switch {
	case len(live) > 0:
		p.Live = true
		for _, x := range live {
			p.LiveAs = append(p.LiveAs, d.status[statusKey{node, x.server}].Protocol)
		}
		begun := slices.MinFunc(live, func(a, b standing) int { return a.since.Compare(b.since) }).since
		counts := 0
		for _, x := range all {
			if !x.live && !x.ended.After(begun) {
				continue
			}
			if counts++; counts == 1 {
				p.Held = x.held
			} else {
				p.Held = fleet.Held{}
			}
			if counts == 1 || x.confirmed < p.Settled {
				p.Settled = x.confirmed
			}
		}
		p.At = slices.MaxFunc(live, func(a, b standing) int { return a.since.Compare(b.since) }).since
		p.View = live[0].view
		for _, x := range live {
			if x.view != p.View {
				p.View = "?"
				break
			}
		}
	case len(all) > 0:
		p.Settled, p.Held, p.Clean, p.At, p.View = all[0].confirmed, all[0].held, all[0].clean, all[0].ended, all[0].view
	}
	p.Refusals = d.open(node)
	p.Ended = d.refused(node, func(x *fleet.Refusal) bool { return !x.Stands() })
	for k, x := range d.refusals {
		if k.node == node {
			p.Offer = max(p.Offer, x.Offer)
		}
	}
	return p
}

// open are a node's refusals that stand. d.mu is held.
func (d *database) open(node string) []fleet.Refusal {
	return d.refused(node, func(x *fleet.Refusal) bool { return x.Stands() })
}

func (d *database) refused(node string, which func(*fleet.Refusal) bool) (rs []fleet.Refusal) {
	for k, x := range d.refusals {
		if k.node != node || !which(x) {
			continue
		}
		r := *x
		if x.Good != "" {
			r.Row = d.find(x.Type, x.Name, x.Good)
		}
		rs = append(rs, r)
	}
	slices.SortFunc(rs, func(a, b fleet.Refusal) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(b.Revision, a.Revision))
	})
	return rs
}

// find returns the newest row of a version, out of the history.
func (d *database) find(t fleet.Type, name, version string) (found *fleet.Row) {
	d.feed.mu.Lock()
	defer d.feed.mu.Unlock()
	for _, s := range d.fleets[d.key].states {
		for _, r := range s.rows {
			if r.Type == t && r.Name == name && r.Version == version && !r.Deleted && (found == nil || r.Revision > found.Revision) {
				found = &r
			}
		}
	}
	return found
}

func (d *database) head() fleet.Revision {
	d.feed.mu.Lock()
	defer d.feed.mu.Unlock()
	return d.fleets[d.key].rev
}

// wrote reports whether a revision wrote a name.
func (d *database) wrote(ref fleet.Ref, rev fleet.Revision) bool {
	d.feed.mu.Lock()
	defer d.feed.mu.Unlock()
	f := d.fleets[d.key]
	for _, variant := range []string{"", "edge"} {
		k := rowKey{ref.Type, ref.Name, variant}
		before, had := f.states[rev-1].rows[k]
		if after, has := f.states[rev].rows[k]; had != has || before.Revision != after.Revision {
			return true
		}
	}
	return false
}

// receipt is what a revision came to on a node (SEMANTICS 5.3).
func (d *database) receipt(rev fleet.Revision, node string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k := range d.refusals {
		if k.node == node && k.revision == rev {
			return fleet.NodeNacked
		}
	}
	settled, live := d.position(node)
	withheld := false
	for k, row := range d.status {
		withheld = withheld || k.node == node && row.Connected && d.leases[k.server].After(time.Now()) &&
			slices.ContainsFunc(row.Waits.Withheld, func(x fleet.Withheld) bool { return x.Revision == rev })
	}
	switch {
	case withheld && live:
		return fleet.NodePending
	case settled >= rev:
		return fleet.NodeAcked
	case live:
		return fleet.NodePending
	}
	return fleet.NodeOffline
}

// heard reports whether the proxy's last stream is known to the server that it goes to.
func (d *database) heard(e *envoy, to *server) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.away && (e.server == to || d.status[statusKey{e.id, e.server.id}].Connected)
}

// position is where a node is, as readers see it. d.mu is held.
func (d *database) position(node string) (settled fleet.Revision, live bool) {
	for _, x := range d.standings(node, fleet.ServerID{}) {
		switch {
		case x.live && (!live || x.settled < settled):
			settled, live = x.settled, true
		case !x.live && settled == 0 && !live: // the newest end comes first
			settled = x.settled
		}
	}
	return settled, live
}

// line is one server's way to the database.
type line struct {
	*database
	mu   sync.Mutex // guards both
	dead bool       // nothing arrives any more
	lags bool       // it hears of no change
}

func (l *line) set(do func(*line)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do(l)
}

func (l *line) broken(read bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead || read && l.lags {
		return fmt.Errorf("read: %w", errAway)
	}
	return nil
}

func (l *line) CatchUp(ctx context.Context, known []fleet.Known) ([]fleet.Change, error) {
	if err := l.broken(true); err != nil {
		return nil, err
	}
	return l.database.CatchUp(ctx, known)
}

func (l *line) Moved(ctx context.Context, known []fleet.Known) ([]fleet.Key, error) {
	if err := l.broken(true); err != nil {
		return nil, err
	}
	return l.database.Moved(ctx, known)
}

func (l *line) LastStreams(ctx context.Context, key fleet.Key, nodes []fleet.AskedNode) ([]fleet.LastStream, error) {
	if err := l.broken(false); err != nil {
		return nil, err
	}
	if l.isAway() {
		return nil, errAway
	}
	return l.database.LastStreams(ctx, key, nodes)
}

func (l *line) Report(_ context.Context, s fleet.Status) error {
	if err := l.broken(false); err != nil {
		return err
	}
	return l.report(s)
}

func (l *line) Lease(_ context.Context, id fleet.ServerID, _ string, ttl time.Duration) (fleet.Term, error) {
	if err := l.broken(false); err != nil {
		return 0, err
	}
	return l.lease(id, ttl)
}

func (l *line) Release(_ context.Context, id fleet.ServerID) error {
	if err := l.broken(false); err != nil {
		return err
	}
	_, err := l.lease(id, 0)
	return err
}
