package access

import "time"

// recent is a map that forgets what nobody has asked for in the time keep, and, when it
// is full, what was asked for the longest ago: never more than most are held. Its owner
// guards it.
type recent[K comparable, V any] struct {
	most int
	keep time.Duration

	young, old map[K]V // asked for since turned, or between that and the turn before
	turned     time.Time
}

// get returns the value of k, made anew where it is not known.
func (r *recent[K, V]) get(now time.Time, k K, create func() V) V {
	if r.young == nil || len(r.young) >= r.most/2 || now.Sub(r.turned) >= r.keep {
		r.old, r.young, r.turned = r.young, map[K]V{}, now
	}
	v, ok := r.young[k]
	if ok {
		return v
	}
	if v, ok = r.old[k]; !ok {
		v = create()
	}
	r.young[k] = v
	return v
}

// look returns the value of k, if there is one.
func (r *recent[K, V]) look(k K) (V, bool) {
	v, ok := r.young[k]
	if !ok {
		v, ok = r.old[k]
	}
	return v, ok
}

func (r *recent[K, V]) forget(k K) {
	delete(r.young, k)
	delete(r.old, k)
}
