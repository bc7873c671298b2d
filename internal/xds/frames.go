package xds

import (
	"encoding/binary"
	"time"
)

// frames follows the frames of an HTTP/2 connection in both directions and knows of which
// streams a gRPC message has begun to come and is not complete, and how much came that a client
// has no use for. It reads bytes that have
// passed and changes none. Its cost grows with the frames, and with the messages in them;
// what it remembers is one entry for each open stream, of which the transport bounds the
// number, and for some that it ignores.
type frames struct {
	in, out  frameHeads
	preface  int // bytes of the client's preface that are yet to come
	newest   uint32
	incoming map[uint32]*incoming // of the streams that neither side has ended, the client by a reset and the server at all
	half     int                  // of them, those with a message that is begun
	held     int                  // what incoming weighs, while weigh is set
	weigh    bool
	large    int // bytes of those messages that have begun to come, are not complete, and have more than largeMessage

	padding   uint32 // of the DATA frame that comes in now; at its end
	padLength bool   // its first byte, the length of the padding, is yet to come

	since  time.Time // when the connection began, later by how long nothing was read of it
	resets int       // streams that the client reset before anything was answered, just after it had opened them
	idle   int       // frames that carry nothing and that nothing accounts for
	owed   int       // frames that carry nothing and that what passed before accounts for
}

// incoming is what a stream's client sends.
type incoming struct {
	begun  time.Time // of the message that is not complete; zero: there is none
	left   uint32    // bytes of its body that are yet to come, once its prefix is there
	opened uint32    // milliseconds after frames.since
	prefix [5]byte   // "Compressed-Flag Message-Length", as gRPC puts before each message
	have   uint8     // bytes of prefix
	ended  bool      // the client sends no more
	heard  bool      // something was answered
	weight int
	large  int // of frames.large
}

// What is weighed: the least that a call, and a DATA frame, takes here beside its bytes.
const (
	callWeight  = 16 << 10
	frameWeight = 512
)

// Frames as RFC 9113 has them (sections 4.1 and 6).
const (
	frameData     = 0x0
	frameHeaders  = 0x1
	frameReset    = 0x3
	frameSettings = 0x4
	framePing     = 0x6
	flagAck       = 0x1
	flagEndStream = 0x1
	flagPadded    = 0x8
	frameHeadLen  = 9
	prefaceLen    = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
)

func newFrames() *frames {
	return &frames{preface: prefaceLen, incoming: make(map[uint32]*incoming), weigh: true, since: time.Now(), owed: owedFirst}
}

// frameHeads finds the heads of frames in one direction.
type frameHeads struct {
	head   [frameHeadLen]byte
	have   int
	length uint32 // of the payload
	left   uint32 // of it, what is yet to come
}

func (h *frameHeads) kind() byte { return h.head[3] }

func (h *frameHeads) flag(f byte) bool { return h.head[4]&f != 0 }

func (h *frameHeads) stream() uint32 { return binary.BigEndian.Uint32(h.head[5:]) &^ (1 << 31) }

// next takes bytes of a head. It returns what comes after, and whether the head is
// complete.
func (h *frameHeads) next(p []byte) (rest []byte, whole bool) {
	n := copy(h.head[h.have:], p)
	if h.have += n; h.have < frameHeadLen {
		return nil, false
	}
	h.length = uint32(h.head[0])<<16 | uint32(h.head[1])<<8 | uint32(h.head[2])
	h.have, h.left = 0, h.length
	return p[n:], true
}

// ofData is how much of a DATA frame is yet to come, 0 where another one comes in.
func (h *frameHeads) ofData() int {
	if h.left == 0 || h.kind() != frameData {
		return 0
	}
	return int(h.left)
}

// pass takes bytes of the payload and returns them and the rest.
func (h *frameHeads) pass(p []byte) (payload, rest []byte) {
	n := min(int(h.left), len(p))
	h.left -= uint32(n)
	return p[:n], p[n:]
}

// ends reports whether no more of the frame's stream comes after it in its direction.
func (h *frameHeads) ends() bool {
	switch h.kind() {
	case frameReset:
		return true
	case frameData, frameHeaders:
		return h.flag(flagEndStream)
	}
	return false
}

// read follows what the client has sent.
func (f *frames) read(p []byte) {
	if n := min(f.preface, len(p)); n > 0 {
		f.preface -= n
		p = p[n:]
	}
	for len(p) > 0 {
		if f.in.left == 0 {
			var whole bool
			if p, whole = f.in.next(p); !whole {
				return
			}
			f.open()
		} else {
			var payload []byte
			payload, p = f.in.pass(p)
			if f.in.kind() == frameData {
				f.data(payload)
			}
		}
		if f.in.left == 0 && f.in.ends() {
			f.finish(f.in.stream())
		}
	}
}

// open begins a frame of the client's.
func (f *frames) open() {
	id := f.in.stream()
	switch f.in.kind() {
	case frameHeaders:
		if id%2 != 1 || id <= f.newest { // trailers, or an error that the transport answers
			f.carriesNothing()
			return
		}
		f.newest = id
		f.owes(owedByCall)
		if len(f.incoming) < 2*maxStreams { // else the server has said GOAWAY, and answers no new one
			s := &incoming{opened: f.now()}
			f.weighs(s, callWeight)
			f.incoming[id] = s
		}
	case frameData:
		if f.in.length < smallData && !f.in.flag(flagEndStream) {
			f.carriesNothing()
		}
		f.padding, f.padLength = 0, f.in.flag(flagPadded)
		if f.weigh {
			if s := f.incoming[id]; s != nil {
				f.weighs(s, frameWeight+int(f.in.length))
			}
		}
	case frameReset:
		if _, ok := f.incoming[id]; !ok {
			f.carriesNothing()
		}
	default:
		f.carriesNothing()
	}
}

func (f *frames) weighs(s *incoming, by int) {
	if f.weigh {
		s.weight += by
		f.held += by
	}
}

// data takes a part of the payload of a DATA frame.
func (f *frames) data(p []byte) {
	s := f.incoming[f.in.stream()]
	if s == nil || s.ended {
		return // the server ended the stream, and its client had not heard of it yet
	}
	if f.padLength && len(p) > 0 {
		f.padding, f.padLength = uint32(p[0]), false
		p = p[1:]
	}
	if beyond := int64(f.padding) - int64(f.in.left); beyond > 0 { // of p, what is padding already
		p = p[:max(0, int64(len(p))-beyond)]
	}
	if len(p) == 0 {
		return
	}
	was := !s.begun.IsZero()
	for len(p) > 0 {
		p = s.take(p)
		f.measure(s)
		if s.have == 0 {
			f.owes(owedByMessage)
		}
	}
	is := s.have > 0
	switch {
	case !is:
		s.begun = time.Time{}
	case s.begun.IsZero():
		s.begun = time.Now()
	}
	f.half += count(is) - count(was)
}

// measure counts the message that a stream's client sends, if that is large. Of a client that is weighed no such message is read.
func (f *frames) measure(s *incoming) {
	size := 0
	if int(s.have) == len(s.prefix) && !f.weigh {
		size = int(binary.BigEndian.Uint32(s.prefix[1:]))
	}
	if size <= largeMessage {
		size = 0
	}
	f.large += size - s.large
	s.large = size
}

// take takes bytes of at most one message and returns the rest. A message that ends
// leaves have at 0 and begun at zero.
func (s *incoming) take(p []byte) []byte {
	if int(s.have) < len(s.prefix) {
		n := copy(s.prefix[s.have:], p)
		s.have += uint8(n)
		p = p[n:]
		if int(s.have) < len(s.prefix) {
			return nil
		}
		s.left = binary.BigEndian.Uint32(s.prefix[1:])
	} else {
		n := min(int64(s.left), int64(len(p)))
		s.left -= uint32(n)
		p = p[n:]
	}
	if s.left == 0 {
		s.have, s.begun = 0, time.Time{}
	}
	return p
}

// write follows what the server sends: a stream that it ends is forgotten, with what had
// come of a message.
func (f *frames) write(p []byte) {
	for len(p) > 0 {
		if f.out.left == 0 {
			var whole bool
			if p, whole = f.out.next(p); !whole {
				return
			}
			f.answer()
		} else {
			_, p = f.out.pass(p)
		}
	}
}

func (f *frames) forget(id uint32) {
	s := f.incoming[id]
	if s == nil {
		return
	}
	f.half -= count(!s.begun.IsZero())
	f.held -= s.weight
	f.large -= s.large
	delete(f.incoming, id)
}

// finish notes that the client ended a stream. Until the server ends it too, or the client resets it, what came is
// held.
func (f *frames) finish(id uint32) {
	s := f.incoming[id]
	if s == nil {
		return
	}
	if f.in.kind() == frameReset {
		if !s.heard && f.now()-s.opened < youngStream {
			f.resets++
		}
		f.forget(id)
		return
	}
	f.half -= count(!s.begun.IsZero())
	f.large -= s.large
	s.ended, s.begun, s.large = true, time.Time{}, 0
}

// stopWeighing forgets what all weighs.
func (f *frames) stopWeighing() {
	f.weigh, f.held = false, 0
	for _, s := range f.incoming {
		s.weight = 0
	}
}

// oldest returns since when the message comes that began first of those that are not
// complete; zero: there is none. It looks at every open stream.
func (f *frames) oldest() (begun time.Time) {
	if f.half == 0 {
		return time.Time{}
	}
	for _, s := range f.incoming {
		if !s.begun.IsZero() && (begun.IsZero() || s.begun.Before(begun)) {
			begun = s.begun
		}
	}
	return begun
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
