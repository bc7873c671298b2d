package snapshot

import (
	"iter"

	"fairlead/internal/fleet"
)

// Quotable yields what a client's words about a type may quote: the resources of every
// response that it has not answered for, and those on trial. Its cost grows with these.
func (c *Client) Quotable(t fleet.Type) iter.Seq[*Resource] {
	tr := &c.types[t]
	return func(yield func(*Resource) bool) {
		seen := map[*Resource]struct{}{}
		again := func(r *Resource) bool {
			_, again := seen[r]
			seen[r] = struct{}{}
			return again || r.frames.any == nil
		}
		for _, f := range append([]*Response{tr.inFlight}, tr.late...) {
			if f == nil {
				continue
			}
			for _, r := range f.Resources {
				if !again(r) && !yield(r) {
					return
				}
			}
		}
		if tr.trial == nil {
			return
		}
		for _, s := range tr.trial.all() {
			if !again(s.refused) && !yield(s.refused) {
				return
			}
		}
	}
}

// Encoded is the google.protobuf.Any. It is shared and must not be written to.
func (r *Resource) Encoded() []byte { return r.frames.any }

// Harmless reports whether somebody found that the resource holds no secret: it need not be
// looked for again, on any stream.
func (r *Resource) Harmless() bool { return r.frames.harmless.Load() }

// SetHarmless notes that the resource holds no secret.
func (r *Resource) SetHarmless() { r.frames.harmless.Store(true) }
