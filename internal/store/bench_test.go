package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// filler makes a body of about the size of a small cluster.
var filler = strings.Repeat("x", 400)

// benchWorld is a fleet with n clusters.
func benchWorld(b *testing.B, n int) (*storetest.DB, *store.Store, fleet.Key) {
	b.Helper()
	db := storetest.New(b)
	s := db.Store(b)
	k := fleet.Key{Tenant: db.Tenant(b)}
	k.Fleet = db.Fleet(b, k.Tenant)
	for i := 0; i < n; i += 1000 {
		var cs []store.ResourceChange
		for j := range min(1000, n-i) {
			cs = append(cs, put(fleet.Cluster, fmt.Sprintf("c%06d", i+j), fmt.Sprint(i+j, filler)))
		}
		if _, err := s.Apply(b.Context(), k.Tenant, k.Fleet, store.Write{Changes: cs}); err != nil {
			b.Fatal(err)
		}
	}
	db.Exec(b, `ANALYZE`)
	return db, s, k
}

func BenchmarkApply(b *testing.B) {
	for _, size := range []int{1, 100} {
		for _, have := range []int{0, 10_000} {
			b.Run(fmt.Sprintf("%dOf%d", size, have), func(b *testing.B) {
				_, s, k := benchWorld(b, have)
				round := 0
				for b.Loop() {
					round++
					var cs []store.ResourceChange
					for j := range size {
						cs = append(cs, put(fleet.Cluster, fmt.Sprintf("c%06d", j), fmt.Sprint(round, j, filler)))
					}
					if _, err := s.Apply(b.Context(), k.Tenant, k.Fleet, store.Write{Actor: actor, Changes: cs}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkCatchUp(b *testing.B) {
	const have = 10_000
	db, s, k := benchWorld(b, have)
	node := db.NodeStore(b)
	load := func(at fleet.Position) []fleet.Change {
		cs, err := node.CatchUp(b.Context(), []fleet.Known{{Key: k, At: at}})
		if err != nil {
			b.Fatal(err)
		}
		return cs
	}
	before := load(fleet.Position{})[0].At
	if _, err := s.Apply(b.Context(), k.Tenant, k.Fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "c000001", "new")}}); err != nil {
		b.Fatal(err)
	}
	now := load(before)[0].At
	b.Run("Nothing", func(b *testing.B) {
		for b.Loop() {
			if cs := load(now); len(cs) != 0 {
				b.Fatal("moved")
			}
		}
	})
	b.Run("OneChange", func(b *testing.B) {
		for b.Loop() {
			if cs := load(before); len(cs[0].Rows) != 1 {
				b.Fatal(len(cs[0].Rows))
			}
		}
	})
	b.Run("Reload10000", func(b *testing.B) {
		for b.Loop() {
			if cs := load(fleet.Position{}); len(cs[0].Rows) != have {
				b.Fatal(len(cs[0].Rows))
			}
		}
	})
}

func BenchmarkMoved1000Fleets(b *testing.B) {
	db, _, k := benchWorld(b, 1)
	db.Exec(b, `INSERT INTO fleets (tenant_id, id, name) SELECT $1, gen_random_uuid(), 'f' || g FROM generate_series(1, 1000) g`, k.Tenant.String())
	db.Exec(b, `INSERT INTO fleet_heads (tenant_id, fleet_id) SELECT tenant_id, id FROM fleets ON CONFLICT DO NOTHING`)
	conn := db.Connect(b, db.Owner)
	defer conn.Close(b.Context()) //nolint:errcheck // only read from
	rows, err := conn.Query(b.Context(), `SELECT tenant_id, fleet_id, revision, token, epoch FROM fleet_heads`)
	if err != nil {
		b.Fatal(err)
	}
	var known []fleet.Known
	for rows.Next() {
		var n fleet.Known
		if err := rows.Scan((*[16]byte)(&n.Key.Tenant), (*[16]byte)(&n.Key.Fleet), (*int64)(&n.At.Revision), (*[16]byte)(&n.At.Token), &n.At.Epoch); err != nil {
			b.Fatal(err)
		}
		known = append(known, n)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	node := db.NodeStore(b)
	for b.Loop() {
		if moved, err := node.Moved(b.Context(), known); err != nil || len(moved) != 0 {
			b.Fatal(len(moved), err)
		}
	}
}

// BenchmarkLastStreams asks for nodes out of 5,000, alone and with others.
func BenchmarkLastStreams(b *testing.B) {
	const have = 5_000
	db, _, k := benchWorld(b, 1)
	node, server := db.NodeStore(b), fleet.NewServerID()
	term, err := node.Lease(b.Context(), server, "s", time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	asked := make([]fleet.AskedNode, have)
	for from := 0; from < have; from += 500 {
		st := fleet.Status{Key: k, Server: server, Term: term, Settled: 1}
		for i := range 500 {
			asked[from+i].Node = fmt.Sprint("n", from+i)
			st.Nodes = append(st.Nodes, fleet.NodeStatus{Node: asked[from+i].Node, Settled: settled(1), Clean: true, Since: time.Now()})
		}
		if err := node.Report(b.Context(), st); err != nil {
			b.Fatal(err)
		}
	}
	for _, size := range []int{1, 200} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			at := 0
			for b.Loop() {
				if all, err := node.LastStreams(b.Context(), k, asked[at:at+size]); err != nil || len(all) != size || !all[0].Clean {
					b.Fatal(len(all), err)
				}
				at = (at + size) % have
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*size), "µs/node")
		})
	}
}

// BenchmarkOneFleetManyWriters is what one process writes to one fleet.
func BenchmarkOneFleetManyWriters(b *testing.B) {
	_, s, k := benchWorld(b, 0)
	var at atomic.Int64
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := at.Add(1)
			c := put(fleet.Cluster, fmt.Sprint("c", n%100), fmt.Sprint(n, filler))
			if _, err := s.Apply(b.Context(), k.Tenant, k.Fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{c}}); err != nil {
				b.Error(err)
			}
		}
	})
}
