package delivery

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// large is a fleet of nodes that have settled revision 1, all of which is told.
func large(tb testing.TB, nodes int) (f *fleetStatus, streams []*Stream) {
	tb.Helper()
	r, err := New(Config{Server: fleet.NewServerID(), Name: "here", Sink: newSink(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	key := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
	r.Head(key, mark(1), time.Now())
	for i := range nodes {
		s := r.Connect(key, fleet.Node{ID: fmt.Sprint("n", i)}, StreamInfo{Protocol: "delta ADS", Resumed: true})
		s.Settled(1)
		streams = append(streams, s)
	}
	f = r.lock(key)
	defer f.mu.Unlock()
	return f, streams
}

// flushAll flushes until all is told, and returns how many rows of nodes that took.
func flushAll(f *fleetStatus) (rows int) {
	for {
		now := time.Now()
		rep := f.next(now)
		if rep == nil {
			return rows
		}
		rows += len(rep.nodes)
		f.answered(rep, nil, now)
	}
}

// BenchmarkFlush is what two flushes of a fleet of 10,000 nodes cost, one that tells what has
// changed and one that finds that all is told: ns/flush, the rest of ns/op is what the nodes
// themselves say.
func BenchmarkFlush(b *testing.B) {
	const nodes = 10_000
	for _, c := range []struct {
		name   string
		change func(f *fleetStatus, ss []*Stream, i int)
	}{
		{"one changed", func(_ *fleetStatus, ss []*Stream, i int) { ss[i%nodes].View(fmt.Sprint(i)) }},
		{"ten changed", func(_ *fleetStatus, ss []*Stream, i int) {
			for j := range 10 {
				ss[(i*10+j)%nodes].View(fmt.Sprint(i))
			}
		}},
		{"all settle", func(f *fleetStatus, ss []*Stream, i int) {
			rev := fleet.Revision(i + 2)
			f.rec.Head(f.key, mark(rev), time.Now())
			for _, s := range ss {
				s.Settled(rev)
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, ss := large(b, nodes)
			flushAll(f)
			var flushing time.Duration
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				c.change(f, ss, i)
				begun := time.Now()
				flushAll(f)
				flushing += time.Since(begun)
			}
			b.ReportMetric(float64(flushing.Nanoseconds())/float64(b.N), "ns/flush")
		})
	}
}

// BenchmarkComebackInAnOutage: 10,000 nodes that all refuse two resources, of which the sink has not heard, come back.
func BenchmarkComebackInAnOutage(b *testing.B) {
	f, streams := large(b, 10_000)
	flushAll(f)
	refuse(streams)
	for _, s := range streams {
		s.Close(true)
	}
	for b.Loop() {
		for i := range streams {
			f.rec.LastStream(f.key, fmt.Sprint("n", i))
		}
	}
}

// BenchmarkState is what a scrape asks of a server with 10,000 nodes in 1,000 fleets, all of which are behind.
func BenchmarkState(b *testing.B) {
	r, err := New(Config{Server: fleet.NewServerID(), Name: "here", Sink: newSink(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	for range 1000 {
		key := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
		r.Head(key, mark(1), time.Now())
		for i := range 10 {
			r.Connect(key, fleet.Node{ID: fmt.Sprint("n", i)}, StreamInfo{Protocol: "delta ADS", Resumed: true}).Settled(1)
		}
		r.Head(key, mark(2), time.Now())
	}
	b.ReportAllocs()
	for b.Loop() {
		if s := r.State(); len(s.Fleets) != 1000 || s.Fleets[0].Behind != 10 {
			b.Fatalf("%d fleets, %d nodes of the first are behind", len(s.Fleets), s.Fleets[0].Behind)
		}
	}
}
