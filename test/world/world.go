package world

import (
	"path/filepath"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/internal/localpg"
	"fairlead/internal/seal"
	"fairlead/internal/store/storetest"
)

// World is an installation: a database, an API server and xDS servers as processes. One
// goroutine uses it.
type World struct {
	T        testing.TB   // of the present step
	Whole    testing.TB   // of the test: what it starts outlives the step
	Under    []string     // a command and its arguments under which programs are started, as nice(1) is; none if empty
	Dir      string       // the test's own
	Programs string       // the folder of the programs that are started; that of this tree's if empty
	Late     []fleet.Type // of which an Envoy may wait for something until its timeout
	DB       *storetest.DB

	API    string                      // base URL
	Server *Program                    // the API server; nil in an empty world
	REST   *client.ClientWithResponses // as an admin of the tenant
	// Tenant and Fleet are the slug and the name of those that the methods are about.
	Tenant, Fleet string

	Operator, Token, NodeToken string // of the operator, the tenant's admin, the fleet's nodes
}

// New starts an API server on a database of its own and makes the tenant "acme" with the
// fleet "edge".
func New(t testing.TB) *World {
	t.Helper()
	return newOn(t, storetest.New(t), "")
}

// NewAlone is New with a Postgres of its own, for tests that kill or set it.
func NewAlone(t testing.TB) (*World, *localpg.Server) {
	t.Helper()
	db, pg := storetest.Alone(t)
	return newOn(t, db, ""), pg
}

// NewAloneAs is NewAlone with a Postgres of this kind.
func NewAloneAs(t testing.TB, c localpg.Config) (*World, *localpg.Server) {
	t.Helper()
	db, pg := storetest.AloneAs(t, c)
	return newOn(t, db, ""), pg
}

// NewOn is New on a database that is there and has been migrated.
func NewOn(t testing.TB, db *storetest.DB) *World {
	t.Helper()
	return newOn(t, db, "")
}

// NewOf is NewOn with the programs of a folder.
func NewOf(t testing.TB, db *storetest.DB, programs string) *World {
	t.Helper()
	return newOn(t, db, programs)
}

// Empty is a world in which nothing runs.
func Empty(t testing.TB) *World {
	t.Helper()
	return &World{T: t, Whole: t, Dir: t.TempDir()}
}

func newOn(t testing.TB, db *storetest.DB, programs string) *World {
	t.Helper()
	w := Empty(t)
	w.Programs = programs
	w.DB, w.Tenant, w.Fleet = db, "acme", "edge"
	w.MakeKeys()
	w.Run("api", "bootstrap-token", "--database-url", db.App, "--out", w.Path("operator"))
	w.Operator = strings.TrimSpace(string(Read(t, w.Path("operator"))))
	w.Server = w.StartAPI("--listen", AnyPort, "--database-url", db.App)
	w.API = "http://" + w.Server.Logged("the port is open", "address")
	AwaitOK(t, w.API+"/readyz")

	op := w.As(w.Operator)
	tenant, err := op.CreateTenantWithResponse(t.Context(), client.TenantCreate{Slug: w.Tenant})
	w.Made(tenant, err)
	token, err := op.CreateTokenWithResponse(t.Context(), w.Tenant, client.TokenCreate{Name: "test", Role: client.Admin})
	w.Made(token, err)
	w.Token = token.JSON201.Token
	w.REST = w.As(w.Token)
	f, err := w.REST.CreateFleetWithResponse(t.Context(), w.Tenant, client.FleetCreate{Name: w.Fleet})
	w.Made(f, err)
	w.NodeToken, _ = w.Credential()
	return w
}

// Step is one part of a scenario: what follows needs what it leaves behind.
func (w *World) Step(name string, do func()) {
	w.T.Helper()
	defer func() { w.T = w.Whole }()
	if !w.Whole.(*testing.T).Run(name, func(t *testing.T) { w.T = t; do() }) {
		w.Whole.FailNow()
	}
}

// Path is of a file in the test's own folder.
func (w *World) Path(parts ...string) string {
	return filepath.Join(append([]string{w.Dir}, parts...)...)
}

// MakeKeys makes the keys that both servers need.
func (w *World) MakeKeys() {
	w.T.Helper()
	w.Run("api", "keys", "--api-dir", w.Path("keys", "api"), "--xds-dir", w.Path("keys", "xds"))
}

// StartAPI starts an API server.
func (w *World) StartAPI(args ...string) *Program {
	w.T.Helper()
	return w.Start("api", append([]string{"serve", "--health-listen", AnyPort, "--seal-public-key", w.Path("keys", "api", seal.PublicFile), "--version-key", w.Path("keys", "api", seal.VersionFile)}, args...)...)
}

// XDS is an xDS server that runs.
type XDS struct {
	*Program
	Address string
}

// XDS starts an xDS server.
func (w *World) XDS(args ...string) *XDS {
	w.T.Helper()
	p := w.Start("xds", append([]string{"--listen", AnyPort, "--health-listen", AnyPort, "--database-url", w.DB.Node,
		"--seal-private-key", w.Path("keys", "xds", seal.PrivateFile), "--drain", "100ms"}, args...)...)
	AwaitOK(w.T, "http://"+p.Logged("the ports are open", "health_address")+"/readyz")
	return &XDS{p, p.Logged("the ports are open", "address")}
}
