package replica

import (
	"sync/atomic"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// subscriber is a stream's place in a view. A stream's labels are fixed, the selectors are not.
type subscriber struct {
	exceptions                      // of the stream alone
	serves     [fleet.NumTypes]bool // types that the stream can ask for
	labels     selector.Labels
	view       *view                           // guarded by the owner's mu, like moved
	moved      bool                            // a change of the content gave it another one, which is not recorded yet
	target     atomic.Pointer[snapshot.Target] // the view's, with the exceptions
}
