package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// reported is what the reports about the world's fleet take in the database, by its own
// measure: the bytes of the columns.
func (w *world) reported() (events, refusals, words int) {
	w.Helper()
	return w.count(`SELECT coalesce(sum(pg_column_size(e.*)), 0) FROM node_events e`), w.count(`SELECT coalesce(sum(pg_column_size(e.*)), 0) FROM refusals e`),
		w.count(`SELECT coalesce(sum(octet_length(text)), 0) FROM nack_texts`)
}

// T09, T14: a node that refuses with fresh words of 4 KiB, and under fresh names, does not
// fill the database: the oldest go, it is told, and a neighbour's stay.
func TestT09_ANodeThatRefusesForEver(t *testing.T) {
	w := setup(t)
	w.limit(store.LimitEventBytes, 100_000)
	w.limit(store.LimitRefusalBytes, 100_000)
	neighbour := fleet.Key{Tenant: w.tenant, Fleet: w.db.Fleet(t, w.tenant)}
	s := w.server("s")
	w.ok(w.node.Report(t.Context(), fleet.Status{Key: neighbour, Server: s.id, Term: s.term, Refusals: []fleet.Refusal{{Node: "n", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1, Detail: "neighbour"}}}))
	const rounds, each = 30, 100
	start := time.Now().Add(-time.Hour)
	for round := range rounds { // 12 MiB of words
		var xs []fleet.Refusal
		for i := range each {
			n := round*each + i
			x := fleet.Refusal{Node: "evil", Type: fleet.Cluster, Name: fmt.Sprint("c", n), Version: "v", Revision: 1, At: start.Add(time.Duration(n) * time.Second),
				Detail: fmt.Sprintf("%0*d%s", 10, n, strings.Repeat("x", 4080))}
			if n%2 == 0 {
				x.Name = "one" // under the same name, with other words
			}
			xs = append(xs, x)
		}
		s.report(fleet.Status{Refusals: xs[:each/2]})
		s.report(fleet.Status{Refusals: xs[each/2:]})
		events, refusals, words := w.reported()
		if most := 2<<20 + 700_000; events > most || refusals > most || words > 2*most {
			t.Fatalf("after %d refusals: %d bytes of events, %d of refusals, %d of words", (round+1)*each, events, refusals, words)
		}
	}
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{}))
	u, err := w.app.FleetUsage(t.Context(), w.tenant, w.fleet)
	w.ok(err)
	if u.EventBytes > 100_000 || u.EventBytes < 90_000 || u.RefusalBytes > 100_000 || u.RefusalBytes < 90_000 {
		t.Errorf("%d bytes of events and %d of refusals are kept", u.EventBytes, u.RefusalBytes)
	}
	if _, _, words := w.reported(); words > 200_000 {
		t.Errorf("%d bytes of words are kept", words)
	}
	if n := w.count(`SELECT count(*) FROM refusals WHERE name = $1`, fmt.Sprint("c", rounds*each-1)); n != 1 {
		t.Error("the newest refusal is gone")
	}
	told := w.events("")
	if len(told) == 0 || !strings.HasPrefix(told[0], "dropped") || !strings.HasSuffix(told[0], "were dropped") || strings.Count(strings.Join(told, "\n"), "dropped ") > 2 {
		t.Errorf("the drop is told as %.300q", told)
	}
	if u, err := w.app.FleetUsage(t.Context(), neighbour.Tenant, neighbour.Fleet); err != nil || u.EventBytes == 0 || u.RefusalBytes == 0 {
		t.Errorf("of the neighbour is left %+v, %v", u, err)
	}
}

// What is over goes before what still holds, however old that is.
func TestT09_OpenRefusalsGoLast(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	long := strings.Repeat("x", 4000)
	var xs []fleet.Refusal
	var over []fleet.Refusal
	for i := range 20 {
		x := fleet.Refusal{Node: "n", Type: fleet.Cluster, Name: fmt.Sprint("c", i), Version: "v", Revision: 1, Detail: fmt.Sprint(i, long), At: time.Now().Add(time.Duration(i-100) * time.Minute)}
		if xs = append(xs, x); i >= 5 {
			over = append(over, fleet.Refusal{Node: "n", Type: fleet.Cluster, Name: x.Name, Version: "v", By: 2})
		}
	}
	s.report(fleet.Status{Refusals: xs})
	s.report(fleet.Status{Resolved: over})
	w.limit(store.LimitRefusalBytes, 5*5000)
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{}))
	if open, all := w.count(`SELECT count(*) FROM refusals WHERE resolved_at IS NULL`), w.count(`SELECT count(*) FROM refusals`); open != 5 || all != 5 {
		t.Errorf("%d are kept, %d that are open", all, open)
	}
}

// What a fleet costs that is at its limits of events and refusals: 10,000 and 125,000 rows.
func BenchmarkReportsAtTheirLimit(b *testing.B) {
	db, s, k := benchWorld(b, 1)
	t, f := k.Tenant.String(), k.Fleet.String()
	db.Exec(b, `INSERT INTO nodes (tenant_id, fleet_id, node_id) SELECT $1, $2, 'n' || g FROM generate_series(1, 1000) g`, t, f)
	db.Exec(b, `INSERT INTO nack_texts SELECT $1, $2, sha256(g::text::bytea), 'text' || g FROM generate_series(1, 1000) g`, t, f)
	db.Exec(b, `ALTER TABLE refusals DISABLE TRIGGER USER`)
	db.Exec(b, `INSERT INTO refusals (tenant_id, fleet_id, node_id, type, name, version, revision, text_hash)
		SELECT $1, $2, 'n' || (1 + g % 1000), 'clusters', 'c' || g, 'v', 1, sha256((1 + g % 1000)::text::bytea) FROM generate_series(1, 125000) g`, t, f)
	db.Exec(b, `INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id, text_hash)
		SELECT $1, $2, now() - g * interval '1 s', 'refused', 'n', sha256((1 + g % 1000)::text::bytea) FROM generate_series(1, 10000) g`, t, f)
	b.Run("Usage", func(b *testing.B) {
		for b.Loop() {
			if u, err := s.FleetUsage(b.Context(), k.Tenant, k.Fleet); err != nil || u.RefusalBytes < 60<<20 {
				b.Fatal(u, err)
			}
		}
	})
	b.Run("Trim", func(b *testing.B) {
		conn := db.Connect(b, db.App)
		defer conn.Close(context.Background()) //nolint:errcheck // only measured
		for b.Loop() {
			tx, err := conn.Begin(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			for _, sql := range []string{`SELECT set_config('app.tenant_id', '` + t + `', true), set_config('enable_seqscan', 'off', true)`, `SELECT fleet_trim_reports('` + f + `')`} {
				if _, err := tx.Exec(b.Context(), sql); err != nil {
					b.Fatal(err)
				}
			}
			if err := tx.Rollback(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
