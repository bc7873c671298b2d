package chaos

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mrand "math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	client "fairlead/clients/go"
	"fairlead/internal/localpg"
	"fairlead/test/world"
)

// smallWAL keeps what a Postgres on a small disk needs small.
var smallWAL = map[string]string{"max_wal_size": "64MB", "min_wal_size": "32MB", "checkpoint_timeout": "30s", "autovacuum": "on"}

// standbyWAL is the same of a standby. It is one that is read from, and nothing is lost with it.
var standbyWAL = map[string]string{"fsync": "off", "max_wal_size": "64MB", "min_wal_size": "32MB", "dynamic_shared_memory_type": "mmap"}

// filled is an installation whose Postgres has a disk of its own.
type filled struct {
	*world.World
	pg     *localpg.Server
	h      *history
	tenant *tenant
	number int64 // of the last write that may be there
	last   int64 // of the last one that was acknowledged
	served sync.WaitGroup
}

// TestAFullDisk: where the disk of Postgres is full, first for tables and then for the WAL, writes are refused in words, and reads, streams and new
// clients go on. When there is room again all goes on by itself, and nothing is lost that was acknowledged.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, 256)
	if d == nil {
		if os.Getenv("FAIRLEAD_SOAK") != "" {
			t.Fatal(noDisk)
		}
		t.Log("not played: " + noDisk)
		return
	}
	w, pg := world.NewAloneAs(t, localpg.Config{DataDir: d.dir, Settings: smallWAL})
	x := w.XDS()
	f := &filled{World: w, pg: pg, h: newHistory(func(node, content) bool { return false }), tenant: &tenant{slug: w.Tenant, apis: []*client.ClientWithResponses{w.REST, w.REST}}}
	ctx, leave := context.WithCancel(t.Context())
	defer func() { leave(); f.served.Wait() }()
	f.join(ctx, "n0", x.Address)
	f.goOn("n0")

	d.fill(t)
	if r := f.untilRefused(); r.StatusCode() != http.StatusServiceUnavailable || codeOf(r.Body) != "database_full" || r.HTTPResponse.Header.Get("Retry-After") == "" {
		t.Fatalf("a write is answered %d %s, Retry-After %q: want database_full", r.StatusCode(), r.Body, r.HTTPResponse.Header.Get("Retry-After"))
	}
	f.reads()
	if code, body := world.Get(w.API + "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "no room on its disk") {
		t.Errorf("/readyz is %d %s", code, body)
	}
	f.await("n0")
	f.join(ctx, "n1", x.Address)
	f.await("n1")
	d.free(t)
	f.goOn("n0", "n1")

	d.fill(t)
	db := w.DB.Connect(t, w.DB.Owner)
	if _, err := db.Exec(t.Context(), `SELECT pg_switch_wal(), pg_logical_emit_message(true, 'chaos', repeat('x', 1000000))`); err == nil {
		t.Fatal("the WAL has room")
	}
	_ = db.Close(t.Context())
	if r := f.untilRefused(); r.StatusCode() != http.StatusServiceUnavailable || r.HTTPResponse.Header.Get("Retry-After") == "" {
		t.Errorf("a write is answered %d %s, Retry-After %q", r.StatusCode(), r.Body, r.HTTPResponse.Header.Get("Retry-After"))
	}
	d.free(t)
	f.goOn("n0", "n1")
	f.reads()
	leave()
	f.served.Wait()
	f.tenant.tell(t, f.h, []*writer{{tenant: w.Tenant, names: []string{"a"}}})
	for _, wrong := range f.h.check() {
		t.Error(wrong)
	}
	t.Log(f.h.summary())
}

// join has a client come, whose stream must not end.
func (f *filled) join(ctx context.Context, id, address string) {
	settled, cancel := context.WithCancel(ctx)
	cancel()
	p := &proxy{node: node{f.Tenant, id}, protocol: "delta", token: f.NodeToken, server: "xds", addresses: []string{address}, roaming: settled, rng: mrand.New(mrand.NewPCG(1, 1)), h: f.h, versions: map[string]string{}} //nolint:gosec // nothing is chosen
	f.h.join(p.node)
	f.served.Go(func() {
		if err := p.delta(ctx, address); ctx.Err() == nil {
			f.T.Errorf("the stream of %s has ended: %v", id, err)
		}
	})
}

// await waits until a client has what was acknowledged last.
func (f *filled) await(id string) {
	f.T.Helper()
	world.Eventually(f.T, hang, fmt.Sprintf("%s does not get number %d", id, f.last), func() bool { return f.h.holds(node{f.Tenant, id})["a"] == f.last })
}

// goOn waits until a write is taken, and clients have it. Postgres is started again if it has ended, which it does where its WAL has no room.
func (f *filled) goOn(ids ...string) {
	f.T.Helper()
	world.Eventually(f.T, hang, "no write is taken", func() bool {
		select {
		case <-f.pg.Done():
			world.Must(f.T, f.pg.Restart(f.T.Context()))
		default:
		}
		return f.write().StatusCode() < http.StatusMultipleChoices
	})
	for _, id := range ids {
		f.await(id)
	}
}

// untilRefused writes until a write is not taken.
func (f *filled) untilRefused() (r *client.PutResourceResponse) {
	f.T.Helper()
	world.Eventually(f.T, hang, "all writes are taken", func() bool {
		r = f.write()
		return r.StatusCode() >= http.StatusMultipleChoices
	})
	return r
}

// write makes one write, of a size that tables have to grow for.
func (f *filled) write() *client.PutResourceResponse {
	f.T.Helper()
	f.number++
	c := content{f.Tenant, "a", f.number}
	b := make([]byte, 50_000)
	_, _ = rand.Read(b)
	doc := fmt.Sprintf("{type: clusters, name: a, body: {name: a, type: STATIC, connect_timeout: 1s, alt_stat_name: %q, metadata: {filter_metadata: {chaos: {x: %q}}}}}", c.mark(), hex.EncodeToString(b))
	message, note := strconv.FormatInt(c.Number, 10), write{content: c, Began: f.h.now(), Outcome: ambiguous}
	r, err := f.REST.PutResourceWithBodyWithResponse(f.T.Context(), f.Tenant, f.Fleet, "clusters", "a", &client.PutResourceParams{Message: &message}, "application/yaml", strings.NewReader(doc))
	world.Must(f.T, err)
	switch {
	case r.StatusCode() < http.StatusMultipleChoices:
		note.Outcome, note.Revision, f.last = acknowledged, world.RevisionOf(f.T, r.Body), c.Number
	case codeOf(r.Body) == "database_full":
		note.Outcome = refused
	}
	f.h.wrote(note)
	return r
}

// reads asks for what there is.
func (f *filled) reads() {
	f.T.Helper()
	got, err := f.REST.GetResourceWithResponse(f.T.Context(), f.Tenant, f.Fleet, "clusters", "a", nil)
	f.Made(got, err)
	receipt, err := f.REST.GetReceiptWithResponse(f.T.Context(), f.Tenant, f.Fleet, f.h.newest(f.Tenant), nil)
	f.Made(receipt, err)
	if !slices.Contains(read(got.Body), content{f.Tenant, "a", f.last}) {
		f.T.Errorf("number %d is not what is read: %.200s", f.last, got.Body)
	}
}
