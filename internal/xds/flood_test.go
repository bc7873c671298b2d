package xds_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// slow authenticates the token "slow" when it is told to, and no sooner if the caller is gone: a handler that runs on. It counts
// those that run.
type slow struct {
	xds.Authenticator
	go_           chan struct{}
	running, most atomic.Int64
}

func (s *slow) Authenticate(ctx context.Context, token string) (xds.Identity, error) {
	if token != "slow" {
		return s.Authenticator.Authenticate(ctx, token)
	}
	n := s.running.Add(1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	<-s.go_
	s.running.Add(-1)
	return xds.Identity{}, errors.Join(fleet.ErrUnauthenticated)
}

// slowWorld is a server whose authenticator is slow, and its log.
func slowWorld(t *testing.T) (*xdstest.World, *slow, *logged) {
	t.Helper()
	s, log := &slow{go_: make(chan struct{})}, &logged{}
	w := xdstest.New(t, func(c *xds.Config) {
		s.Authenticator, c.Authenticator = c.Authenticator, s
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	return w, s, log
}

// TestT16_RapidResetIsBounded: calls that are reset as soon as they are made are few before the connection ends.
func TestT16_RapidResetIsBounded(t *testing.T) {
	for name, path := range map[string]string{"a method": deltaADS, "an unknown one": "/no.such.Service/Method", "none": "x"} {
		for token, most := range map[string]int{"": 200, "bad": 200, "*": 2500} {
			t.Run(name+" with token "+token, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var log logged
					w := xdstest.New(t, func(c *xds.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
					r := w.Raw()
					if token == "*" {
						listening(t, r)
					}
					synctest.Wait()
					made := 0
					for ; made < 4*most && r.Alive(); made += 20 {
						r.RapidReset(20, path, token)
						synctest.Wait()
					}
					if made > most && name != "none" { // gRPC ends those without a handler, which is waited for
						t.Errorf("%d calls were made and reset, want at most %d", made, most)
					}
					if r.Gone(); !log.has("resets of calls") {
						t.Errorf("the log does not say why: %.300s", log.text())
					}
				})
			})
		}
	}
}

// TestT16_HandlersOfResetCallsAreFew, however many calls came in one piece.
func TestT16_HandlersOfResetCallsAreFew(t *testing.T) {
	for name, more := range map[string]int{"in one piece": 5000, "one by one": 1} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, s, _ := slowWorld(t)
				r := w.Raw()
				synctest.Wait()
				for made := 0; made < 5000; made += more {
					r.RapidReset(more, deltaADS, "slow")
				}
				synctest.Wait()
				if n := s.most.Load(); n > 100 {
					t.Errorf("%d handlers ran at once, want at most 100", n)
				}
				close(s.go_)
			})
		})
	}
}

// TestT16_AHandlerCountsUntilItEnds: no more is read of a connection without a token while 32 of its calls run, reset by the client or by
// their own deadline; what ends them lets it go on.
func TestT16_AHandlerCountsUntilItEnds(t *testing.T) {
	for name, end := range map[string]func(r *xdstest.Raw){
		"reset":    func(r *xdstest.Raw) { r.Reset(r.Call(deltaADS, "slow")) },
		"deadline": func(r *xdstest.Raw) { r.Call(deltaADS, "slow", "grpc-timeout", "1m") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, s, _ := slowWorld(t)
				r := w.Raw()
				for range 90 {
					end(r)
					time.Sleep(2 * time.Millisecond) // of the clock that jumps
				}
				if n := s.most.Load(); n < 30 || n > 45 {
					t.Errorf("%d handlers ran at once, want some 32", n)
				}
				close(s.go_)
				if code, err := r.End(r.Call(checkMethod, "")); code != codes.OK {
					t.Errorf("afterwards a call ended with %v (%v)", code, err)
				}
			})
		})
	}
}

// TestT16_HandlersOfACredentialAreFew: of a connection with a good token too no more is read while some 256 calls run whose streams have ended.
func TestT16_HandlersOfACredentialAreFew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, s, _ := slowWorld(t)
		r := w.Raw()
		listening(t, r)
		synctest.Wait()
		for range 500 {
			r.Reset(r.Call(deltaADS, "slow"))
			time.Sleep(2 * time.Millisecond) // of the clock that jumps
		}
		if n := s.most.Load(); n < 250 || n > 300 {
			t.Errorf("%d handlers ran at once, want some 256", n)
		}
		close(s.go_)
	})
}

// TestT16_ResetsOfACredentialAreBounded: beside a good call too.
func TestT16_ResetsOfACredentialAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, s, _ := slowWorld(t)
		r := w.Raw()
		listening(t, r)
		synctest.Wait()
		flood := func(n int) {
			for range n {
				r.Reset(r.Call(deltaADS, "slow"))
			}
			synctest.Wait()
		}
		flood(1900)
		if n := s.most.Load(); n > 1500 {
			t.Errorf("%d handlers ran at once, want at most 1,500", n)
		}
		close(s.go_)
		synctest.Wait()
		if !r.Alive() {
			t.Fatal("1,900 resets ended the connection")
		}
		flood(500)
		r.Gone()
	})
}

// TestT16_StreamsThatLivedMayBeReset, all at once: an Envoy that drops its clusters does so with a stream for the endpoints of each.
func TestT16_StreamsThatLivedMayBeReset(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		r := w.Raw()
		listening(t, r)
		synctest.Wait()
		var ids []uint32
		for range 3000 {
			ids = append(ids, r.Call(deltaADS, "*"))
		}
		time.Sleep(2 * time.Second)
		for _, id := range ids {
			r.Reset(id)
		}
		synctest.Wait()
		if code, err := r.End(r.Call(checkMethod, "")); code != codes.OK {
			t.Errorf("afterwards a call ended with %v (%v)", code, err)
		}
	})
}

// floods are frames that cost their sender nothing, without a use.
var floods = map[string]func(f *http2.Framer, i int) error{
	"SETTINGS": func(f *http2.Framer, _ int) error { return f.WriteSettings() },
	"SETTINGS of windows": func(f *http2.Framer, i int) error {
		return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(i)})
	},
	"SETTINGS ACK": func(f *http2.Framer, _ int) error { return f.WriteSettingsAck() },
	"PING":         func(f *http2.Framer, _ int) error { return f.WritePing(false, [8]byte{1}) },
	"PING ACK":     func(f *http2.Framer, _ int) error { return f.WritePing(true, [8]byte{1}) },
	"PRIORITY": func(f *http2.Framer, i int) error {
		return f.WritePriority(uint32(2*i+1), http2.PriorityParam{Weight: 1})
	},
	"WINDOW_UPDATE":    func(f *http2.Framer, _ int) error { return f.WriteWindowUpdate(0, 1) },
	"empty DATA":       func(f *http2.Framer, _ int) error { return f.WriteData(1, false, nil) },
	"a byte of DATA":   func(f *http2.Framer, _ int) error { return f.WriteData(1, false, []byte{0}) },
	"RST_STREAM":       func(f *http2.Framer, _ int) error { return f.WriteRSTStream(1001, http2.ErrCodeCancel) },
	"an unknown frame": func(f *http2.Framer, _ int) error { return f.WriteRawFrame(0x77, 0, 0, nil) },
	"GOAWAY":           func(f *http2.Framer, _ int) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) },
	"CONTINUATION": func(f *http2.Framer, i int) error {
		if i == 0 {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1001, BlockFragment: []byte{0x82}})
		}
		return f.WriteContinuation(1001, false, nil)
	},
}

// TestT16_FramesThatCarryNothingEndTheConnection, without a token and with one, in words.
func TestT16_FramesThatCarryNothingEndTheConnection(t *testing.T) {
	for name, write := range floods {
		for _, token := range []string{"", "*"} {
			t.Run(name+" with token "+token, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var log logged
					w := xdstest.New(t, func(c *xds.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
					r, most := w.Raw(), 500
					r.Call(deltaADS, token)
					if token != "" {
						listening(t, r)
						most = 3000
					}
					synctest.Wait()
					sent := 0
					for sent < 10*most && r.Alive() {
						sent += r.Flood(100, write)
						synctest.Wait()
					}
					if sent > most {
						t.Errorf("%d frames were taken, want at most %d", sent, most)
					}
					r.Gone()
					if ours := name != "PING" && name != "CONTINUATION"; ours && !log.has("frames that carry nothing") { // gRPC ends those
						t.Errorf("the log does not say why: %.300s", log.text())
					}
				})
			})
		}
	}
}

// TestT16_AnAddressThatFloodsGetsLess, for a minute: others nothing of it.
func TestT16_AnAddressThatFloodsGetsLess(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := openDoor(t, func(c *xds.Config) { c.Limits.UnauthenticatedPerAddress = 20 })
		resets := func(from string) (n int) {
			r := d.raw(from)
			for ; n < 1000 && r.Alive(); n++ {
				r.RapidReset(1, deltaADS, "")
				synctest.Wait()
			}
			r.Gone()
			return n
		}
		many := func(from string) int {
			var rs []*xdstest.Raw
			for range 21 {
				rs = append(rs, d.raw(from))
			}
			time.Sleep(time.Second) // by which all have arrived: at once there are as many as the processors are for
			n := len(alive(rs))
			for _, r := range rs {
				r.Close()
			}
			synctest.Wait()
			return n
		}
		for i, want := range []int{101, 11, 101} {
			if n := resets("10.0.0.1"); n != want {
				t.Errorf("connection %d ended after %d resets, want %d", i, n, want)
			}
			if i == 1 {
				if n := many("10.0.0.2"); n != 20 {
					t.Errorf("another address has %d connections, want 20", n)
				}
				if n := many("10.0.0.1"); n != 2 {
					t.Errorf("the address has %d connections, want 2", n)
				}
				time.Sleep(61 * time.Second)
			}
		}
	})
}

// TestT16_RefusedCallsAreOneLineASecond: of each address, with how many there were more, and none is long.
func TestT16_RefusedCallsAreOneLineASecond(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log logged
		d := openDoor(t, func(c *xds.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		one, other := d.raw("10.0.0.1"), d.raw("10.0.0.2")
		long := "/" + strings.Repeat("a", 4000) + "/b"
		for range 100 {
			for _, r := range []*xdstest.Raw{one, other} {
				if code, err := r.End(r.Call(long, "bad")); code != codes.Unauthenticated {
					t.Fatalf("ended with %v (%v)", code, err)
				}
			}
		}
		time.Sleep(3 * time.Second)
		lines := strings.Split(strings.TrimSpace(log.text()), "\n")
		if len(lines) != 4 {
			t.Errorf("%d lines, want two of each address", len(lines))
		}
		for i, line := range lines {
			if len(line) > 600 || !strings.Contains(line, "call refused") || i >= 2 != strings.Contains(line, "more=98") {
				t.Errorf("line %d has %d bytes: %.700s", i, len(line), line)
			}
		}
	})
}

// TestT08_CallsWithoutATokenWait, of an address that makes many; others and good tokens do not.
func TestT08_CallsWithoutATokenWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := openDoor(t, func(c *xds.Config) { c.Limits.UnauthenticatedCalls = 10 })
		one, other := d.raw("10.0.0.1"), d.raw("10.0.0.2")
		took := func(r *xdstest.Raw, method, token string, want codes.Code) time.Duration {
			began := time.Now()
			if code, err := r.End(r.Call(method, token)); code != want {
				t.Fatalf("%s: ended with %v (%v)", method, code, err)
			}
			return time.Since(began)
		}
		for i := range 50 {
			if w := took(one, deltaADS, "bad", codes.Unauthenticated); w != 0 {
				t.Fatalf("call %d waited for %s", i, w)
			}
		}
		for _, method := range []string{deltaADS, checkMethod} {
			want := codes.Unauthenticated
			if method == checkMethod {
				want = codes.OK
			}
			if w := took(one, method, "", want); w != 100*time.Millisecond {
				t.Errorf("%s waited for %s, want 100 ms", method, w)
			}
			if w := took(other, method, "", want); w != 0 {
				t.Errorf("another address waited for %s", w)
			}
		}
		id := one.Call(fetchMethod, "*")
		one.Send(id, xdstest.Message(0, nil), true)
		began := time.Now()
		if code, err := one.End(id); code != codes.OK || time.Since(began) != 0 {
			t.Errorf("a good token: %v (%v), after %s", code, err, time.Since(began))
		}
	})
}
