package door_test

import (
	"bufio"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/door"
)

// end is one end of a connection that says where it comes from.
type end struct {
	net.Conn
	from net.Addr
}

func (e end) RemoteAddr() net.Addr { return e.from }

func address(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1000} }

// knock is a connection from there, and whether its other end lives.
func knock(t *testing.T, d *door.Door, ip string) (*door.Guest, func() bool) {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	closed := make(chan struct{})
	go func() {
		_, _ = there.Read(make([]byte, 1))
		close(closed)
	}()
	return d.Admit(end{here, address(ip)}), func() bool {
		synctest.Wait()
		select {
		case <-closed:
			return false
		default:
			return true
		}
	}
}

func quiet() *door.Log { return door.NewLog(slog.New(slog.DiscardHandler)) }

// TestT08_ConnectionsLeaveFiles: all of them are fewer than the files; who has proved who they are is never shed, and there are places for
// them that strangers cannot have.
func TestT08_ConnectionsLeaveFiles(t *testing.T) {
	t.Parallel()
	for files, want := range map[uint64]int{0: 64, 256: 64, 1024: 704, 20_000: 14_936, 1 << 40: 1 << 20} {
		if got := door.Open(files); got != want {
			t.Errorf("of %d files %d may be connections, want %d", files, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		d := door.New(door.Limits{Unproved: 100, PerAddress: 100, Idle: time.Minute, Open: 6}, quiet())
		var living []func() bool
		for i := range 8 {
			g, lives := knock(t, d, "10.0.0.1")
			if i < 2 {
				g.Prove()
			}
			living = append(living, lives)
		}
		var got []int
		for i, lives := range living {
			if lives() {
				got = append(got, i)
			}
		}
		if want := []int{0, 1, 5, 6, 7}; !slices.Equal(got, want) {
			t.Errorf("%v are left, want %v: those that have proved who they are, and three", got, want)
		}
		for range 6 { // all places to those who prove it
			if g, _ := knock(t, d, "10.0.0.2"); g != nil {
				g.Prove()
			}
		}
		if g, lives := knock(t, d, "10.0.0.3"); g != nil || lives() {
			t.Error("there is one more than files allow")
		}
	})
}

// TestT08_CallsOfAnAddressWait: the sixth second's worth waits, five seconds at most; other addresses and a peer without one do not.
func TestT08_CallsOfAnAddressWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := door.New(door.Limits{Calls: 10}, quiet())
		var waits []time.Duration
		for range 150 {
			waits = append(waits, d.Wait(address("10.0.0.1")))
		}
		for i, want := range map[int]time.Duration{0: 0, 49: 0, 50: 100 * time.Millisecond, 59: time.Second, 99: 5 * time.Second, 149: 5 * time.Second} {
			if waits[i] != want {
				t.Errorf("call %d waits for %s, want %s", i, waits[i], want)
			}
		}
		if w := d.Wait(address("10.0.0.2")) + d.Wait(&net.UnixAddr{}); w != 0 {
			t.Errorf("others wait for %s", w)
		}
		time.Sleep(6 * time.Second) // who waited for the longest time owes no more than that
		if w := d.Wait(address("10.0.0.1")); w != 0 {
			t.Errorf("later it waits for %s", w)
		}
	})
}

// TestT16_WhoWasCutOffWaits: of an address that a connection was ended of for a flood, fifty new ones are read in a second, and none waits for
// longer than that; a minute later, and of other addresses, all are read at once. One that is closed frees its reader.
func TestT16_WhoWasCutOffWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := door.New(door.Limits{Unproved: 1000, PerAddress: 1000, Idle: time.Hour}, quiet())
		waits := func(ip string) time.Duration {
			ours, theirs := net.Pipe()
			g := d.Admit(end{ours, address(ip)})
			if g == nil {
				t.Fatal("it is not let in")
			}
			defer g.Close()              //nolint:errcheck // a pipe's
			defer theirs.Close()         //nolint:errcheck // a pipe's
			go theirs.Write([]byte("x")) //nolint:errcheck // it ends with the pipe
			began := time.Now()
			if n, err := g.Read(make([]byte, 1)); n != 1 || err != nil {
				t.Errorf("%d bytes are read, %v", n, err)
			}
			return time.Since(began)
		}
		if w := waits("10.0.0.1"); w != 0 {
			t.Errorf("before the flood it waits for %s", w)
		}
		d.Flooded(address("10.0.0.1"), "tests")
		for i := range 50 {
			if w := waits("10.0.0.1"); w != 0 {
				t.Errorf("%d waits for %s", i, w)
			}
		}
		var readers sync.WaitGroup
		var longest atomic.Int64
		for range 70 {
			readers.Go(func() {
				w := int64(waits("10.0.0.1"))
				for old := longest.Load(); w > old && !longest.CompareAndSwap(old, w); old = longest.Load() {
				}
			})
		}
		readers.Wait()
		if w := time.Duration(longest.Load()); w != time.Second {
			t.Errorf("the last one waits for %s, want 1s", w)
		}
		if w := waits("10.0.0.2"); w != 0 {
			t.Errorf("of another address it waits for %s", w)
		}
		for range 40 {
			readers.Go(func() {
				ours, theirs := net.Pipe()
				defer theirs.Close() //nolint:errcheck // a pipe's
				g := d.Admit(end{ours, address("10.0.0.1")})
				_ = g.Close()
				if n, err := g.Read(make([]byte, 1)); n != 0 || err == nil {
					t.Errorf("of a closed one %d bytes are read", n)
				}
			})
		}
		closing := time.Now()
		readers.Wait()
		if w := time.Since(closing); w != 0 {
			t.Errorf("closed ones wait for %s", w)
		}
		time.Sleep(time.Minute + time.Second)
		for range 20 {
			if w := waits("10.0.0.1"); w != 0 {
				t.Errorf("a minute later it waits for %s", w)
			}
		}
	})
}

// TestT16_ConnectionsThatEndUnprovedAreAFlood: where more of them come than may, also if nobody says why they end. Those on which somebody
// proved who they are count for nothing, nor do those that are closed for want of room.
func TestT16_ConnectionsThatEndUnprovedAreAFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := door.New(door.Limits{Unproved: 1000, PerAddress: 1000, Idle: time.Hour, Failed: 2}, quiet())
		come := func(n int, prove bool) *door.Guest {
			var g *door.Guest
			for range n {
				if g, _ = knock(t, d, "10.0.0.1"); prove {
					g.Prove()
				}
				_ = g.Close()
			}
			return g
		}
		come(100, true)
		if come(20, false).Strict() || come(1, false).Strict() {
			t.Error("twenty that end unproved are a flood")
		}
		if !come(1, false).Strict() {
			t.Error("twenty-one that end unproved are none")
		}
		if g, _ := knock(t, d, "10.0.0.2"); g.Strict() {
			t.Error("it is a flood of another address")
		}
		free := door.New(door.Limits{Unproved: 1000, PerAddress: 1000, Idle: time.Hour}, quiet())
		for range 1000 {
			g, _ := knock(t, free, "10.0.0.1")
			if _ = g.Close(); g.Strict() {
				t.Fatal("without a limit there is a flood")
			}
		}
	})
}

// TestT16_WhatIsRememberedOfAddressesIsBounded: and more of them than that are still slowed down together.
func TestT16_WhatIsRememberedOfAddressesIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := door.New(door.Limits{Calls: 1}, quiet())
		ip := func(i int) net.Addr { return &net.TCPAddr{IP: net.IPv4(10, byte(i>>16), byte(i>>8), byte(i))} }
		var last time.Duration
		for i := range 5000 {
			d.Flooded(ip(i), "tests")
			last = d.Wait(ip(i))
		}
		if last == 0 {
			t.Error("of those that there is no room for none waits")
		}
		if n := d.Remembered(); n > 2*4096 {
			t.Errorf("%d addresses are remembered", n)
		}
	})
}

// TestT16_AHostHasOneSource: whoever has an IPv6 address has the 2^64 of its network.
func TestT16_AHostHasOneSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{{"[2001:db8::1]:1", "[2001:db8::ffff:1]:2", true}, {"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false}, {"10.0.0.1:1", "[::ffff:10.0.0.1]:2", true}, {"10.0.0.1:1", "10.0.0.2:1", false}} {
		a, b := door.SourceOf(c.a), door.SourceOf(c.b)
		if !a.IsValid() || (a == b) != c.same {
			t.Errorf("%s is %s, %s is %s", c.a, a, c.b, b)
		}
	}
}

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// browser is a connection of one that asks over TLS.
type browser struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (p pipes) dial(t *testing.T) *browser {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	p <- end{here, address("10.0.0.1")}
	c := tls.Client(there, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test's
	return &browser{t, c, bufio.NewReader(c)}
}

func (b *browser) ask(path string) error {
	if _, err := b.conn.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		return err
	}
	resp, err := http.ReadResponse(b.in, nil)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

// TestT08_AServerOfHTTP: connections without a request that proves who asks are closed when they are idle, and are few; a browser may load
// a page by six of them; one that has proved it stays.
func TestT08_AServerOfHTTP(t *testing.T) {
	t.Parallel()
	certified := httptest.NewTLSServer(nil)
	conf := certified.TLS.Clone()
	certified.Close()
	synctest.Test(t, func(t *testing.T) {
		var log lines
		d := door.New(door.Limits{Unproved: 100, PerAddress: 10, Idle: 10 * time.Second}, door.NewLog(slog.New(slog.NewTextHandler(&log, nil))))
		srv := &http.Server{IdleTimeout: time.Hour, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/prove" {
				door.Prove(r.Context())
			}
		})}
		d.Serve(srv)
		lis := make(pipes)
		go func() { _ = srv.Serve(tls.NewListener(d.Listener(lis), conf)) }()
		// After its clients have closed: a server says goodbye over TLS, and under its lock waits for one that reads it.
		t.Cleanup(func() { close(lis); _ = srv.Close() })

		var page []*browser
		for range 6 {
			b := lis.dial(t)
			if err := b.ask("/page"); err != nil {
				t.Fatal(err)
			}
			page = append(page, b)
		}
		for range 4 {
			lis.dial(t)
		}
		if err := lis.dial(t).ask("/page"); err == nil {
			t.Error("the eleventh connection was let in")
		}
		time.Sleep(9 * time.Second)
		if err := page[0].ask("/page"); err != nil {
			t.Errorf("after nine seconds: %v", err)
		}
		if err := page[1].ask("/prove"); err != nil {
			t.Errorf("after nine seconds: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := page[2].ask("/page"); err == nil {
			t.Error("one that was silent for eleven seconds lives")
		}
		if err := page[0].ask("/page"); err != nil {
			t.Errorf("one that asked two seconds ago: %v", err)
		}
		time.Sleep(time.Minute)
		if err := page[1].ask("/page"); err != nil {
			t.Errorf("one that has proved who they are, a minute later: %v", err)
		}
		if err := page[0].ask("/page"); err == nil {
			t.Error("one that has not lives a minute later")
		}
		if !strings.Contains(log.String(), "its address has too many") {
			t.Errorf("the log does not say that one was refused: %s", log.String())
		}
	})
}
