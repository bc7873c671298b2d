package world

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// call is one stream through a tap.
type call struct {
	p      *Tap
	down   grpc.ServerStream
	up     grpc.ClientStream
	method string
	stream int
	asked  func([]byte) (Asked, error)
	sent   func([]byte) (Sent, error)
}

// serve passes messages of one stream of any discovery service on, both ways, until one
// side ends.
func (p *Tap) serve(_ any, down grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(down)
	c := &call{p: p, down: down, method: path.Base(method), asked: askedSotW, sent: sentSotW}
	if strings.HasPrefix(c.method, "Delta") {
		c.asked, c.sent = askedDelta, sentDelta
	}
	ctx, cancel := context.WithCancel(down.Context())
	defer cancel()
	ended, err := c.open(ctx, method)
	if err != nil {
		return err
	}
	over := make(chan error, 2)
	go c.requests(over)
	go func() { over <- c.responses(ctx) }()
	select {
	case err := <-over:
		return err
	case <-ended:
		return status.Error(codes.Unavailable, "ended by the test")
	}
}

// open opens the stream to where the tap leads now. ended is closed when the test ends it.
func (c *call) open(ctx context.Context, method string) (ended <-chan struct{}, err error) {
	c.p.mu.Lock()
	c.p.streams++
	c.stream = c.p.streams
	conn, token, ended := c.p.upstream, c.p.token, c.p.ended
	c.p.mu.Unlock()
	md, _ := metadata.FromIncomingContext(ctx)
	authorization := md.Get("authorization")
	if token != "" {
		authorization = []string{"Bearer " + token}
	}
	ctx = metadata.NewOutgoingContext(ctx, metadata.MD{"authorization": authorization})
	c.up, err = conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	return ended, err
}

// requests passes them on until the client has no more to say, or breaks off, which is
// told.
func (c *call) requests(over chan<- error) {
	for {
		var b []byte
		switch err := c.down.RecvMsg(&b); {
		case errors.Is(err, io.EOF):
			_ = c.up.CloseSend() // a half-close is one for the server too
			return
		case err != nil:
			over <- err
			return
		}
		if a, err := c.asked(b); err == nil {
			a.Stream, a.Method = c.stream, c.method
			c.p.noteAsked(a)
		}
		if c.up.SendMsg(b) != nil {
			return // the other direction learns why
		}
	}
}

// responses passes them on, each type after its own delay: what is held back holds up
// nothing else. nil: the server ended the stream with OK.
func (c *call) responses(ctx context.Context) error {
	var mu sync.Mutex // of down.SendMsg
	var held sync.WaitGroup
	defer held.Wait()
	for {
		var b []byte
		switch err := c.up.RecvMsg(&b); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		delay := time.Duration(0)
		if s, err := c.sent(b); err == nil {
			s.Stream = c.stream
			delay = c.p.noteSent(s)
		}
		send := func() {
			mu.Lock()
			defer mu.Unlock()
			_ = c.down.SendMsg(b) // a stream that ended tells the other direction
		}
		if delay == 0 {
			send()
			continue
		}
		held.Go(func() {
			select {
			case <-time.After(delay):
				send()
			case <-ctx.Done():
			}
		})
	}
}
