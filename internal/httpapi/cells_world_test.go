package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/metrics"
	"fairlead/internal/resource"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
	"fairlead/web"
)

// twoCells is one server of two databases, each with a tenant "acme" that has a fleet "edge".
type twoCells struct {
	cells    *Cells
	registry *metrics.Registry
	eu, us   *world // whose url is the server's
	euLine   *wire  // between the server and eu's database
	usLine   *wire
}

func setupCells(t *testing.T) *twoCells {
	t.Helper()
	logs := &lines{}
	log := slog.New(slog.NewJSONHandler(logs, nil))
	x := &twoCells{registry: metrics.New(metrics.API, metrics.Config{Cells: true})}
	p := NewProcess(x.registry.Requests)
	x.cells = NewCells(p, log, "eu-1", "us-1")
	server := httptest.NewServer(x.cells)
	t.Cleanup(server.Close)
	keys, err := seal.Generate()
	must(t, err)
	cell := func(name string) (*world, *wire) {
		db := storetest.New(t)
		line, near := newWire(t, db.App)
		told := x.registry.Cell(name)
		w := &world{t: t, db: db, nodes: db.NodeStore(t), keys: keys, http: http.DefaultClient, logs: logs, url: server.URL, registry: x.registry}
		w.store = db.Open(t, store.Config{URL: near, AllowUnsafe: true, Metrics: told.Database(metrics.API)})
		sealer, err := seal.NewSealer(keys.Public)
		must(t, err)
		w.api, err = New(Config{
			Store: w.store, Sealer: sealer, Compiler: resource.NewCompiler(resource.Config{VersionKey: keys.Version}),
			Logger: log, Page: web.Handler(), Metrics: told.Requests, Process: p,
		})
		must(t, err)
		x.cells.Open(name, w.api)
		w.tenant = w.newTenant("acme")
		w.fleet = w.newFleet(w.tenant, "edge")
		w.owner = w.token(w.tenant, auth.RoleOwner, nil)
		return w, line
	}
	x.eu, x.euLine = cell("eu-1")
	x.us, x.usLine = cell("us-1")
	return x
}

// whoami asks as whoever has the token.
func (w *world) whoamiOf(token string) answer {
	w.t.Helper()
	return w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+token)
}
