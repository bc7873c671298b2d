package fleet

// Action is what was done about a refusal. Databases and the API know it by its name; the
// words for people are the API's.
type Action uint8

// The actions, in an order that means nothing.
const (
	ActionNone           Action = iota // none is told of
	ActionNoSuspect                    // nothing: no resource could be held responsible
	ActionKept                         // the last known good version stands in for it
	ActionRemoved                      // the node was left without it: it never accepted any version
	ActionFrozen                       // kept back from its stream alone: the node refuses too much of the type
	ActionUnknown                      // left alone: the version that the node has is not known
	ActionLost                         // left alone: the bytes of the last known good version are gone
	ActionStandInRefused               // left alone: the version that stood in was refused too
	ActionSuperseded                   // nothing: another version is in force by now
	ActionDeleted                      // nothing: the resource is deleted by now

	NumActions = 10
)

var actionNames = [NumActions]string{"none", "no_suspect", "kept", "removed", "frozen", "unknown", "lost", "stand_in_refused", "superseded", "deleted"}

// Actions returns every action.
func Actions() []Action {
	as := make([]Action, NumActions)
	for i := range as {
		as[i] = Action(i)
	}
	return as
}

// ParseAction finds the action of a name.
func ParseAction(name string) (Action, bool) {
	for a, n := range actionNames {
		if n == name {
			return Action(a), true
		}
	}
	return ActionNone, false
}

func (a Action) String() string { return actionNames[a] }

// End is how a refusal ended. Databases know it by its name.
type End uint8

// The ends, in an order that means nothing.
const (
	EndNone     End = iota // it stands
	EndReplaced            // another version is in force, or none
	EndTaken               // the node has what it is to have all the same
	EndOffered             // the node is offered it once more, and may refuse it again

	NumEnds = 4
)

var endNames = [NumEnds]string{"", "replaced", "taken", "offered"}

// ParseEnd finds the end of a name.
func ParseEnd(name string) (End, bool) {
	for e, n := range endNames {
		if n == name {
			return End(e), true
		}
	}
	return EndNone, false
}

func (e End) String() string { return endNames[e] }

// KeptBack reports whether the node is to have something else than the version that it
// refused: another version, what it had, or nothing.
func (r Refusal) KeptBack() bool {
	return r.Good != "" || r.Action == ActionRemoved || r.Action == ActionFrozen
}
