package h2

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/net/http2"
)

// header is that of a frame.
type header struct {
	length int
	typ    http2.FrameType
	flags  http2.Flags
	id     uint32
}

func parseHeader(p []byte) header {
	return header{
		int(p[0])<<16 | int(p[1])<<8 | int(p[2]), http2.FrameType(p[3]), http2.Flags(p[4]),
		binary.BigEndian.Uint32(p[5:]) &^ (1 << 31),
	}
}

// frame writes a header; what it heads is written behind it.
func (c *Conn) frame(t http2.FrameType, f http2.Flags, id uint32, length int) {
	c.out = append(c.out, byte(length>>16), byte(length>>8), byte(length), byte(t), byte(f))
	c.out = binary.BigEndian.AppendUint32(c.out, id)
}

func (c *Conn) windowUpdate(id uint32, n int) {
	c.frame(http2.FrameWindowUpdate, 0, id, 4)
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(n))
}

// control takes every frame but plain DATA.
func (c *Conn) control(h header, p []byte) error {
	switch h.typ {
	case http2.FrameData: // padded
		p, err := unpad(p)
		if err != nil {
			return err
		}
		return c.data(c.streams[h.id], p)
	case http2.FrameHeaders, http2.FrameContinuation:
		return c.headerBlock(h, p)
	case http2.FrameSettings:
		if h.flags.Has(http2.FlagSettingsAck) {
			return nil
		}
		c.settings(p)
		c.frame(http2.FrameSettings, http2.FlagSettingsAck, 0, 0)
		c.unblock()
	case http2.FramePing:
		if !h.flags.Has(http2.FlagPingAck) {
			c.frame(http2.FramePing, http2.FlagPingAck, 0, len(p))
			c.out = append(c.out, p...)
		}
	case http2.FrameWindowUpdate:
		n := int(binary.BigEndian.Uint32(p) &^ (1 << 31))
		if s := c.streams[h.id]; s != nil {
			s.window += n
		} else if h.id == 0 {
			c.sendWindow += n
		}
		c.unblock()
	case http2.FrameRSTStream:
		return fmt.Errorf("the server reset the stream: %v", http2.ErrCode(binary.BigEndian.Uint32(p)))
	case http2.FrameGoAway:
		return fmt.Errorf("the server is going away: %v %q", http2.ErrCode(binary.BigEndian.Uint32(p[4:])), p[8:])
	}
	return nil
}

// unpad takes the padding from a frame that has some.
func unpad(p []byte) ([]byte, error) {
	if len(p) == 0 || 1+int(p[0]) > len(p) {
		return nil, errors.New("bad padding")
	}
	return p[1 : len(p)-int(p[0])], nil
}

func (c *Conn) headerBlock(h header, p []byte) (err error) {
	if h.typ == http2.FrameHeaders {
		c.block = c.block[:0]
		if h.flags.Has(http2.FlagHeadersPadded) {
			if p, err = unpad(p); err != nil {
				return err
			}
		}
		if h.flags.Has(http2.FlagHeadersPriority) {
			p = p[5:]
		}
	}
	c.block = append(c.block, p...)
	if h.flags.Has(http2.FlagHeadersEndHeaders) { // the same bit in both types
		return c.response()
	}
	return nil
}

func (c *Conn) settings(p []byte) {
	for ; len(p) >= 6; p = p[6:] {
		val := int(binary.BigEndian.Uint32(p[2:]))
		switch http2.SettingID(binary.BigEndian.Uint16(p)) {
		case http2.SettingInitialWindowSize:
			for _, s := range c.streams {
				s.window += val - c.streamWindow
			}
			c.streamWindow = val
		case http2.SettingMaxFrameSize:
			c.maxFrame = val
		}
	}
}

// response reads a header block. A healthy stream never ends, so that a status other than
// the first 200 is an error.
func (c *Conn) response() error {
	fields, err := c.headers.DecodeFull(c.block)
	if err != nil {
		return err
	}
	var status, code, message string
	for _, f := range fields {
		switch f.Name {
		case ":status":
			status = f.Value
		case "grpc-status":
			code = f.Value
		case "grpc-message":
			message = f.Value
		}
	}
	if code != "" || status != "" && status != "200" {
		return fmt.Errorf("the stream ended: status %q, grpc-status %q: %s", status, code, message)
	}
	return nil
}
