package replica

import "fairlead/internal/lifecycle"

// wake tells streams to look again, some at a time: the next ones when those before them have seen their targets. Those that
// have ended meanwhile count as if they had. No lock is held.
func wake(all []*attachment) {
	lifecycle.InParts(len(all), func(from, to int) {
		for _, a := range all[from:to] {
			a.bell.Ring()
		}
	}, func(from, to int) bool {
		missing := 0
		for _, a := range all[from:to] {
			if a.seen.Load() != a.subscriber.target.Load() {
				missing++
			}
		}
		return missing <= (to-from)/8
	})
}
