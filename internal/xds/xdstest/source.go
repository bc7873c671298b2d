package xdstest

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// Source is a fleet in memory: an xds.Source and xds.Authenticator whose tokens are
// node patterns ("Bearer edge-*"); what comes after a # makes another credential of the same pattern.
type Source struct {
	mu       sync.Mutex // guards what follows
	snap     *snapshot.Snapshot
	whole    *snapshot.Target // of it, which all share that have no exceptions
	attached map[*attachment]struct{}
	refusals []snapshot.Verdict
	away     error
	past     xds.LastStream
	busy     <-chan struct{} // the database is, until it is closed; nil: it is not
	behind   bool            // the database was not read since streams came
}

// NewSource returns an empty fleet at revision 0.
func NewSource() *Source {
	return &Source{attached: map[*attachment]struct{}{}, snap: &snapshot.Snapshot{}}
}

// Behind has the database not be read for any stream, until it is called again.
func (s *Source) Behind(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind = is
	for a := range s.attached {
		a.bell.Ring()
	}
}

// Publish makes one revision of the changes and returns it.
func (s *Source) Publish(changes ...Change) fleet.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.snap
	next.Revision++
	for _, c := range changes {
		if c.Body == nil {
			next.Types[c.Type] = next.Types[c.Type].Without(c.Name)
			continue
		}
		next.Types[c.Type] = next.Types[c.Type].With(c.resource(next.Revision))
	}
	s.snap = &next
	for a := range s.attached {
		a.retarget(s.snap)
	}
	return next.Revision
}

// Seal makes one revision of secrets that the server cannot open, and returns it.
func (s *Source) Seal(names ...string) fleet.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.snap
	next.Revision++
	for _, name := range names {
		next.Sealed = next.Sealed.With(snapshot.Sealed(name, "?", next.Revision))
	}
	s.snap = &next
	for a := range s.attached {
		a.retarget(s.snap)
	}
	return next.Revision
}

// Refusals returns what clients refused, oldest first.
func (s *Source) Refusals() []snapshot.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]snapshot.Verdict{}, s.refusals...)
}

// End ends every stream with an error, as a revoked credential does.
func (s *Source) End(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.attached {
		if a.ended.CompareAndSwap(nil, &err) {
			a.bell.Ring()
		}
	}
}

// Left is what nodes that come from now on left behind.
func (s *Source) Left(p xds.LastStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = p
}

// Away makes the fleet one that cannot be had, for this reason; nil brings it back.
func (s *Source) Away(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = err
}

// Streams is the number of attached streams.
func (s *Source) Streams() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.attached)
}

// AwaitSettled fails unless every attached stream has settled the revision. It needs a
// bubble.
func (s *Source) AwaitSettled(t testing.TB, r fleet.Revision) {
	t.Helper()
	synctest.Wait()
	if got := s.Settled(); got != r {
		t.Fatalf("settled %d, want %d", got, r)
	}
}

// Settled returns the lowest revision that an attached stream has settled, -1 without one.
func (s *Source) Settled() fleet.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	low := fleet.Revision(-1)
	for a := range s.attached {
		if r := fleet.Revision(a.settled.Load()); low < 0 || r < low {
			low = r
		}
	}
	return low
}

// Waits returns what the attached streams were told to wait for.
func (s *Source) Waits() (all fleet.Waits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.attached {
		if w := a.waits.Load(); w != nil {
			all = all.With(*w)
		}
	}
	return all
}

// Subscribes returns what the attached streams subscribe to.
func (s *Source) Subscribes() (all fleet.Subscriptions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.attached {
		if x := a.subscribes.Load(); x != nil {
			all = all.With(*x)
		}
	}
	return all
}

// Authenticate takes the token for a node pattern; "bad" is unknown.
func (s *Source) Authenticate(_ context.Context, token string) (xds.Identity, error) {
	if token == "bad" {
		return xds.Identity{}, fleet.ErrUnauthenticated
	}
	pattern, _, _ := strings.Cut(token, "#")
	p, err := auth.ParseNodePattern(pattern)
	sum := sha256.Sum256([]byte(token))
	return xds.Identity{Credential: fleet.CredentialID(sum[:16]), Nodes: p}, err
}

// Recheck implements xds.Authenticator: nothing ends.
func (s *Source) Recheck(_ context.Context, was xds.Identity) (xds.Identity, error) { return was, nil }

// Attached is how many streams are tied to the fleet.
func (s *Source) Attached() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.attached)
}

// Busy lets streams that come wait for the database, until the channel is closed.
func (s *Source) Busy(until <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = until
}

// Attach waits only while the source is Busy.
func (s *Source) Attach(_ context.Context, _ xds.Identity, _ fleet.Node, info xds.StreamInfo) (xds.Attachment, error) {
	s.mu.Lock()
	busy := s.busy
	s.mu.Unlock()
	if busy != nil {
		info.Await(func() { <-busy })
	}
	a := &attachment{source: s, bell: xds.NewBell()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil {
		return nil, s.away
	}
	a.past = s.past
	a.retarget(s.snap)
	s.attached[a] = struct{}{}
	return a, nil
}

type attachment struct {
	source     *Source
	target     atomic.Pointer[snapshot.Target]
	settled    atomic.Int64
	waits      atomic.Pointer[fleet.Waits]
	subscribes atomic.Pointer[fleet.Subscriptions]
	bell       xds.Bell
	ended      atomic.Pointer[error]
	past       xds.LastStream
	exceptions []snapshot.Exception // guarded by source.mu
}

func (a *attachment) retarget(s *snapshot.Snapshot) {
	if len(a.exceptions) > 0 {
		a.target.Store(snapshot.NewTarget(s, a.exceptions))
	} else {
		a.target.Store(a.source.shared(s))
	}
	a.bell.Ring()
}

// shared is the target of a snapshot. The caller holds the lock.
func (s *Source) shared(snap *snapshot.Snapshot) *snapshot.Target {
	if s.whole == nil || s.whole.Revision != snap.Revision {
		s.whole = snapshot.NewTarget(snap, nil)
	}
	return s.whole
}

func (a *attachment) Current() *snapshot.Target                 { return a.target.Load() }
func (a *attachment) Bell() xds.Bell                            { return a.bell }
func (a *attachment) Sent(fleet.Revision, time.Time, time.Time) {}
func (a *attachment) Waits(w fleet.Waits)                       { a.waits.Store(&w) }

func (a *attachment) CaughtUp() bool {
	a.source.mu.Lock()
	defer a.source.mu.Unlock()
	return !a.source.behind
}

func (a *attachment) Ended() error {
	if err := a.ended.Load(); err != nil {
		return *err
	}
	return nil
}

func (a *attachment) Subscribes(s fleet.Subscriptions) { a.subscribes.Store(&s) }

func (a *attachment) Settled(r fleet.Revision) { a.settled.Store(int64(r)) }

func (a *attachment) Refuse(_ context.Context, v snapshot.Verdict) {
	a.source.mu.Lock()
	defer a.source.mu.Unlock()
	a.source.refusals = append(a.source.refusals, v)
	a.exceptions = append(a.exceptions, v.Blame...)
	a.retarget(a.source.snap)
}

func (a *attachment) Reconsider(doubted []refusal.Key) {
	a.source.mu.Lock()
	defer a.source.mu.Unlock()
	a.exceptions = slices.DeleteFunc(a.exceptions, func(e snapshot.Exception) bool {
		return slices.Contains(doubted, e.Key())
	})
	a.retarget(a.source.snap)
}

func (a *attachment) LastStream() xds.LastStream { return a.past }

func (a *attachment) GaveUp() {}

func (a *attachment) Detach(bool) {
	a.source.mu.Lock()
	defer a.source.mu.Unlock()
	delete(a.source.attached, a)
}
