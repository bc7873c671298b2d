package snapshot

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// Snapshot is what one view of a fleet holds at one revision. It is immutable.
type Snapshot struct {
	Revision fleet.Revision
	// History is another number when the fleet's history was cut, by a failover that lost
	// commits: revisions of before mean nothing now.
	History uint64
	Types   [fleet.NumTypes]*Set
	// Gone are the tombstones: names that the view has lost, by deletion or by selection, with
	// the revisions that took them away, or with later ones that may have. What is older than
	// the store's tombstones is not among them.
	Gone [fleet.NumTypes]*Set
	// Sealed are the secrets of which the server cannot open the version that the view should have: with that version, and without its
	// bytes. Types have the last one that could be opened, or nothing.
	Sealed *Set
	// Recent are what the view held before. Follow sets it.
	Recent Recent
	// Since is the revision from which on Recent has all that the view held, as far as it goes back.
	Since fleet.Revision
	// Unknown are names of which it is not known what one node held: of a snapshot that says
	// what it held before.
	Unknown []fleet.Ref
}

// Unsure reports whether it is not known what the one node had of a name.
func (s *Snapshot) Unsure(ref fleet.Ref) bool {
	return slices.Contains(s.Unknown, ref)
}

// Exception is a version that one node will not take, and what stands in for it.
type Exception struct {
	Type    fleet.Type
	Refused *Resource
	Good    *Resource // the last one that the node confirmed; nil: the node never had the name
	// Leave: the node has some version of the name, and its bytes are not to be had. The
	// name is left alone, never removed (SEMANTICS 3.2).
	Leave bool
	// Rival is what the node would not take it beside, by its words: it is over when that is another version. nil: none is known.
	Rival *Resource
	// Lacked is what the version names and the node was not given: it may be for that that it was refused, so it is over when one of these comes.
	// What the client's words name comes first.
	Lacked []Lack
	// At is of one that its stream keeps back until the target does: the revision of the target when it was found out. 0 of a candidate.
	At fleet.Revision
}

// Ref is the name.
func (e Exception) Ref() fleet.Ref { return fleet.Ref{Type: e.Type, Name: e.Refused.Name} }

// Key is the refused version.
func (e Exception) Key() refusal.Key {
	return refusal.Key{Type: e.Type, Name: e.Refused.Name, Version: e.Refused.Version}
}

// Verdict is what was found out of a refusal, or of what is taken for one: who is to blame, and the client's words.
type Verdict struct {
	Type   fleet.Type
	Detail string // what an attachment is told is redacted and cut to 4 KiB; hostile text
	Blame  []Exception
	// Presumed: the client said nothing, and was taken for stuck.
	Presumed bool
}

// Target is what one node should hold: a snapshot with the node's exceptions. It is
// immutable, and shared by the nodes that should hold the same.
type Target struct {
	Revision fleet.Revision
	History  uint64
	Types    [fleet.NumTypes]*Set
	Gone     [fleet.NumTypes]*Set // of the snapshot
	View     [fleet.NumTypes]*Set // the snapshot's own: what Types were without exceptions
	Sealed   *Set                 // of the snapshot
	Recent   Recent
	// Retries moves when the node is asked again to take what it refused: then a content
	// may go a second time to a stream that refused it.
	Retries int

	repairs  *repairs // nil without exceptions
	remember sync.Once
	memo     any
	serial   atomic.Uint64
}

// repairs is what exceptions do beyond replacing resources.
type repairs struct {
	kept    map[fleet.Ref]struct{}              // a substitute names them: they stay although they are deleted
	instead map[fleet.Ref]*Resource             // what stands in for a name, nil for nothing
	left    [fleet.NumTypes]map[string]struct{} // the node has some version, whose bytes are not to be had
}

// NewTarget applies exceptions to a snapshot. An exception whose name has another
// version by now is over and changes nothing. What a substitute names stays with the
// client although the revision deleted it (SEMANTICS 3.3).
func NewTarget(s *Snapshot, exceptions []Exception) *Target {
	t := &Target{Revision: s.Revision, History: s.History, Types: s.Types, Gone: s.Gone, View: s.Types, Sealed: s.Sealed, Recent: s.Recent}
	t.except(slices.DeleteFunc(slices.Clone(exceptions), func(e Exception) bool { return !e.Applies(s) }))
	return t
}

// Except returns the target with more exceptions.
func (t *Target) Except(es []Exception) *Target {
	more := &Target{
		Revision: t.Revision, History: t.History, Types: t.Types, Gone: t.Gone, View: t.View, Sealed: t.Sealed, Recent: t.Recent,
		Retries: t.Retries, repairs: t.repairs,
	}
	more.except(es)
	return more
}

// except applies exceptions to a target that nobody shares yet.
func (t *Target) except(es []Exception) {
	if len(es) == 0 {
		return
	}
	own := &repairs{kept: map[fleet.Ref]struct{}{}, instead: map[fleet.Ref]*Resource{}}
	if t.repairs != nil {
		own = &repairs{kept: maps.Clone(t.repairs.kept), instead: maps.Clone(t.repairs.instead)}
		for typ, names := range t.repairs.left {
			own.left[typ] = maps.Clone(names)
		}
	}
	t.repairs = own
	for _, e := range es {
		ref := e.Ref()
		switch {
		case e.Leave:
			own.kept[ref] = struct{}{}
			if own.left[e.Type] == nil {
				own.left[e.Type] = make(map[string]struct{})
			}
			own.left[e.Type][ref.Name] = struct{}{}
			t.Types[e.Type] = t.Types[e.Type].Without(ref.Name)
			continue
		case e.Good == nil:
			t.Types[e.Type] = t.Types[e.Type].Without(ref.Name)
		default:
			for _, ref := range e.Good.Refs {
				own.kept[ref] = struct{}{}
			}
			t.Types[e.Type] = t.Types[e.Type].With(e.Good)
		}
		own.instead[ref] = e.Good
	}
}

// Applies reports whether the snapshot still holds the refused version, and what it was refused beside, and has not got what it lacked.
func (e Exception) Applies(s *Snapshot) bool {
	of := s.Types[e.Type]
	return Same(of.Get(e.Refused.Name), e.Refused) && (e.Rival == nil || Same(of.Get(e.Rival.Name), e.Rival)) && !AnyCame(e.Lacked, s.Types)
}

// Memo returns what the first call made: what somebody worked out of the target goes with it.
func (t *Target) Memo(first func() any) any {
	t.remember.Do(func() { t.memo = first() })
	return t.memo
}

var serials atomic.Uint64

// Serial tells targets apart that there are and that there were, in this process. It is never 0.
func (t *Target) Serial() uint64 {
	if n := t.serial.Load(); n != 0 {
		return n
	}
	t.serial.CompareAndSwap(0, serials.Add(1))
	return t.serial.Load()
}
