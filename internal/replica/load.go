package replica

import "time"

// Load is what a server does at present.
type Load struct {
	Streams int // that live or wait to begin
	Fleets  int // that they are of
	// Behind is how long it has not been known whether what is served is the newest: of the fleet where this
	// is longest. While the database answers it is about Config.Poll.
	Behind time.Duration
	// ClockAhead is how far the database's clock is ahead of ours, as far as it is known.
	ClockAhead time.Duration
	// Ends is when the next credential of the fleets that are held expires, on the database's clock; zero: none does.
	Ends time.Time
}

// Load may be asked at any time. It looks at each fleet once.
func (r *Replica) Load() Load {
	l := Load{Streams: int(r.served.Load()), ClockAhead: time.Duration(r.clock.offset.Load())}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.fleets {
		if at := o.ends.Load(); at != 0 && (l.Ends.IsZero() || at < l.Ends.UnixNano()) {
			l.Ends = time.Unix(0, at)
		}
		if o.users == 0 {
			continue
		}
		l.Fleets++
		if at := o.confirmed.Load(); at != 0 {
			l.Behind = max(l.Behind, time.Since(time.Unix(0, at)))
		}
	}
	return l
}
