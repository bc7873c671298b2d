package snapshot

import (
	"iter"

	"fairlead/internal/fleet"
)

// Quotable yields what a client's words about a type may quote, each an encoded
// google.protobuf.Any that is shared and must not be written to: the resources of every
// response that it has not answered for, and those on trial. Its cost grows with these.
func (c *Client) Quotable(t fleet.Type) iter.Seq[[]byte] {
	tr := &c.types[t]
	return func(yield func([]byte) bool) {
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
				if !again(r) && !yield(r.frames.any) {
					return
				}
			}
		}
		if tr.trial == nil {
			return
		}
		for _, s := range tr.trial.all() {
			if !again(s.refused) && !yield(s.refused.frames.any) {
				return
			}
		}
	}
}
