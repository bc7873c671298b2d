package xds_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// answersPolls has the door's server answer polls too, until the test ends.
func (d *door) answersPolls() {
	d.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- d.server.ServeREST(ctx) }()
	d.t.Cleanup(func() {
		d.server.Drain()
		cancel()
		if err := <-served; err != nil {
			d.t.Errorf("serve REST: %v", err)
		}
	})
}

// polls begins a poll that waits, over a connection of its own.
func (d *door) polls(node, version string) {
	d.t.Helper()
	body := fmt.Sprintf(`{"node": {"id": %q}, "version_info": %q}`, node, version)
	if _, err := fmt.Fprintf(d.dial("10.0.0.1"), "POST /v3/discovery:clusters?wait=50 HTTP/1.1\r\nHost: fairlead\r\nAuthorization: Bearer *\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		d.t.Fatal(err)
	}
}

// TestAPollThatWaitsHasArrived: as soon as its session is tied to the fleet, and while that waits for the database, it holds up no connection that comes.
func TestAPollThatWaitsHasArrived(t *testing.T) {
	for name, busy := range map[string]bool{"for a change": false, "for the database": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				places, answered := 16*runtime.GOMAXPROCS(0), make(chan struct{})
				var source *xdstest.Source
				d := openDoor(t, func(c *xds.Config) {
					c.Limits.Unauthenticated, c.Limits.UnauthenticatedPerAddress = 3*places, 3*places
					source, _ = c.Source.(*xdstest.Source)
				})
				d.answersPolls()
				source.Publish(cluster("a", "1")...)
				version := xdstest.PollerOf(t, d.server, "first", fleet.Cluster).Want("200 clusters a@1").Version
				if busy {
					source.Busy(answered)
				}
				began := time.Now()
				for i := range 2 * places {
					d.polls(fmt.Sprint("n", i), version)
				}
				r := d.raw("10.0.0.1")
				if code, err := r.End(r.Call(deltaADS, "bad")); code != codes.Unauthenticated {
					t.Errorf("a call ended with %v (%v), want Unauthenticated", code, err)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("a call that came after %d polls had to wait %s", 2*places, took)
				}
				close(answered)
				synctest.Wait()
				if n := source.Streams(); n != 2*places+1 || time.Since(began) != 0 {
					t.Errorf("%d sessions are there after %s, want %d", n, time.Since(began), 2*places+1)
				}
			})
		})
	}
}
