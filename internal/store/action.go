package store

import "fairlead/internal/fleet"

// actionOf reads a column of refusal_action: fleet.ActionNone for null, and for one that only
// a newer server knows.
func actionOf(name *string) (a fleet.Action) {
	if name != nil {
		a, _ = fleet.ParseAction(*name)
	}
	return a
}
