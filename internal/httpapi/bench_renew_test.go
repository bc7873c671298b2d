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

// BenchmarkRenewals is renewals of leases over HTTP by 64 clients of one tenant, each of its own lease, in a fleet that has 10,000: how many a second.
func BenchmarkRenewals(b *testing.B) {
	const clients = 64
	w := setup(b)
	w.unpaced(clients)
	w.db.Exec(b, `INSERT INTO endpoint_leases (tenant_id, fleet_id, id, ttl_ms, expires_at, due_at)
		SELECT f.tenant_id, f.id, gen_random_uuid(), 3600000, now() + interval '1 hour', now() + interval '1 hour' FROM fleets f, generate_series(1, 10000) WHERE f.name = 'edge'`)
	conn := w.db.Connect(b, w.db.Owner)
	rows, err := conn.Query(b.Context(), `SELECT id::text FROM endpoint_leases LIMIT $1`, clients)
	must(b, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(b, err)
	must(b, conn.Close(b.Context()))
	var asked atomic.Int64
	var all errgroup.Group
	b.ResetTimer()
	for _, id := range ids {
		all.Go(func() error {
			for asked.Add(1) <= int64(b.N) {
				if err := w.renews(b.Context(), id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(b, all.Wait())
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "renewals/s")
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
