package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// BenchmarkRenewals is renewals of leases over HTTP by fifty clients, in a fleet that has 10,000 leases: how many a second.
func BenchmarkRenewals(b *testing.B) {
	const clients, each = 50, 40
	w := setup(b)
	w.unpaced(clients)
	w.db.Exec(b, `INSERT INTO endpoint_leases (tenant_id, fleet_id, id, ttl_ms, expires_at, due_at)
		SELECT f.tenant_id, f.id, gen_random_uuid(), 3600000, now() + interval '1 hour', now() + interval '1 hour' FROM fleets f, generate_series(1, 10000) WHERE f.name = 'edge'`)
	conn := w.db.Connect(b, w.db.Owner)
	rows, err := conn.Query(b.Context(), `SELECT id::text FROM endpoint_leases`)
	must(b, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(b, err)
	must(b, conn.Close(b.Context()))
	var n atomic.Int64
	for b.Loop() {
		var all errgroup.Group
		for range clients {
			all.Go(func() error {
				for range each {
					if err := w.renews(b.Context(), ids[int(n.Add(1))%len(ids)]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		must(b, all.Wait())
	}
	b.ReportMetric(float64(n.Load())/b.Elapsed().Seconds(), "renewals/s")
}

func (w *world) renews(ctx context.Context, lease string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+w.at("leases", lease), http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+w.owner)
	out, err := w.http.Do(r)
	if err != nil {
		return err
	}
	defer out.Body.Close()
	told, err := io.ReadAll(out.Body)
	if err == nil && out.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", out.Status, told)
	}
	return err
}
