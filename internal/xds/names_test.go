package xds

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/grpc/mem"

	"fairlead/internal/fleet"
)

// allocated is how many bytes f takes. The test that asks runs alone.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestT40_NamesAreCountedWhileTheyAreDecoded: a request of names that say nothing costs next
// to nothing besides its own bytes, whichever list they stand in.
func TestT40_NamesAreCountedWhileTheyAreDecoded(t *testing.T) {
	for name, c := range map[string]struct {
		delta bool
		entry string
		says  string
	}{
		"subscribed":      {true, "\x1a\x00", "names 1000000 resources"},
		"unsubscribed":    {true, "\x22\x00", "drops 1000000"},
		"versions":        {true, "\x2a\x00", "reports the versions of 1000000"},
		"SotW":            {false, "\x1a\x00", "names 1000000 resources"},
		"one letter each": {true, "\x1a\x01x", "names 1000000 resources"},
	} {
		body := mem.BufferSlice{mem.SliceBuffer(bytes.Repeat([]byte(c.entry), 1_000_000))}
		r := &request{delta: c.delta, bounds: bounds{20_000, nil, nil}}
		var err error
		n := allocated(func() { err = newCodec().Unmarshal(body, r) })
		if err != nil || !errors.Is(r.refused, fleet.ErrLimit) || !strings.Contains(r.refused.Error(), c.says) || !strings.Contains(r.refused.Error(), "20000 is the limit") {
			t.Errorf("%s: %v, %v, want %q", name, err, r.refused, c.says)
		}
		if n > 64<<10 {
			t.Errorf("%s: %d KiB were allocated for a request that is refused", name, n>>10)
		}
	}
}

// TestT40_LongNamesAreMeasuredWhileTheyAreDecoded: what is to become of them is decided before anything of them is copied.
func TestT40_LongNamesAreMeasuredWhileTheyAreDecoded(t *testing.T) {
	body := append([]byte{0x1a, 0x80, 0x80, 0xc0, 0x01}, bytes.Repeat([]byte("x"), 3<<20)...)
	r := &request{delta: true, bounds: bounds{1, nil, nil}}
	var err error
	n := allocated(func() { err = r.decode(body) })
	if err != nil || r.names.longest != 3<<20 || r.names.plain(512) || !r.names.plain(3<<20) {
		t.Errorf("%v, %+v", err, r.names)
	}
	if n > 64<<10 {
		t.Errorf("%d KiB were allocated", n>>10)
	}
}

// TestT40_MatchersAreCountedBeforeTheyAreDecoded: and what is no discovery request is small.
func TestT40_MatchersAreCountedBeforeTheyAreDecoded(t *testing.T) {
	_ = newCodec().Unmarshal(nil, &question{message: new(statusv3.ClientStatusRequest)}) // makes the message's tables
	for name, c := range map[string]struct {
		matchers int
		says     string
	}{
		"1,000":     {1000, "1000 node_matchers, 16 is the limit"},
		"17":        {17, "17 node_matchers, 16 is the limit"},
		"16":        {16, ""},
		"too large": {524_288, "the request has 1048576 bytes, 65536 is the limit"},
	} {
		q := question{message: new(statusv3.ClientStatusRequest)}
		body := mem.BufferSlice{mem.SliceBuffer(bytes.Repeat([]byte{0x0a, 0x00}, c.matchers))}
		n := allocated(func() { _ = newCodec().Unmarshal(body, &q) })
		if c.says == "" && q.err != nil || c.says != "" && (!errors.Is(q.err, fleet.ErrLimit) || !strings.Contains(q.err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, q.err, c.says)
		}
		if n > 64<<10 {
			t.Errorf("%s: %d KiB were allocated", name, n>>10)
		}
	}
	var other statusv3.ClientConfig // of any other method
	if err := newCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(make([]byte, maxQuestion+1))}, &other); !errors.Is(err, fleet.ErrLimit) {
		t.Error(err)
	}
}
