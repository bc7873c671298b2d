package xds_test

import (
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/test/bufconn"

	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// door is a server behind its own Listener, in memory: clients have whatever addresses
// they say.
type door struct {
	t      *testing.T
	lis    *bufconn.Listener
	server *xds.Server

	mu    sync.Mutex // guards addrs
	addrs []net.Addr // of the connections that are dialled and not accepted
}

func (d *door) Accept() (net.Conn, error) {
	conn, err := d.lis.Accept()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.addrs[0]
	d.addrs = d.addrs[1:]
	return addressed{conn, from}, nil
}

func (d *door) Close() error   { return d.lis.Close() }
func (d *door) Addr() net.Addr { return d.lis.Addr() }

type addressed struct {
	net.Conn
	from net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.from }

func openDoor(t *testing.T, edit func(*xds.Config)) *door {
	t.Helper()
	d := &door{t: t, lis: bufconn.Listen(1 << 20)}
	w := xdstest.New(t, edit)
	d.server = w.Server
	gs, served := w.Server.NewGRPC(), make(chan error, 1)
	go func() { served <- gs.Serve(w.Server.Listener(d)) }()
	t.Cleanup(func() {
		gs.Stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return d
}

func (d *door) dial(from string) net.Conn {
	d.t.Helper()
	d.mu.Lock()
	d.addrs = append(d.addrs, &net.TCPAddr{IP: net.ParseIP(from), Port: 1000})
	d.mu.Unlock()
	conn, err := d.lis.DialContext(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() })
	synctest.Wait() // it is accepted
	return conn
}

func (d *door) raw(from string) *xdstest.Raw {
	d.t.Helper()
	r := xdstest.NewRaw(d.t, d.dial(from))
	synctest.Wait()
	return r
}

// alive tells which connections live.
func alive(rs []*xdstest.Raw) (out []int) {
	synctest.Wait()
	for i, r := range rs {
		if r.Alive() {
			out = append(out, i)
		}
	}
	return out
}

// TestT08_ConnectionsWithoutACredentialAreShedFirst: over the cap the oldest one goes;
// those with an authenticated call stay, and count no more.
func TestT08_ConnectionsWithoutACredentialAreShedFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := openDoor(t, func(c *xds.Config) { c.Limits.Unauthenticated = 3 })
		good := d.raw("10.0.0.1")
		id := listening(t, good)
		synctest.Wait()
		var rs []*xdstest.Raw
		for range 5 {
			r := d.raw("10.0.0.2")
			if code, err := r.End(r.Call(deltaADS, "bad")); code != codes.Unauthenticated {
				t.Errorf("ended with %v (%v), want Unauthenticated", code, err)
			}
			rs = append(rs, r)
		}
		if got := alive(rs); !slices.Equal(got, []int{2, 3, 4}) {
			t.Errorf("%v are left of five, want the newest three", got)
		}
		// One that only shakes hands counts too, and so does one that is gone no more.
		_ = d.dial("10.0.0.3")
		if got := alive(rs); !slices.Equal(got, []int{3, 4}) {
			t.Errorf("%v are left, want the newest two", got)
		}
		if !good.Alive() {
			t.Errorf("the connection of stream %d, which is authenticated, was shed", id)
		}
		listening(t, rs[3])
		synctest.Wait()
		for range 2 {
			_ = d.dial("10.0.0.4")
		}
		if got := alive(rs); !slices.Equal(got, []int{3}) {
			t.Errorf("%v are left, want the one that got a credential", got)
		}
	})
}

// TestT08_OneAddressDoesNotShedOthers: of an address with too many the new one is refused.
func TestT08_OneAddressDoesNotShedOthers(t *testing.T) {
	for name, c := range map[string]struct {
		same  []string
		other string
	}{
		"IPv4":           {[]string{"10.0.0.1", "10.0.0.1", "10.0.0.1"}, "10.0.0.2"},
		"IPv4 in IPv6":   {[]string{"10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1"}, "10.0.0.2"},
		"IPv6 of a /64":  {[]string{"2001:db8:1:1::1", "2001:db8:1:1::2", "2001:db8:1:1:ffff::3"}, "2001:db8:1:2::1"},
		"a link's local": {[]string{"fe80::1", "fe80::2", "fe80::3"}, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := openDoor(t, func(c *xds.Config) { c.Limits.Unauthenticated, c.Limits.UnauthenticatedPerAddress = 10, 2 })
				rs := []*xdstest.Raw{d.raw(c.other)}
				for _, from := range c.same {
					rs = append(rs, d.raw(from))
				}
				if got := alive(rs); !slices.Equal(got, []int{0, 1, 2}) {
					t.Fatalf("%v are left, want all but the last", got)
				}
				listening(t, rs[1]) // counts no more
				synctest.Wait()
				rs = append(rs, d.raw(c.same[0]))
				if got := alive(rs); !slices.Equal(got, []int{0, 1, 2, 4}) {
					t.Errorf("%v are left, want the new one too", got)
				}
			})
		})
	}
}

// TestT08_AConnectionWithoutACallIsClosed after 30 s; a load balancer's, which asks for
// the health every 20 s, is not, nor is one that was authenticated.
func TestT08_AConnectionWithoutACallIsClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := openDoor(t, func(*xds.Config) {})
		silent, balancer, quiet := d.raw("10.0.0.1"), d.raw("10.0.0.1"), d.raw("10.0.0.1")
		id := quiet.Call(fetchMethod, "*")
		quiet.Send(id, xdstest.Message(0, nil), true)
		if code, err := quiet.End(id); code != codes.OK {
			t.Fatalf("the call ended with %v (%v)", code, err)
		}
		for range 6 {
			time.Sleep(20 * time.Second)
			if code, err := balancer.End(balancer.Call(checkMethod, "")); code != codes.OK {
				t.Fatalf("the health check ended with %v (%v)", code, err)
			}
		}
		if got := alive([]*xdstest.Raw{silent, balancer, quiet}); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("%v are left, want the second and the third", got)
		}
		time.Sleep(31 * time.Second)
		if balancer.Alive() {
			t.Error("the balancer's is left too long after its last call")
		}
	})
}

// TestT08_AConnectionWithoutAStreamEnds after five minutes, also where a token was good; one with a stream stays.
func TestT08_AConnectionWithoutAStreamEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := openDoor(t, func(*xds.Config) {})
		quiet, busy := d.raw("10.0.0.1"), d.raw("10.0.0.1")
		listening(t, busy)
		id := quiet.Call(fetchMethod, "*")
		quiet.Send(id, xdstest.Message(0, nil), true)
		if code, err := quiet.End(id); code != codes.OK {
			t.Fatalf("the call ended with %v (%v)", code, err)
		}
		time.Sleep(4 * time.Minute)
		if got := alive([]*xdstest.Raw{quiet, busy}); !slices.Equal(got, []int{0, 1}) {
			t.Errorf("after four minutes %v are left, want both", got)
		}
		time.Sleep(2 * time.Minute)
		if got := alive([]*xdstest.Raw{quiet, busy}); !slices.Equal(got, []int{1}) {
			t.Errorf("after six minutes %v are left, want the one with a stream", got)
		}
	})
}

// TestT08_AConnectionThatIsGoneCountsNoMore, whoever ended it.
func TestT08_AConnectionThatIsGoneCountsNoMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := openDoor(t, func(c *xds.Config) { c.Limits.UnauthenticatedPerAddress = 1 })
		for i := range 5 {
			conn := d.dial("10.0.0.1")
			r := xdstest.NewRaw(t, conn)
			if code, err := r.End(r.Call(checkMethod, "")); code != codes.OK {
				t.Fatalf("connection %d: the health check ended with %v (%v)", i, code, err)
			}
			_ = conn.Close()
			synctest.Wait()
		}
	})
}

// TestT08_AHandshakeHasADeadline: one that does not begin to speak is gone after 5 s.
func TestT08_AHandshakeHasADeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := openDoor(t, func(*xds.Config) {})
		conn, began := d.dial("10.0.0.1"), time.Now()
		buf := make([]byte, 1<<10)
		for {
			if _, err := conn.Read(buf); err != nil {
				break
			}
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it was closed after %s, want 5 s", took)
		}
	})
}

// Connections are served as fast as streams are made of them; who says nothing is waited for for 10 ms.
func TestT16_ConnectionsArriveInParts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		most := 16 * runtime.GOMAXPROCS(0)
		d := openDoor(t, func(c *xds.Config) { c.Limits.UnauthenticatedPerAddress = 4 * most })
		began := time.Now()
		var conns []net.Conn
		for range most + 1 {
			conns = append(conns, d.dial("192.0.2.1"))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("%d are taken in after %s", most+1, took)
		}
		for i, conn := range conns {
			want := time.Duration(0)
			if i == most { // it waits
				want = 10 * time.Millisecond
			}
			if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil { // what it begins with tells gRPC from polls
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); err != nil { // the server's settings
				t.Fatal(err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("connection %d is served after %s, want %s", i, took, want)
			}
		}
		time.Sleep(time.Second)
		began = time.Now()
		for range 2 * most { // a stream is made of each before the next one comes
			listening(t, d.raw("192.0.2.1"))
			synctest.Wait()
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("those that say what they want are served after %s", took)
		}
	})
}
