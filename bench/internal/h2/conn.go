// Package h2 is a minimal HTTP/2 client connection for long-lived gRPC streams. One goroutine
// per connection does all the reading, another one lives while there is something to write,
// and what arrives goes to the stream's sink in pieces: nothing is buffered, so that thousands
// of clients fit beside the server that they load.
package h2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	headerLen     = 9
	frameMax      = 16384
	defaultWindow = 65535
	readBuffer    = 32 << 10
)

// Config of a connection: the flow control windows that the client offers, in bytes, and a
// function that learns how many bytes were read and written.
type Config struct {
	StreamWindow int
	ConnWindow   int
	Count        func(read, written int)
}

// Sink takes the gRPC byte stream of one HTTP/2 stream: messages with their five byte
// prefixes, in pieces of any size, valid during the call.
type Sink interface {
	Data(p []byte) error
}

// Conn is a client connection. Open and Send may be called before Run or from a sink, and
// not beside it.
type Conn struct {
	nc      net.Conn
	cfg     Config
	closed  atomic.Bool
	streams map[uint32]*Stream
	nextID  uint32
	headers *hpack.Decoder
	block   []byte // a header block in the making
	unacked int    // bytes read and not yet returned to the connection's window

	sendWindow   int
	streamWindow int // of the server, at a stream's start
	maxFrame     int
	blocked      []*Stream

	out     []byte // written by Run's goroutine, then handed over to a writer
	writers sync.WaitGroup

	mu      sync.Mutex // guards what follows
	queue   []byte
	writing bool
}

// New starts a connection on nc, which it closes.
func New(nc net.Conn, cfg Config) *Conn {
	c := &Conn{
		nc: nc, cfg: cfg, streams: make(map[uint32]*Stream, 1), nextID: 1, headers: hpack.NewDecoder(4096, nil),
		sendWindow: defaultWindow, streamWindow: defaultWindow, maxFrame: frameMax,
	}
	c.out = append(c.out, http2.ClientPreface...)
	settings := []http2.Setting{
		{ID: http2.SettingEnablePush, Val: 0},
		{ID: http2.SettingInitialWindowSize, Val: uint32(cfg.StreamWindow)},
		{ID: http2.SettingMaxFrameSize, Val: frameMax},
	}
	c.frame(http2.FrameSettings, 0, 0, 6*len(settings))
	for _, s := range settings {
		c.out = binary.BigEndian.AppendUint16(c.out, uint16(s.ID))
		c.out = binary.BigEndian.AppendUint32(c.out, s.Val)
	}
	if cfg.ConnWindow > defaultWindow {
		c.windowUpdate(0, cfg.ConnWindow-defaultWindow)
	}
	return c
}

// Headers encodes a block of request headers that any connection may send.
func Headers(fields ...hpack.HeaderField) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.SetMaxDynamicTableSize(0)
	for _, f := range fields {
		_ = e.WriteField(f) // a buffer takes all
	}
	return b.Bytes()
}

// Open starts a stream with a block of headers.
func (c *Conn) Open(headers []byte, sink Sink) *Stream {
	s := &Stream{conn: c, id: c.nextID, sink: sink, window: c.streamWindow}
	c.nextID += 2
	c.streams[s.id] = s
	c.frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, s.id, len(headers))
	c.out = append(c.out, headers...)
	return s
}

// Run reads until the connection ends, and returns when nothing writes any more. It returns
// nil after Close.
func (c *Conn) Run() error {
	err := c.read()
	_ = c.nc.Close()
	c.writers.Wait()
	if c.closed.Load() {
		return nil
	}
	return err
}

// Close closes the connection, which ends Run. Anybody may call it.
func (c *Conn) Close() {
	c.closed.Store(true)
	_ = c.nc.Close()
}

func (c *Conn) read() error {
	buf := make([]byte, readBuffer)
	var data *Stream // the stream that the next dataLeft bytes belong to
	have, dataLeft := 0, 0
	for {
		c.kick()
		n, err := c.nc.Read(buf[have:])
		if err != nil {
			return err
		}
		c.cfg.Count(n, 0)
		have += n
		p := buf[:have]
		for len(p) > 0 {
			if dataLeft > 0 {
				n := min(dataLeft, len(p))
				if err := c.data(data, p[:n]); err != nil {
					return err
				}
				p, dataLeft = p[n:], dataLeft-n
				continue
			}
			if len(p) < headerLen {
				break
			}
			h := parseHeader(p)
			if h.typ == http2.FrameData && !h.flags.Has(http2.FlagDataPadded) {
				data, dataLeft = c.streams[h.id], h.length
				p = p[headerLen:]
				continue
			}
			if h.length > frameMax {
				return fmt.Errorf("a frame of %d bytes", h.length)
			}
			if len(p) < headerLen+h.length {
				break
			}
			if err := c.control(h, p[headerLen:headerLen+h.length]); err != nil {
				return err
			}
			p = p[headerLen+h.length:]
		}
		have = copy(buf, p)
	}
}

// data hands p to its stream and returns window to the server by halves.
func (c *Conn) data(s *Stream, p []byte) error {
	if c.unacked += len(p); c.unacked > c.cfg.ConnWindow/2 {
		c.windowUpdate(0, c.unacked)
		c.unacked = 0
	}
	if s == nil {
		return errors.New("data for no stream")
	}
	if s.unacked += len(p); s.unacked > c.cfg.StreamWindow/2 {
		c.windowUpdate(s.id, s.unacked)
		s.unacked = 0
	}
	return s.sink.Data(p)
}

// kick has all output written, without waiting for it: a server that does not read while it
// writes must not stop this side from reading.
func (c *Conn) kick() {
	if len(c.out) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, c.out...)
	if cap(c.out) > frameMax {
		c.out = nil
	}
	c.out = c.out[:0]
	if !c.writing {
		c.writing = true
		c.writers.Go(c.write)
	}
}

// write ends when the queue is empty, or the connection broken: the reader learns of that.
func (c *Conn) write() {
	for {
		c.mu.Lock()
		b := c.queue
		c.queue = nil
		c.writing = len(b) > 0
		c.mu.Unlock()
		if len(b) == 0 {
			return
		}
		if _, err := c.nc.Write(b); err != nil {
			return
		}
		c.cfg.Count(0, len(b))
	}
}
