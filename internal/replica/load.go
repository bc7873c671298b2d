package replica

import "time"

// Load is what a server does at present.
type Load struct {
	Streams int // that live or wait to begin
	Fleets  int // that they are of
	// Behind is how long it has not been known whether what is served is the newest: of the fleet where this
	// is longest. While the database answers it is about Config.Poll.
	Behind time.Duration
}

// Load may be asked at any time. It looks at each fleet once.
func (r *Replica) Load() Load {
	l := Load{Streams: r.streams.count()}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.fleets {
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
