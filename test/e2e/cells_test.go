package e2e

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/internal/seal"
	"fairlead/internal/store/storetest"
	"fairlead/test/world"
)

// celled is an installation of two cells, one server of each kind that knows both, and a tenant of the first with two Envoys, the first of which speaks delta.
type celled struct {
	*installation
	cells   [2]*storetest.DB
	taps    [2]*world.Tap
	proxies [2]string // URLs
}

func setupCells(t *testing.T) *celled {
	t.Helper()
	w := setup(t)
	c := &celled{installation: w, cells: [2]*storetest.DB{w.DB, storetest.New(t)}}
	world.Must(t, w.Server.Stop()) // it was there to make the tenant
	api := w.StartAPI("--listen", world.AnyPort, "--cells-file", c.file("api.yaml", func(db *storetest.DB) string { return db.App }))
	w.API = "http://" + api.Logged("the port is open", "address")
	world.AwaitOK(t, w.API+"/readyz")
	w.REST = w.As(w.Token)
	xds := w.Start("xds", "--listen", world.AnyPort, "--health-listen", world.AnyPort, "--cells-file", c.file("xds.yaml", func(db *storetest.DB) string { return db.Node }),
		"--seal-private-key", w.Path("keys", "xds", seal.PrivateFile), "--drain", "100ms")
	world.AwaitOK(t, "http://"+xds.Logged("the ports are open", "health_address")+"/readyz")

	first, second := world.FreePort(t), world.FreePort(t)
	c.proxies = [2]string{"http://" + first, "http://" + second}
	cert, key := world.Certificate(t)
	w.Apply(world.Together(world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")), secret("server", cert, key)))
	w.Apply(own(first, second))
	for e := range c.taps {
		c.taps[e] = world.NewTap(t, xds.Logged("the ports are open", "address"))
		w.Envoy(nodeOf(e), c.taps[e].Address, e == 0)
		world.Eventually(t, world.Soon, "no answer", func() bool { _, body := world.Get(c.proxies[e]); return body == "a" })
		w.AwaitLive(nodeOf(e))
	}
	return c
}

func nodeOf(e int) string { return "n" + strconv.Itoa(e+1) }

func cellOf(i int) string { return "eu-" + strconv.Itoa(i+1) }

// file names both cells.
func (c *celled) file(name string, url func(*storetest.DB) string) string {
	c.T.Helper()
	text := "cells:\n"
	for i, db := range c.cells {
		text += sprintf("- name: %s\n  database_url: %q\n", cellOf(i), url(db))
	}
	world.Must(c.T, os.WriteFile(c.Path(name), []byte(text), 0o600))
	return c.Path(name)
}

// move moves the tenant, and waits until its Envoys have come back and are known.
func (c *celled) move(from, to int) {
	c.T.Helper()
	owners := c.file("owners.yaml", func(db *storetest.DB) string { return db.Owner })
	var opened [2]int
	for e := range c.taps {
		opened[e] = c.taps[e].Opened()
	}
	c.Run("api", "move-tenant", c.Tenant, "--cells-file", owners, "--from", cellOf(from), "--to", cellOf(to))
	for e := range c.taps {
		world.Eventually(c.T, 6*world.Soon, "an Envoy does not come back", func() bool {
			for _, typ := range []fleet.Type{fleet.Listener, fleet.Cluster, fleet.Route, fleet.Endpoint} {
				if !c.taps[e].Sees(opened[e], typ) {
					return false
				}
			}
			return true
		})
		c.AwaitLive(nodeOf(e))
	}
}

// wantNothing fails if an Envoy was sent something since. A stream in state of the world may begin with one full set of listeners.
func (c *celled) wantNothing(e, since int) {
	c.T.Helper()
	begun := c.taps[e].Since(0)[:since]
	for _, s := range c.taps[e].Since(since) {
		begins := e == 1 && s.Type == fleet.Listener && !slices.ContainsFunc(begun, func(b world.Sent) bool { return b.Stream == s.Stream })
		begun = append(begun, s)
		if !begins && !s.Empty() {
			c.T.Errorf("%s was sent %s, want nothing: it has it", nodeOf(e), s)
		}
	}
}

// cellWriter changes a cluster without a pause, and sends each change again until it is answered.
type cellWriter struct {
	*celled
	wrote []int64 // revisions
	moved int     // answers that asked to come again
	made  atomic.Int64
}

func (w *cellWriter) run(ctx context.Context) {
	for n := 1; ctx.Err() == nil; n++ {
		key := uuid.NewString()
		doc := world.Cluster("a", sprintf("%d.%03ds", 2+n/1000, n%1000)).Document()
		world.Eventually(w.T, 6*world.Soon, "a change is not taken", func() bool {
			r, err := w.REST.PutResourceWithBodyWithResponse(context.WithoutCancel(ctx), w.Tenant, w.Fleet, "clusters", "a", &client.PutResourceParams{IdempotencyKey: &key}, "application/yaml", strings.NewReader(doc))
			switch {
			case err != nil:
				w.T.Errorf("change %d: %v", n, err)
			case r.StatusCode() == http.StatusServiceUnavailable && r.HTTPResponse.Header.Get("Retry-After") != "":
				w.moved++
			case r.StatusCode() >= http.StatusMultipleChoices:
				w.T.Errorf("change %d is answered %d %s", n, r.StatusCode(), r.Body)
			default:
				w.wrote = append(w.wrote, world.RevisionOf(w.T, r.Body))
				w.made.Add(1)
			}
			return err != nil || r.StatusCode() != http.StatusServiceUnavailable
		})
	}
}

// TestATenantMovesBetweenCells: to another cell while nobody writes, and Envoys of both protocols are sent nothing again. Then back, while somebody writes:
// each change is made once, in order, and all receipts go on. No request fails.
func TestATenantMovesBetweenCells(t *testing.T) {
	t.Parallel()
	c := setupCells(t)
	load := startLoads(t, func(n int64) string { return c.proxies[n%2] })
	var before [2]int
	for e := range c.taps {
		before[e] = c.taps[e].Count()
	}
	c.move(0, 1)
	for e := range c.taps {
		c.wantNothing(e, before[e])
	}
	last := c.Put(world.Cluster("a", "1.5s"))
	c.AwaitDelivered(last, 2)

	w := &cellWriter{celled: c}
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() { w.run(ctx) })
	t.Cleanup(func() { stop(); writing.Wait() })
	world.Eventually(t, world.Soon, "nothing is written before the move", func() bool { return w.made.Load() > 5 })
	c.move(1, 0)
	stop()
	writing.Wait()
	if w.moved == 0 {
		t.Error("no change met the move")
	}
	for i, r := range w.wrote {
		if want := last + 1 + int64(i); r != want {
			t.Fatalf("change %d of %d is revision %d, want %d: one was lost, or made twice", i+1, len(w.wrote), r, want)
		}
	}
	last = c.Put(world.Cluster("a", "9s"))
	c.AwaitDelivered(last, 2)
	if done, failed := load.stop(); failed > 0 || done == 0 {
		t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
	}
	t.Logf("%d changes, %d times asked to come again", len(w.wrote), w.moved)
}
