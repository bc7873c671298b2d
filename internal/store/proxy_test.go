package store_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/store/storetest"
)

// proxy stands between a client and the database's socket.
type proxy struct {
	url   string
	black chan struct{} // closed: nothing passes any more, and nobody is told
	once  sync.Once
	// Answers of 8 KiB and more pass once lift is closed.
	lift    chan struct{}
	stalled atomic.Int32 // connections that wait for it
	drips   atomic.Bool  // 512 bytes pass every 20 ms
	// cut closes every connection and takes no more.
	cut func()
}

// darken makes the database unreachable with its connections open, as a network partition does.
func (p *proxy) darken() { p.once.Do(func() { close(p.black) }) }

// newProxy rewrites what clients send with alter, which may be nil.
func newProxy(t *testing.T, to string, alter func([]byte) []byte) *proxy {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	target := filepath.Join(q.Get("host"), ".s.PGSQL."+q.Get("port"))
	dir, err := os.MkdirTemp("", "fl") // t.TempDir is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL."+q.Get("port")))
	if err != nil {
		t.Fatal(err)
	}
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	p := &proxy{url: u.String(), black: make(chan struct{}), lift: make(chan struct{})}
	close(p.lift)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", target)
			if err != nil {
				_ = client.Close()
				continue
			}
			stop := context.AfterFunc(ctx, func() { _ = client.Close(); _ = server.Close() })
			wg.Go(func() { p.copy(ctx, server, client, alter); _ = server.Close(); stop() })
			wg.Go(func() { p.copy(ctx, client, server, p.stall(ctx)); _ = client.Close() })
		}
	})
	p.cut = func() {
		cancel()
		_ = ln.Close()
		wg.Wait()
		_ = os.RemoveAll(dir)
	}
	t.Cleanup(p.cut)
	return p
}

// stalling holds large answers back from now on, until lift is called.
func (p *proxy) stalling() (lift func()) {
	p.lift = make(chan struct{})
	return sync.OnceFunc(func() { close(p.lift) })
}

func (p *proxy) stall(ctx context.Context) func([]byte) []byte {
	return func(b []byte) []byte {
		if len(b) >= 8<<10 {
			p.stalled.Add(1)
			select {
			case <-p.lift:
			case <-ctx.Done():
			}
			p.stalled.Add(-1)
		}
		return b
	}
}

func (p *proxy) copy(ctx context.Context, to io.Writer, from io.Reader, alter func([]byte) []byte) {
	b := make([]byte, 64<<10)
	drop := time.NewTicker(20 * time.Millisecond)
	defer drop.Stop()
	for {
		part := b
		if p.drips.Load() {
			part = b[:512]
			select {
			case <-drop.C:
			case <-ctx.Done():
				return
			}
		}
		n, err := from.Read(part)
		select {
		case <-p.black:
			<-ctx.Done()
			return
		default:
		}
		out := b[:n]
		if alter != nil {
			out = alter(out)
		}
		if n > 0 {
			if _, err := to.Write(out); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// deafURL leads to the database through something that swallows LISTEN.
func deafURL(t *testing.T, db *storetest.DB) string {
	return newProxy(t, db.Node, func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("LISTEN fairlead"), []byte("SELECT 'fairle'"))
	}).url
}
