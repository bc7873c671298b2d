package xds

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
	"time"
)

// frame is one HTTP/2 frame.
func frame(kind, flags byte, stream uint32, payload ...byte) []byte {
	n := len(payload)
	head := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}
	return append(binary.BigEndian.AppendUint32(head, stream), payload...)
}

func prefix(n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{0}, n) }

func preface() []byte { return bytes.Repeat([]byte{'x'}, prefaceLen) }

// TestT39_FramesKnowWhatIsBegun: each step says how many messages are begun after it.
func TestT39_FramesKnowWhatIsBegun(t *testing.T) {
	type step struct {
		what string
		out  bool // the server sends it
		p    []byte
		half int
	}
	open := func(id uint32) step { return step{"headers", false, frame(frameHeaders, 4, id, 1, 2, 3), 0} }
	for name, steps := range map[string][]step{
		"a whole message": {open(1), {"data", false, frame(frameData, 0, 1, 0, 0, 0, 0, 2, 'a', 'b'), 0}},
		"an empty one":    {open(1), {"data", false, frame(frameData, 0, 1, prefix(0)...), 0}},
		"a byte of the prefix": {
			open(1), {"one byte", false, frame(frameData, 0, 1, 0), 1}, {"three more", false, frame(frameData, 0, 1, 0, 0, 0), 1},
			{"the last, of an empty message", false, frame(frameData, 0, 1, 0), 0},
		},
		"a body in parts": {
			open(1), {"prefix", false, frame(frameData, 0, 1, prefix(3)...), 1}, {"two", false, frame(frameData, 0, 1, 'a', 'b'), 1},
			{"the last, and the next message's first", false, frame(frameData, 0, 1, 'c', 0), 1}, {"its rest", false, frame(frameData, 0, 1, 0, 0, 0, 0), 0},
		},
		"padding is no message": {open(1), {"data", false, frame(frameData, flagPadded, 1, 3, 0, 0, 0, 0, 1, 'a', 9, 9, 9), 0}},
		"only padding":          {open(1), {"data", false, frame(frameData, flagPadded, 1, 2, 9, 9), 0}},
		"too much padding":      {open(1), {"data", false, frame(frameData, flagPadded, 1, 200, 9, 9), 0}},
		"two streams": {
			open(1), open(3), {"one", false, frame(frameData, 0, 1, 0), 1}, {"the other", false, frame(frameData, 0, 3, 0), 2},
			{"one is reset", false, frame(frameReset, 0, 1, 0, 0, 0, 8), 1}, {"the other ends", false, frame(frameData, flagEndStream, 3), 0},
		},
		"ended by the server": {
			open(1), {"half", false, frame(frameData, 0, 1, prefix(9)...), 1}, {"trailers", true, frame(frameHeaders, flagEndStream|4, 1, 1), 0},
			{"what was under way", false, frame(frameData, 0, 1, 'a', 'b'), 0},
		},
		"reset by the server": {open(1), {"half", false, frame(frameData, 0, 1, 0), 1}, {"reset", true, frame(frameReset, 0, 1, 0, 0, 0, 0), 0}},
		"the server only answers": {
			open(1), {"half", false, frame(frameData, 0, 1, 0), 1}, {"headers", true, frame(frameHeaders, 4, 1, 1), 1}, {"data", true, frame(frameData, 0, 1, prefix(0)...), 1},
		},
		"never opened":  {{"data", false, frame(frameData, 0, 5, 0), 0}},
		"trailers":      {open(1), {"half", false, frame(frameData, 0, 1, 0), 1}, {"trailers", false, frame(frameHeaders, flagEndStream|4, 1, 1), 0}},
		"another frame": {open(1), {"ping", false, frame(6, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8), 0}, {"half", false, frame(frameData, 0, 1, 0), 1}},
	} {
		for _, bytewise := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				f := newFrames()
				f.read(preface())
				for _, s := range steps {
					follow := f.read
					if s.out {
						follow = f.write
					}
					feed(follow, s.p, bytewise)
					if f.half != s.half {
						t.Fatalf("after %s (bytewise %t): %d messages are begun, want %d", s.what, bytewise, f.half, s.half)
					}
				}
			})
		}
	}
}

// TestT16_StreamsThatNobodyAnswersAreBounded: a server that has said GOAWAY ignores new streams,
// and what is remembered of them does not grow with each.
func TestT16_StreamsThatNobodyAnswersAreBounded(t *testing.T) {
	f := newFrames()
	f.stopWeighing()
	f.read(preface())
	for id := uint32(1); id < 2_000_000; id += 2 {
		f.read(frame(frameHeaders, 4, id, 1))
	}
	if n := len(f.incoming); n > 2*maxStreams {
		t.Errorf("%d streams are remembered, want at most %d", n, 2*maxStreams)
	}
}

// TestT16_WhatAClientHasAUseForIsFree: windows that it opens for what it was sent and for its calls, answers to the server's own frames, a
// reset of what the server has ended, and messages that are as small as a message gets.
func TestT16_WhatAClientHasAUseForIsFree(t *testing.T) {
	f := newFrames()
	f.read(preface())
	f.read(frame(frameSettings, 0, 0))
	window := func(id uint32) []byte { return frame(0x8, 0, id, 0, 0, 1, 0) }
	for id := uint32(1); id < 40_000; id += 2 {
		f.read(frame(frameHeaders, 4, id, 1))
		f.read(window(id))
		f.read(window(0))
		f.read(frame(frameData, 0, id, prefix(0)...))
		f.write(frame(frameHeaders, 4, id, 1))
		for range 2 {
			f.write(frame(frameData, 0, id, 1))
			f.read(window(id))
			f.read(window(0))
			f.read(frame(framePing, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8)) // gRPC measures the way with it
		}
		f.write(frame(framePing, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8))
		f.read(frame(framePing, flagAck, 0, 1, 2, 3, 4, 5, 6, 7, 8))
		if id%4 == 1 {
			f.write(frame(frameHeaders, flagEndStream|4, id, 1))
		}
		f.read(frame(frameReset, 0, id, 0, 0, 0, 8))
	}
	if resets, idle := f.spent(); resets != 0 || idle != 0 {
		t.Errorf("%d resets and %d frames are held against it", resets, idle)
	}
	if len(f.incoming) != 0 {
		t.Errorf("%d streams are left", len(f.incoming))
	}
}

func feed(follow func([]byte), p []byte, bytewise bool) {
	if !bytewise {
		follow(p)
		return
	}
	for i := range p {
		follow(p[i : i+1])
	}
}

// FuzzFrames: whatever comes, in whatever pieces: nothing panics, no byte is changed, the
// pieces make no difference, and the sums are right.
func FuzzFrames(f *testing.F) {
	whole := append(append(frame(frameHeaders, 4, 1, 1), frame(frameData, 0, 1, prefix(7)...)...), frame(frameData, flagPadded, 1, 1, 'a', 0)...)
	f.Add(whole, frame(frameHeaders, flagEndStream, 1), byte(3))
	f.Add(append(frame(frameHeaders, flagEndStream, 1), frame(frameReset, 0, 1, 0, 0, 0, 0)...), []byte{0, 0}, byte(1))
	f.Fuzz(func(t *testing.T, in, out []byte, piece byte) {
		wasIn, wasOut := bytes.Clone(in), bytes.Clone(out)
		one, other := newFrames(), newFrames()
		for i, x := range []*frames{one, other} {
			step := max(len(in), len(out), 1)
			if i == 1 {
				step = int(piece) + 1
			}
			x.read(preface())
			pieces(in, step, x.read)
			check(t, x)
			pieces(out, step, x.write)
			check(t, x)
		}
		if !bytes.Equal(in, wasIn) || !bytes.Equal(out, wasOut) {
			t.Fatal("bytes were changed")
		}
		for _, x := range []*frames{one, other} { // the clock makes a difference
			for _, s := range x.incoming {
				if !s.begun.IsZero() {
					s.begun = time.Unix(1, 0)
				}
				s.opened = 0
			}
			x.since = time.Time{}
			x.in.head, x.out.head = [9]byte{}, [9]byte{} // holds what is left of the frame before
		}
		if !reflect.DeepEqual(one, other) {
			t.Fatalf("in pieces of %d: %+v, at once: %+v", int(piece)+1, other, one)
		}
		one.stopWeighing()
		check(t, one)
	})
}

func pieces(p []byte, n int, follow func([]byte)) {
	for len(p) > 0 {
		k := min(n, len(p))
		follow(p[:k])
		p = p[k:]
	}
}

func check(t *testing.T, f *frames) {
	t.Helper()
	half, held := 0, 0
	for _, s := range f.incoming {
		if held += s.weight; !s.begun.IsZero() {
			half++
			if s.have == 0 {
				t.Fatal("a message is begun of which nothing came")
			}
		}
	}
	if half != f.half || held != f.held {
		t.Fatalf("%d messages are begun and weigh %d, noted are %d and %d", half, held, f.half, f.held)
	}
	if (f.half > 0) == f.oldest().IsZero() {
		t.Fatalf("%d are begun, the oldest at %s", f.half, f.oldest())
	}
}

// BenchmarkFrames is the cost of one ACK of a discovery stream, and of a large message.
func BenchmarkFrames(b *testing.B) {
	for name, size := range map[string]int{"ACK": 150, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			var p []byte
			rest := append(prefix(uint32(size)), make([]byte, size)...)
			for len(rest) > 0 {
				n := min(len(rest), 16<<10)
				p = append(p, frame(frameData, 0, 1, rest[:n]...)...)
				rest = rest[n:]
			}
			f := newFrames()
			f.read(preface())
			f.stopWeighing()
			for id := range uint32(1000) { // as many streams as there may be on a connection of a relay
				f.read(frame(frameHeaders, 4, 2*id+1, 1))
			}
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				pieces(p, 32<<10, f.read)
			}
		})
	}
}

// BenchmarkFramesPerStream is what one open stream adds, in bytes.
func BenchmarkFramesPerStream(b *testing.B) {
	const streams = 20_000
	b.ReportAllocs()
	for b.Loop() {
		f := newFrames()
		f.read(preface())
		for id := range uint32(streams) {
			f.read(frame(frameHeaders, 4, 2*id+1, 1))
		}
	}
	b.ReportMetric(streams, "streams/op")
}
