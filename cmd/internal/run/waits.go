package run

import "sync/atomic"

// Waits is why a server waits for its database, in words that anybody may read. Nil: nobody asks.
type Waits struct{ why atomic.Pointer[string] }

// tell notes why; "": it is not known.
func (w *Waits) tell(why string) {
	if w != nil {
		w.why.Store(&why)
	}
}

// Error says that the database was not reached yet, and why.
func (w *Waits) Error() string {
	text := "the database was not reached yet"
	if why := w.reason(); why != "" {
		text += ": " + why
	}
	return text
}

func (w *Waits) reason() string {
	if w == nil {
		return ""
	}
	if why := w.why.Load(); why != nil {
		return *why
	}
	return ""
}
