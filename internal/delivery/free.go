package delivery

import "fairlead/internal/lifecycle"

// free lets those go on who waited for what is acked, some at a time.
func (f *fleetStatus) free() {
	acked := f.acked()
	lifecycle.InParts(len(acked), func(from, to int) {
		for _, done := range acked[from:to] {
			close(done)
		}
	}, nil)
}

func (f *fleetStatus) acked() []chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	acked := f.outbox.acked
	f.outbox.acked = nil
	return acked
}
