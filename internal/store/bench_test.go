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

// BenchmarkEndpointWrite is one change of an endpoint in a fleet of 10,000 clusters, of a name that one of them asks for and of one that none does.
func BenchmarkEndpointWrite(b *testing.B) {
	_, s, k := benchWorld(b, 10_000)
	asks := put(fleet.Cluster, "asked", "asked")
	asks.Derived = fleet.Derived{EDSName: "asked", Refs: []fleet.Ref{{Type: fleet.Endpoint, Name: "asked"}}}
	if _, err := s.Apply(b.Context(), k.Tenant, k.Fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{asks}}); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"asked", "unasked"} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				e := store.Endpoint{Address: "10.0.0.1:80", Weight: n%1000 + 1, Health: store.Healthy}
				r, err := s.WriteEndpoints(b.Context(), k.Tenant, k.Fleet, store.EndpointWrite{Actor: actor, Cluster: name, Set: []store.Endpoint{e}})
				if err != nil || r.Unasked != (name == "unasked") {
					b.Fatal(r, err)
				}
			}
		})
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

// BenchmarkCountFleets is a page of fleets with counts, of a thousand nodes each: some refuse something, some are behind.
func BenchmarkCountFleets(b *testing.B) {
	for _, nodes := range []int{10, 1000} {
		b.Run(fmt.Sprintf("100FleetsOf%dNodes", nodes), func(b *testing.B) {
			db := storetest.New(b)
			s := db.Store(b)
			tenant := db.Tenant(b)
			fs := make([]store.Fleet, 100)
			for i := range fs {
				fs[i] = store.Fleet{ID: db.Fleet(b, tenant), Revision: 1}
				id := fs[i].ID.String()
				db.Exec(b, `INSERT INTO fleet_history SELECT $1, $2, 1, gen_random_uuid(), now(), 'apply', '', '', NULL, 1`, tenant.String(), id)
				db.Exec(b, `INSERT INTO nack_texts VALUES ($1, $2, sha256('no'), 'no')`, tenant.String(), id)
				db.Exec(b, `INSERT INTO xds_servers (server_id, lease_until) VALUES ($1, now() + interval '1 day')`, id)
				db.Exec(b, `WITH n AS (
					INSERT INTO nodes (tenant_id, fleet_id, node_id, first_seen) SELECT $1, $2, 'n' || to_char(g, 'FM000000'), now() - interval '1 day' FROM generate_series(1, $3::int) g RETURNING *),
				  s AS (
					INSERT INTO node_status (tenant_id, fleet_id, node_id, server_id, connected, settled, since)
					SELECT tenant_id, fleet_id, node_id, fleet_id, true, CASE WHEN right(node_id, 6)::int % 10 = 0 THEN 0 END, now() FROM n)
				  INSERT INTO refusals (tenant_id, fleet_id, node_id, type, name, version, revision, text_hash)
				  SELECT tenant_id, fleet_id, node_id, 'clusters', 'c1', 'v', 1, sha256('no') FROM n WHERE right(node_id, 6)::int % 10 = 0`, tenant.String(), id, nodes)
			}
			db.Exec(b, `ANALYZE`)
			for b.Loop() {
				counts, err := s.CountFleets(b.Context(), tenant, fs)
				if err != nil || counts[fs[99].ID].Refusing != int64(nodes/10) || counts[fs[99].ID].Receipt == "" {
					b.Fatalf("%+v, %v", counts[fs[99].ID], err)
				}
			}
		})
	}
}
