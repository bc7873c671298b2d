package h2

import (
	"encoding/binary"

	"golang.org/x/net/http2"
)

// Stream is one HTTP/2 stream.
type Stream struct {
	conn    *Conn
	id      uint32
	sink    Sink
	window  int
	unacked int
	pending []byte // what waits for window
}

// Send sends one gRPC message, which is made of the parts.
func (s *Stream) Send(parts ...[]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	waiting := len(s.pending) > 0
	s.pending = append(s.pending, 0)
	s.pending = binary.BigEndian.AppendUint32(s.pending, uint32(n))
	for _, p := range parts {
		s.pending = append(s.pending, p...)
	}
	if !waiting {
		s.pump()
	}
}

// pump moves as much as the windows allow to the connection.
func (s *Stream) pump() {
	c, sent := s.conn, 0
	for sent < len(s.pending) {
		n := min(len(s.pending)-sent, s.window, c.sendWindow, c.maxFrame)
		if n <= 0 {
			c.blocked = append(c.blocked, s)
			break
		}
		c.frame(http2.FrameData, 0, s.id, n)
		c.out = append(c.out, s.pending[sent:sent+n]...)
		sent += n
		s.window -= n
		c.sendWindow -= n
	}
	s.pending = s.pending[sent:]
	if len(s.pending) == 0 {
		s.pending = nil
	}
}

func (c *Conn) unblock() {
	blocked := c.blocked
	c.blocked = nil
	for _, s := range blocked {
		s.pump()
	}
}
