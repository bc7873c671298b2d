package xds

import "time"

// What accounts for frames of a client that carry nothing: its settings and windows at first, two for each call and one for each message of its own, and
// four for each DATA frame that the server sends, of which it may tell that it was read, for the stream and for the connection.
const (
	owedFirst, owedByCall, owedByMessage, owedByData = 10, 2, 1, 4
	// owedMost is how many may be owed.
	owedMost = 10_000
	// smallData is how many bytes a DATA frame has that counts as one that carries something.
	smallData = 64
	// youngStream is the age, in milliseconds, up to which it counts that a stream is reset which nothing was answered on.
	youngStream = 1000
)

// now is the connection's age in milliseconds, without the time in which nothing was read.
func (f *frames) now() uint32 { return uint32(time.Since(f.since) / time.Millisecond) } //nolint:gosec // 49 days

// owes notes what accounts for so many frames that carry nothing.
func (f *frames) owes(n int) { f.owed = min(f.owed+n, owedMost) }

// carriesNothing notes a frame of the client's that carries nothing.
func (f *frames) carriesNothing() {
	if f.owed > 0 {
		f.owed--
		return
	}
	f.idle++
}

// answer begins a frame of the server's.
func (f *frames) answer() {
	switch f.out.kind() {
	case frameData:
		f.owes(owedByData)
	case framePing, frameSettings:
		if !f.out.flag(flagAck) { // the client answers it
			f.owes(1)
		}
	case frameHeaders, frameReset:
		if id := f.out.stream(); f.out.ends() {
			f.owes(1) // a client may reset what was ended before it had ended it
			f.forget(id)
		} else if s := f.incoming[id]; s != nil {
			s.heard = true
		}
	}
	if f.out.kind() == frameData && f.out.ends() {
		f.forget(f.out.stream())
	}
}

// spent returns what a client has done since the last time that it has no use for.
func (f *frames) spent() (resets, idle int) {
	resets, idle = f.resets, f.idle
	f.resets, f.idle = 0, 0
	return resets, idle
}
