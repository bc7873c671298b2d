package door_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/door"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu  sync.Mutex // guards out
	out bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

func (l *lines) count() int { return strings.Count(l.String(), "\n") }

// TestT16_OneLineASecond of an address and message; the rest is counted, and told without another one having to come.
func TestT16_OneLineASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out lines
		l := door.NewLog(slog.New(slog.NewTextHandler(&out, nil)))
		one, other := netip.MustParsePrefix("10.0.0.1/32"), netip.MustParsePrefix("2001:db8::/64")
		for i := range 1235 {
			l.Say(slog.LevelInfo, one, "call refused", slog.Int("n", i))
		}
		l.Say(slog.LevelInfo, one, "connection closed")
		l.Say(slog.LevelInfo, other, "call refused", slog.Int("n", 0))
		if n := out.count(); n != 3 {
			t.Fatalf("%d lines at once, want 3: %s", n, out.String())
		}
		time.Sleep(10 * time.Second)
		if n := out.count(); n != 4 || !strings.Contains(out.String(), "n=1234 more=1233") {
			t.Errorf("%d lines then: %s", n, out.String())
		}
		for range 100 { // for 10 s, ten in a second
			l.Say(slog.LevelInfo, one, "call refused")
			time.Sleep(100 * time.Millisecond)
		}
		if n := out.count() - 4; n < 9 || n > 12 {
			t.Errorf("%d lines in 10 s, want one in a second", n)
		}
		time.Sleep(5 * time.Second)
	})
}

// TestT16_ManyAddressesHaveFewLines, and those of a message that is seldom are not lost among them.
func TestT16_ManyAddressesHaveFewLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out lines
		l := door.NewLog(slog.New(slog.NewTextHandler(&out, nil)))
		from := func(i int) netip.Prefix {
			return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
		}
		for i := range 100_000 {
			l.Say(slog.LevelInfo, from(i), "call refused")
		}
		l.Say(slog.LevelInfo, from(200_000), "connection closed")
		if n := out.count(); n > 102 || !strings.Contains(out.String(), "connection closed") {
			t.Errorf("%d lines of 100,000 addresses, want at most 102", n)
		}
		time.Sleep(5 * time.Second)
		if n := out.count(); n > 205 {
			t.Errorf("%d lines in the end", n)
		}
	})
}

// TestT16_TextsAreCut to 200 bytes, whoever they are from, and stay UTF-8.
func TestT16_TextsAreCut(t *testing.T) {
	t.Parallel()
	var out lines
	l := door.NewLog(slog.New(slog.NewJSONHandler(&out, nil)))
	long := strings.Repeat("é", 5000)
	l.Say(slog.LevelWarn, netip.Prefix{}, "call refused", slog.String("method", "/"+long), slog.Any("reason", fmt.Errorf("no: %w", errors.New(long))), slog.Int("n", 1))
	if got := out.String(); len(got) > 700 || !strings.Contains(got, "(10001 bytes)") || strings.Contains(got, "\ufffd") {
		t.Errorf("%d bytes: %.900s", len(got), got)
	}
	l.Server().Printf("http: TLS handshake error from 10.0.0.1:1: %s", long)
	if n := out.count(); n != 2 || len(out.String()) > 1200 {
		t.Errorf("%d lines with the HTTP server's: %.900s", n, out.String())
	}
}
