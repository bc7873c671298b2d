package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// feeds starts programs that feed; kill kills them one after the other.
func (s *leased) feeds() (kill func()) {
	s.T.Helper()
	var programs []*world.Program
	for f := range s.size.feeds {
		programs = append(programs, s.feed(f))
	}
	return func() {
		for f, p := range programs {
			<-time.After(s.size.lasts / time.Duration(2*len(programs)))
			s.T.Logf("the endpoints of feed %d were gone %s after its lease had run out, by the database's clock", f, s.kill(p, s.fedCluster(f)))
		}
	}
}

// feed starts a program that keeps endpoints of a cluster of its own, which has another one besides.
func (s *leased) feed(f int) *world.Program {
	s.T.Helper()
	cluster, file := s.fedCluster(f), s.Path(fmt.Sprintf("fed-%d.json", f))
	var list []map[string]string
	for i := range s.size.fed {
		list = append(list, map[string]string{"address": fmt.Sprintf("10.200.%d.%d:80", f, i)})
	}
	text, err := json.Marshal(list)
	world.Must(s.T, err, os.WriteFile(file, text, 0o600))
	set := []client.EndpointPut{{Address: "10.201.0.1:80"}}
	world.Must(s.T, refusedBy(s.api.WriteEndpointsWithResponse(s.T.Context(), s.tenant, s.fleet, cluster, client.EndpointWrite{Set: &set})))
	p := s.Start("fairlead", "discover", "--server", s.API, "--tenant", s.tenant, "--fleet", s.fleet, "--token", s.token,
		"--source", "file", "--file", file, "--cluster", cluster, "--lease", "5s", "--every", "1s")
	world.Eventually(s.T, 2*world.Soon, "the feed's endpoints are not served", func() bool { return s.watch.all(cluster, s.size.fed+1) })
	return p
}

// kill ends a feed, and returns how long after the end of its lease its endpoints were gone, by the database's clock.
func (s *leased) kill(p *world.Program, cluster string) (late time.Duration) {
	s.T.Helper()
	p.Kill()
	conn, err := pgx.Connect(s.T.Context(), s.DB.Owner)
	world.Must(s.T, err)
	defer conn.Close(s.T.Context())
	var ends time.Time
	if !s.size.judged { // so that the small size need not wait for it
		_, err := conn.Exec(s.T.Context(), "UPDATE endpoint_clock SET recovered_at = recovered_at - interval '1 hour'")
		world.Must(s.T, err, conn.QueryRow(s.T.Context(), `UPDATE endpoint_leases SET expires_at = clock_timestamp(), due_at = clock_timestamp()
			WHERE id IN (SELECT lease_id FROM endpoints WHERE cluster = $1) RETURNING expires_at`, cluster).Scan(&ends))
	}
	world.Eventually(s.T, 3*world.Soon, "the endpoints of a feed that was killed stay", func() bool {
		var now time.Time
		var expires *time.Time
		world.Must(s.T, conn.QueryRow(s.T.Context(), `SELECT clock_timestamp(), max(l.expires_at) FROM endpoints e JOIN endpoint_leases l ON l.id = e.lease_id WHERE e.cluster = $1`, cluster).Scan(&now, &expires))
		if expires != nil {
			ends = *expires
			return false
		}
		late = now.Sub(ends)
		return true
	})
	switch {
	case ends.IsZero():
		s.T.Errorf("the endpoints of %s were gone at once", cluster)
	case late < 0, s.size.judged && late > 2*time.Second:
		s.T.Errorf("the endpoints of %s were gone %s after the end of their lease, want within 2 s of it", cluster, late)
	}
	world.Eventually(s.T, world.Soon, "nodes are served what is gone", func() bool { return s.watch.all(cluster, 1) })
	return late
}
