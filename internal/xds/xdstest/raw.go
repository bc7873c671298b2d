package xdstest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
)

// Raw is a client that speaks HTTP/2 frame by frame: one that breaks off in the middle of
// a message, or sends what no gRPC library would.
type Raw struct {
	t    testing.TB
	conn net.Conn

	mu     sync.Mutex // guards all below
	change sync.Cond
	framer *http2.Framer // its writing
	out    corked        // what it writes to
	block  bytes.Buffer
	encode *hpack.Encoder
	last   uint32
	first  int64 // window of a new stream
	window map[uint32]int64
	ends   map[uint32]codes.Code
	err    error // why the connection ended; nil: it lives
}

// NewRaw speaks over the connection, which ends with the test.
func NewRaw(t testing.TB, conn net.Conn) *Raw {
	t.Helper()
	r := &Raw{t: t, conn: conn, out: corked{conn: conn}, first: 65535, window: map[uint32]int64{0: 65535}, ends: map[uint32]codes.Code{}}
	r.framer = http2.NewFramer(&r.out, conn)
	r.change.L = &r.mu
	r.encode = hpack.NewEncoder(&r.block)
	r.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	t.Cleanup(func() { _ = conn.Close() })
	_, _ = conn.Write([]byte(http2.ClientPreface)) // the end of the connection is seen by reading
	_ = r.framer.WriteSettings()
	go r.read()
	return r
}

// Raw opens a connection to the server for a Raw.
func (w *World) Raw() *Raw {
	w.t.Helper()
	return w.line.Raw()
}

// Raw opens one more connection for a Raw.
func (l *Line) Raw() *Raw {
	l.t.Helper()
	conn, err := l.lis.DialContext(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return NewRaw(l.t, conn)
}

// Deaf lets the server send nothing of a body on streams that are opened from now on.
func (r *Raw) Deaf() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *Raw) read() {
	for {
		f, err := r.framer.ReadFrame()
		r.mu.Lock()
		if err != nil {
			r.err = err
			r.change.Broadcast()
			r.mu.Unlock()
			return
		}
		r.take(f)
		r.change.Broadcast()
		r.mu.Unlock()
	}
}

func (r *Raw) take(f http2.Frame) {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
			r.first = int64(v)
		}
		if !f.IsAck() {
			_ = r.framer.WriteSettingsAck() // as above
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			_ = r.framer.WritePing(true, f.Data)
		}
	case *http2.WindowUpdateFrame:
		r.window[f.StreamID] += int64(f.Increment)
	case *http2.RSTStreamFrame:
		if _, ended := r.ends[f.StreamID]; !ended {
			r.ends[f.StreamID] = codes.Unknown
		}
	case *http2.MetaHeadersFrame:
		for _, h := range f.Fields {
			if n, err := strconv.Atoi(h.Value); h.Name == "grpc-status" && err == nil {
				r.ends[f.StreamID] = codes.Code(n)
			}
		}
	}
}

// Call opens a stream with the headers of a gRPC call, and more, in pairs. A token of ""
// sends none.
func (r *Raw) Call(path, token string, more ...string) uint32 {
	r.t.Helper()
	return r.CallTo("test", path, token, more...)
}

// CallTo is Call of another authority.
func (r *Raw) CallTo(authority, path, token string, more ...string) uint32 {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	fields := []string{":method", "POST", ":scheme", "http", ":path", path, ":authority", authority, "content-type", "application/grpc", "te", "trailers"}
	if token != "" {
		fields = append(fields, "authorization", "Bearer "+token)
	}
	fields = append(fields, more...)
	r.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		if err := r.encode.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}); err != nil {
			r.t.Fatal(err)
		}
	}
	id := r.last + 1
	r.last += 2
	r.window[id] = r.first
	p := r.block.Bytes()
	first := p[:min(len(p), 16<<10)]
	_ = r.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndHeaders: len(first) == len(p)}) // as above
	if rest := p[len(first):]; len(rest) > 0 {
		_ = r.framer.WriteContinuation(id, true, rest)
	}
	return id
}

// corked writes to the connection, at once or what has come together.
type corked struct {
	conn net.Conn
	in   bool
	rest bytes.Buffer
}

func (c *corked) Write(p []byte) (int, error) {
	if c.in {
		return c.rest.Write(p)
	}
	return c.conn.Write(p) //nolint:wrapcheck // it is the connection's
}

// RapidReset makes calls and resets each at once, in one piece.
func (r *Raw) RapidReset(calls int, path, token string) {
	r.t.Helper()
	r.cork(true)
	for range calls {
		r.Reset(r.Call(path, token))
	}
	r.cork(false)
}

func (r *Raw) cork(in bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out.in = in; !in {
		_, _ = r.conn.Write(r.out.rest.Bytes()) // the end of the connection is seen by reading
		r.out.rest.Reset()
	}
}

// Reset ends a stream that the client has opened.
func (r *Raw) Reset(id uint32) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.framer.WriteRSTStream(id, http2.ErrCodeCancel) // as above
}

// Flood writes with write, at most n times, until the connection has ended. It returns how often it did.
func (r *Raw) Flood(n int, write func(f *http2.Framer, i int) error) int {
	r.t.Helper()
	for i := range n {
		r.mu.Lock()
		if r.err != nil || write(r.framer, i) != nil {
			r.mu.Unlock()
			return i
		}
		r.mu.Unlock()
	}
	return n
}

// Message is a gRPC message's prefix, for a body of that length, and what is sent of it.
func Message(length int, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(length)), body...)
}

// Send sends bytes of a stream as far as it may: until the stream or the connection has
// ended. end says that there are no more. It returns how many were sent.
func (r *Raw) Send(id uint32, p []byte, end bool) (sent int) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		_, ended := r.ends[id]
		room := min(r.window[0], r.window[id], int64(len(p)), 16<<10)
		switch {
		case ended || r.err != nil:
			return sent
		case len(p) > 0 && room <= 0:
			r.change.Wait()
			continue
		}
		_ = r.framer.WriteData(id, end && int(room) == len(p), p[:room]) // as above
		r.window[0] -= room
		r.window[id] -= room
		p = p[room:]
		if sent += int(room); len(p) == 0 {
			return sent
		}
	}
}

// End waits for a stream's status. A stream or a connection that ends without has an error.
func (r *Raw) End(id uint32) (codes.Code, error) {
	r.t.Helper()
	late := time.AfterFunc(patience(), func() { _ = r.conn.Close() })
	defer late.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		code, ended := r.ends[id]
		switch {
		case ended && code == codes.Unknown:
			return code, fmt.Errorf("stream %d was reset", id)
		case ended:
			return code, nil
		case r.err != nil:
			return codes.Unknown, fmt.Errorf("the connection ended: %w", r.err)
		}
		r.change.Wait()
	}
}

// Close ends the connection.
func (r *Raw) Close() { _ = r.conn.Close() }

// Alive reports whether the connection has not ended.
func (r *Raw) Alive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err == nil
}

// Gone waits until the connection has ended.
func (r *Raw) Gone() {
	r.t.Helper()
	late := time.AfterFunc(patience(), func() {
		r.t.Error("the connection did not end in time")
		_ = r.conn.Close()
	})
	defer late.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.err == nil {
		r.change.Wait()
	}
}
