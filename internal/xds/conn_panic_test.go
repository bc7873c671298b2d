package xds

import (
	"log/slog"
	"net"
	"strings"
	"testing"
)

// TestT36_AConnectionThatCannotBeFollowedEndsAlone: frames are looked at in gRPC's own goroutines.
func TestT36_AConnectionThatCannotBeFollowedEndsAlone(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	near, far := net.Pipe()
	defer far.Close() //nolint:errcheck // the other end has closed it
	c := newConn(&Server{log: slog.New(slog.NewTextHandler(&log, nil))}, near, nil)
	c.mu.Lock()
	c.follow(func([]byte) { panic("on purpose") }, []byte("x"))
	c.mu.Unlock()
	if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection gives more")
	}
	if !strings.Contains(log.String(), "a connection") {
		t.Errorf("logged %q", log.String())
	}
}
