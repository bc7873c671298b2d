package replica

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// oneRowFeed answers at once: first everything, then one changed row per revision.
type oneRowFeed struct {
	*feed
	all      []fleet.Row
	variants []fleet.Row         // that never change
	rev      chan fleet.Revision // capacity 1: the present one
}

func (f *oneRowFeed) CatchUp(_ context.Context, known []fleet.Known) ([]fleet.Change, error) {
	rev := <-f.rev
	f.rev <- rev
	k := known[0]
	c := fleet.Change{Key: k.Key, At: fleet.Position{Revision: rev, Token: fleet.Token{1}}, CommittedAt: time.Now()}
	switch k.At {
	case c.At:
		return nil, nil
	case fleet.Position{}:
		c.Reload, c.Rows, c.EpochMoved = true, slices.Concat(f.all, f.variants), true
		f.set(func(x *feed) { c.Credentials = slices.Collect(maps.Values(x.fleets[k.Key].creds)) })
	default:
		c.Rows = []fleet.Row{cluster(fmt.Sprint("cluster-", int(rev)%len(f.all)), fmt.Sprint(rev))}
		c.Rows[0].Revision = rev
	}
	return []fleet.Change{c}, nil
}

func (f *oneRowFeed) Moved(context.Context, []fleet.Known) ([]fleet.Key, error) { return nil, nil }

// BenchmarkChange is one change in a fleet of 10,000 resources with 1,000 streams, from
// the bell until the last stream was told to look again.
func BenchmarkChange(b *testing.B) {
	f := &oneRowFeed{feed: newFeed(), rev: make(chan fleet.Revision, 1)}
	for i := range 10_000 {
		f.all = append(f.all, cluster(fmt.Sprint("cluster-", i), "1"))
	}
	benchmarkChange(b, f, nil)
}

// BenchmarkChangeBesideExceptions is the same where each of the 1,000 nodes refuses something,
// which the change leaves alone: "same" all the same, "own" each something else.
func BenchmarkChangeBesideExceptions(b *testing.B) {
	for _, refused := range []int{0, 1, 100} {
		for _, who := range []string{"same", "own"} {
			b.Run(fmt.Sprint(refused, "/", who), func(b *testing.B) {
				f := &oneRowFeed{feed: newFeed(), rev: make(chan fleet.Revision, 1)}
				for i := range 10_000 {
					f.all = append(f.all, cluster(fmt.Sprint("cluster-", i), "1"))
				}
				own := 1
				if who == "same" {
					own = 0
				}
				benchmarkChange(b, f, func(i int, a *attachment) {
					var r snapshot.Verdict
					for j := range refused { // from the end, where no change comes to
						name := fmt.Sprint("cluster-", 9_999-(i*own+j)%5_000)
						r.Blame = append(r.Blame, snapshot.Exception{Type: fleet.Cluster, Refused: a.Current().Types[fleet.Cluster].Get(name)})
					}
					if refused > 0 {
						a.Refuse(context.Background(), r)
						<-a.Bell()
					}
				})
			})
		}
	}
}

// BenchmarkChangeInManyViews is the same where each of the 1,000 nodes has a variant of its
// own of one of the resources.
func BenchmarkChangeInManyViews(b *testing.B) {
	f := &oneRowFeed{feed: newFeed(), rev: make(chan fleet.Revision, 1)}
	for i := range 10_000 {
		f.all = append(f.all, cluster(fmt.Sprint("cluster-", i), "1"))
	}
	for i := range 1000 {
		f.variants = append(f.variants, variant("own", fmt.Sprint("of-", i), fmt.Sprint(i), fmt.Sprint("node.id=node-", i), 0))
	}
	benchmarkChange(b, f, nil)
}

func benchmarkChange(b *testing.B, f *oneRowFeed, before func(i int, a *attachment)) {
	b.Helper()
	rev := fleet.Revision(1)
	f.rev <- rev
	w := setupFeed(b, f, f.feed)
	key, id, _ := w.newFleet()
	as := make([]*attachment, 1000)
	for i := range as {
		as[i] = w.attachWhenRunning(id, fmt.Sprint("node-", i))
		if before != nil {
			before(i, as[i])
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		<-f.rev
		rev++
		f.rev <- rev
		w.Wake(key.Fleet, false)
		for _, a := range as {
			<-a.Bell()
		}
	}
	if got := as[0].Current().Revision; got != rev {
		b.Errorf("revision %d of %d", got, rev)
	}
}

// BenchmarkCurrent is what every stream does when it looks.
func BenchmarkCurrent(b *testing.B) {
	w := setup(b)
	_, id, _ := w.newFleet(cluster("c", "1"))
	a := w.attachWhenRunning(id, "a")
	for b.Loop() {
		if a.Current() == nil {
			b.Fatal("no target")
		}
	}
}
