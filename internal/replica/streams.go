package replica

import (
	"maps"
	"slices"
	"time"

	"fairlead/internal/fleet"
)

// streams are those of a fleet. They end and wake them, and know nothing of what they hold.
// Whoever calls holds the owner's mu.
type streams struct {
	tied   map[*attachment]struct{}
	rounds int // readings begun
	// awaiting are those that wait for a reading that began after they did.
	awaiting map[*attachment]struct{}
	gone     error // the fleet is deleted, or another database has it: nobody comes any more
}

// beginRound counts one more reading of the database; those that come now are not older than it.
func (ss *streams) beginRound() (round int) {
	ss.rounds++
	return ss.rounds
}

// caughtUp wakes those that waited for a reading.
func (ss *streams) caughtUp() {
	for a := range ss.awaiting {
		a.bell.Ring()
	}
	clear(ss.awaiting)
}

func (ss *streams) all() []*attachment { return slices.Collect(maps.Keys(ss.tied)) }

// endAll ends all, for good.
func (ss *streams) endAll(why error) {
	ss.gone = why
	for a := range ss.tied {
		a.end(why)
	}
}

// sweep ends those whose credentials have ended.
func (ss *streams) sweep(creds map[fleet.CredentialID]fleet.Credential, now time.Time) {
	for a := range ss.tied {
		if c, ok := creds[a.id.Credential]; ok { // else it is judged by sweepUnknown
			if err := ended(c, now); err != nil {
				a.end(err)
			}
		}
	}
}

// sweepUnknown ends those whose credential is not among the fleet's, if the
// reading began after the stream did: a credential that was made a moment ago is found
// in the database before the fleet's owner has heard of it.
func (ss *streams) sweepUnknown(creds map[fleet.CredentialID]fleet.Credential, round int) {
	for a := range ss.tied {
		if a.id.Credential == (fleet.CredentialID{}) {
			continue // of a port that asks for none
		}
		if _, ok := creds[a.id.Credential]; !ok && a.round < round {
			a.end(errRemoved)
		}
	}
}
