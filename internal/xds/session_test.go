package xds

import (
	"errors"
	"testing"

	"fairlead/internal/fleet"
)

// TestRESTNotYet: 304 tells a client that what it has is current, and is no answer to one that has nothing, or something that nobody
// knows.
func TestRESTNotYet(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]*session{
		"it has nothing":         {resting: true, current: true},
		"it has what is unknown": {held: "v", resting: true},
		"it may not be current":  {held: "v", current: true},
	} {
		if a := x.unchanged(); !errors.Is(a.err, fleet.ErrUnavailable) {
			t.Errorf("%s: it is told %v", name, a.err)
		}
	}
	if a := (&session{held: "v", current: true, resting: true}).unchanged(); a.err != nil || a.response != nil {
		t.Errorf("what is current is told %+v", a)
	}
}
