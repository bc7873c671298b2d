package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	putters  = 8   // clients, and connections of the bare statements
	putsEach = 50  // of a client, in one round
	putNames = 100 // of all fleets, but 4 of each at least: a round writes all of them
)

// putting is single PUTs, and what is compared with them.
type putting struct {
	*world
	fleets []string
	conns  [putters]*pgx.Conn
	n      atomic.Int64
}

// BenchmarkPuts is single PUTs of clusters over HTTP, by eight clients, and in turn with them bare statements of the same bodies on as many
// connections to the same database, in one fleet and in a hundred: how many of each a second, and how many statements a PUT is worth.
func BenchmarkPuts(b *testing.B) {
	for _, fleets := range []int{1, 100} {
		b.Run(fmt.Sprint(fleets, "Fleets"), func(b *testing.B) {
			p := newPutting(b, fleets)
			var puts, inserts time.Duration
			for b.Loop() {
				inserts += p.round(p.insert)
				puts += p.round(p.put)
			}
			n := float64(b.N * putters * putsEach)
			b.ReportMetric(n/puts.Seconds(), "PUT/s")
			b.ReportMetric(n/inserts.Seconds(), "INSERT/s")
			b.ReportMetric(puts.Seconds()/inserts.Seconds(), "INSERTs/PUT")
		})
	}
}

func newPutting(b *testing.B, fleets int) *putting {
	b.Helper()
	p := &putting{world: setup(b), fleets: []string{"edge"}}
	p.unpaced(putters)
	for len(p.fleets) < fleets {
		p.fleets = append(p.fleets, p.newFleet(p.tenant, fmt.Sprint("f", len(p.fleets))).Name)
	}
	p.db.Exec(b, `CREATE TABLE bare (tenant uuid, fleet text, type text, name text, body bytea, PRIMARY KEY (tenant, fleet, type, name))`)
	for i := range p.conns {
		p.conns[i] = p.db.Connect(b, p.db.Owner)
		b.Cleanup(func() { _ = p.conns[i].Close(context.WithoutCancel(b.Context())) })
	}
	p.round(p.insert) // so that both begin with rows that are there
	p.round(p.put)
	return p
}

// round has every client write, and returns how long all of them took.
func (p *putting) round(write func(client int, fleet, name, body string) error) time.Duration {
	p.t.Helper()
	var all errgroup.Group
	start := time.Now()
	for client := range putters {
		all.Go(func() error {
			for range putsEach {
				n := p.n.Add(1)
				name := fmt.Sprint("c", n/int64(len(p.fleets))%int64(max(4, putNames/len(p.fleets))))
				if err := write(client, p.fleets[n%int64(len(p.fleets))], name, clusterWith(name, fmt.Sprintf("%d.%06ds", n/1_000_000+1, n%1_000_000))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(p.t, all.Wait())
	return time.Since(start)
}

func (p *putting) insert(client int, fleet, name, body string) error {
	_, err := p.conns[client].Exec(p.t.Context(), `INSERT INTO bare (tenant, fleet, type, name, body) VALUES ($1, $2, 'clusters', $3, $4)
		ON CONFLICT (tenant, fleet, type, name) DO UPDATE SET body = excluded.body`, p.tenant.ID.String(), fleet, name, []byte(body))
	return err
}

func (p *putting) put(_ int, fleet, name, body string) error {
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPut, p.url+"/v1/tenants/"+p.tenant.Slug+"/fleets/"+fleet+"/resources/clusters/"+name, strings.NewReader(asDocument(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+p.owner)
	r.Header.Set("Content-Type", "application/json")
	out, err := p.http.Do(r)
	if err != nil {
		return err
	}
	defer out.Body.Close()
	told, err := io.ReadAll(out.Body)
	if err == nil && out.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", out.Status, told)
	}
	return err
}
