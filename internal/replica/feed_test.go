package replica

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// row names a row of a fake fleet.
type rowKey struct {
	t             fleet.Type
	name, variant string
}

// state is a fake fleet at one revision.
type state struct {
	token fleet.Token
	rows  map[rowKey]fleet.Row
	at    time.Time
}

// fakeFleet keeps all its states, so that it can be put back.
type fakeFleet struct {
	rev     fleet.Revision
	states  map[fleet.Revision]state
	epoch   int64
	creds   map[fleet.CredentialID]fleet.Credential
	retries []retried
	nodeIDs string
	deleted bool
	// compacted is up to where tombstones are not kept.
	compacted fleet.Revision
}

// retried is a node that is to be offered again what it refused.
type retried struct {
	node  string
	epoch int64
}

// feed is a database in memory that can be told to fail.
type feed struct {
	mu                 sync.Mutex // guards all below
	fleets             map[fleet.Key]*fakeFleet
	err                error         // of every call
	hold               chan struct{} // CatchUp waits for it to be closed
	took               time.Duration // what the answer of CatchUp takes
	panics             bool
	hangs              bool            // LastStreams does not answer
	pastTook           time.Duration   // what its answer takes
	broken             map[string]bool // names of clusters that cannot be read
	catchUps           int
	reloads            int
	rowsSent           int
	finds              int
	pasts              map[string]fleet.LastStream // by node
	asked              int                         // for pasts
	asking, mostAsking int                         // for pasts, at the same time
	now                int                         // readings under way
	most               int
	readAt             int // earlier revisions
}

func newFeed() *feed { return &feed{fleets: map[fleet.Key]*fakeFleet{}} }

func (f *feed) add() fleet.Key {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
	f.fleets[key] = &fakeFleet{
		states: map[fleet.Revision]state{0: {token: fleet.NewToken(), rows: map[rowKey]fleet.Row{}, at: time.Now()}},
		creds:  map[fleet.CredentialID]fleet.Credential{},
	}
	return key
}

// write makes one revision of the rows.
func (f *feed) write(key fleet.Key, rows ...fleet.Row) fleet.Revision {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.fleets[key]
	next := state{token: fleet.NewToken(), rows: maps.Clone(x.states[x.rev].rows), at: time.Now()}
	x.rev++
	for _, r := range rows {
		r.Revision = x.rev
		if old, ok := next.rows[rowKey{r.Type, r.Name, r.Variant}]; ok {
			if r.Reselected = old.Reselected; old.Selector != r.Selector || old.Priority != r.Priority || old.Deleted != r.Deleted {
				r.Reselected = x.rev
			}
		}
		next.rows[rowKey{r.Type, r.Name, r.Variant}] = r
	}
	x.states[x.rev] = next
	return x.rev
}

// restore puts a fleet back to an older revision, as a failover that lost commits does.
func (f *feed) restore(key fleet.Key, rev fleet.Revision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.fleets[key]
	maps.DeleteFunc(x.states, func(r fleet.Revision, _ state) bool { return r > rev })
	x.rev = rev
}

func (f *feed) credential(key fleet.Key, c fleet.Credential) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fleets[key].creds[c.ID] = c
	f.fleets[key].epoch++
}

func (f *feed) removeCredential(key fleet.Key, id fleet.CredentialID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.fleets[key].creds, id)
	f.fleets[key].epoch++
}

func (f *feed) remove(key fleet.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fleets[key].deleted = true
}

func (f *feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *feed) set(do func(*feed)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(f)
}

// counts are how often the feed was asked.
type counts struct{ catchUps, reloads, rowsSent, finds, most, asked, mostAsking int }

func (f *feed) counts() counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return counts{f.catchUps, f.reloads, f.rowsSent, f.finds, f.most, f.asked, f.mostAsking}
}

func (x *fakeFleet) position() fleet.Position {
	return fleet.Position{Revision: x.rev, Token: x.states[x.rev].token, Epoch: x.epoch}
}

func (f *feed) CatchUp(ctx context.Context, known []fleet.Known) ([]fleet.Change, error) {
	f.mu.Lock()
	f.catchUps++
	f.now++
	f.most = max(f.most, f.now)
	hold, took, panics := f.hold, f.took, f.panics
	f.mu.Unlock()
	defer f.set(func(f *feed) { f.now-- })
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if panics {
		panic("scripted")
	}
	defer time.Sleep(took) // the answer is on its way
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	var cs []fleet.Change
	for _, k := range known {
		if c, moved := f.change(k); moved {
			cs = append(cs, c)
		}
	}
	return cs, nil
}

func (f *feed) change(k fleet.Known) (fleet.Change, bool) {
	x := f.fleets[k.Key]
	if x == nil || x.deleted {
		return fleet.Change{Key: k.Key, Gone: true}, true
	}
	at := x.position()
	if at == k.At {
		return fleet.Change{}, false
	}
	s := x.states[x.rev]
	c := fleet.Change{Key: k.Key, At: at, CommittedAt: s.at, Now: time.Now(), EpochMoved: k.At.Epoch != at.Epoch}
	old, ok := x.states[k.At.Revision]
	c.Compacted = x.compacted
	c.Reload = !ok || old.token != k.At.Token || k.At.Revision == 0 && at.Revision > 0
	if c.Reload {
		f.reloads++
	}
	for _, r := range s.rows {
		if r.Type == fleet.Cluster && f.broken[r.Name] && (c.Reload || r.Revision > k.At.Revision) {
			c.Broken = append(c.Broken, fleet.Broken{Ref: fleet.Ref{Type: r.Type, Name: r.Name}, Revision: r.Revision, Reason: "damaged"})
			continue
		}
		if r.Deleted && r.Revision <= x.compacted {
			continue
		}
		if c.Reload || r.Revision > k.At.Revision {
			c.Rows = append(c.Rows, r)
			f.rowsSent++
		}
	}
	for _, r := range x.retries {
		if r.epoch > k.At.Epoch && k.At.Epoch > 0 {
			c.Retries = append(c.Retries, r.node)
		}
	}
	if c.EpochMoved {
		c.NodeIDs = x.nodeIDs
		for _, cr := range x.creds {
			c.Credentials = append(c.Credentials, cr)
		}
	}
	return c, true
}

func (f *feed) Moved(_ context.Context, known []fleet.Known) ([]fleet.Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	var keys []fleet.Key
	for _, k := range known {
		if x := f.fleets[k.Key]; x == nil || x.deleted || x.position() != k.At {
			keys = append(keys, k.Key)
		}
	}
	return keys, nil
}

func (f *feed) FindNodeCredential(_ context.Context, id fleet.CredentialID) (fleet.Key, fleet.Credential, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finds++
	if f.err != nil {
		return fleet.Key{}, fleet.Credential{}, f.err
	}
	for key, x := range f.fleets {
		if c, ok := x.creds[id]; ok {
			return key, c, nil
		}
	}
	return fleet.Key{}, fleet.Credential{}, fmt.Errorf("credential %s: %w", id, fleet.ErrNotFound)
}

func (f *feed) LastStreams(ctx context.Context, _ fleet.Key, nodes []fleet.AskedNode) (all []fleet.LastStream, err error) {
	f.mu.Lock()
	hangs, took := f.hangs, f.pastTook
	f.asked++
	f.asking++
	f.mostAsking = max(f.mostAsking, f.asking)
	f.mu.Unlock()
	defer f.set(func(f *feed) { f.asking-- })
	if hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	f.mu.Lock()
	for _, n := range nodes {
		all = append(all, f.pasts[n.Node])
	}
	err = f.err
	f.mu.Unlock()
	select { // the answer is on its way
	case <-time.After(took):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return all, err
}

// opener "opens" what begins with "sealed:".
type opener struct{}

func (opener) Open(_ fleet.Key, name, version string, sealed []byte) ([]byte, error) {
	if len(sealed) < 7 || string(sealed[:7]) != "sealed:" {
		return nil, fmt.Errorf("open %s %s: %w", name, version, fleet.ErrInvalid)
	}
	return sealed[7:], nil
}

// sink keeps the statuses.
type sink struct {
	mu       sync.Mutex
	refusals []fleet.Refusal
	resolved []fleet.Refusal
	settled  map[fleet.Key]fleet.Revision
	nodes    []string
	views    map[string]string // by node
	away     error             // what reports fail with
}

// setAway lets reports fail; nil ends that.
func (s *sink) setAway(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = err
}

func (s *sink) knows(node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.nodes, node)
}

func (s *sink) Report(_ context.Context, st fleet.Status) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil {
		return s.away
	}
	s.refusals = append(s.refusals, st.Refusals...)
	s.resolved = append(s.resolved, st.Resolved...)
	s.settled[st.Key] = st.Settled
	for _, n := range st.Nodes {
		s.nodes = append(s.nodes, n.Node)
		if s.views == nil {
			s.views = map[string]string{}
		}
		s.views[n.Node] = n.View
	}
	return nil
}

func (s *sink) Lease(context.Context, fleet.ServerID, string, time.Duration) (fleet.Term, error) {
	return 1, nil
}
func (s *sink) Release(context.Context, fleet.ServerID) error { return nil }

func (s *sink) viewOf(node string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views[node]
}

func (s *sink) allRefusals() []fleet.Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refusals)
}

func (s *sink) refusalsOf(node string) []fleet.Refusal {
	return slices.DeleteFunc(s.allRefusals(), func(r fleet.Refusal) bool { return r.Node != node })
}

func (s *sink) allResolved() []fleet.Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.resolved)
}

func (s *sink) settledOf(key fleet.Key) fleet.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled[key]
}

func cluster(name, version string) fleet.Row {
	return fleet.Row{Type: fleet.Cluster, Name: name, Version: version, Body: []byte(version)}
}

func secret(name, version, body string) fleet.Row {
	return fleet.Row{Type: fleet.Secret, Name: name, Version: version, Body: []byte(body)}
}

func deleted(t fleet.Type, name string) fleet.Row {
	return fleet.Row{Type: t, Name: name, Deleted: true}
}

// ResourcesAt knows all revisions.
func (f *feed) ResourcesAt(_ context.Context, key fleet.Key, at fleet.Revision) (rows []fleet.Row, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readAt++
	if f.err != nil {
		return nil, f.err
	}
	x := f.fleets[key]
	then, ok := x.states[at]
	if !ok {
		return nil, fleet.ErrNotFound
	}
	for k, now := range x.states[x.rev].rows {
		if now.Revision <= at {
			continue
		}
		row, was := then.rows[k]
		if !was {
			row = fleet.Row{Type: k.t, Name: k.name, Variant: k.variant, Deleted: true, Revision: at}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// ChangesUpTo knows all revisions.
func (f *feed) ChangesUpTo(_ context.Context, key fleet.Key, at fleet.Revision) (rows []fleet.Row, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readAt++
	if f.err != nil {
		return nil, f.err
	}
	x := f.fleets[key]
	for rev, then := range x.states {
		for _, row := range then.rows {
			if row.Revision == rev && rev <= at {
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

func (f *feed) head(key fleet.Key) fleet.Revision {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fleets[key].rev
}
