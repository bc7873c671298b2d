package e2e

import (
	"context"
	"encoding/hex"
	"encoding/pem"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/internal/localpg"
	"fairlead/internal/seal"
	"fairlead/internal/store/storetest"
	"fairlead/test/world"
)

// life is an installation whose Postgres may be lost. Servers find the one that is put in its place where the first one was.
type life struct {
	*routed
	pg      *localpg.Server
	sockets string            // a link to the folder of the present Postgres's socket
	bin     string            // of Postgres
	other   map[string]string // settings of each Postgres
}

// url is of a database of the present Postgres, whichever that is.
func (l *life) url(db, role string) string {
	return "postgres://" + role + "@/" + db + "?host=" + l.sockets
}

// postgres starts one that has nothing, and puts it where the last one was.
func (l *life) postgres(t testing.TB) {
	t.Helper()
	settings := map[string]string{"synchronous_commit": "on"}
	maps.Copy(settings, l.other)
	pg, err := localpg.Start(t.Context(), localpg.Config{Bin: l.bin, Ephemeral: true, Settings: settings})
	world.Must(t, err)
	t.Cleanup(func() { _ = pg.Stop(context.Background()) })
	next := l.sockets + ".next"
	world.Must(t, os.Symlink(pg.SocketDir(), next), os.Rename(next, l.sockets))
	l.pg = pg
}

// commands are the first ones below a heading of a page.
func commands(t testing.TB, page, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(string(world.Read(t, filepath.Join("..", "..", "docs", page))), "\n## "+heading+"\n")
	_, text, begins := strings.Cut(text, "\n```sh\n")
	script, _, ends := strings.Cut(text, "\n```\n")
	if !found || !begins || !ends {
		t.Fatalf("docs/%s has no commands below %q", page, heading)
	}
	return script
}

// documented runs the first commands below a heading of a page, in the folder of the backups.
func (l *life) documented(page, heading string) {
	l.T.Helper()
	script := commands(l.T, page, heading)
	cmd := exec.CommandContext(l.T.Context(), "sh", "-euc", script)
	cmd.Dir = l.Dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(world.Bin("api"))+":"+l.bin+":"+os.Getenv("PATH"),
		"FAIRLEAD_OWNER_DATABASE_URL="+l.url("fairlead", localpg.Superuser), "POSTGRES_URL="+l.url("postgres", localpg.Superuser),
		"FAIRLEAD_URL="+l.API, "OPERATOR_TOKEN="+l.Operator, "FAIRLEAD_TOKEN="+l.Token, "FAIRLEAD_TENANT="+l.Tenant, "FAIRLEAD_FLEET="+l.Fleet)
	if out, err := cmd.CombinedOutput(); err != nil {
		l.T.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// find finds the programs, and a place for the link.
func (l *life) find(t testing.TB) {
	t.Helper()
	dir, err := os.MkdirTemp("", "life-") // a socket's path is short
	world.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l.sockets = filepath.Join(dir, "pg")
	l.bin, err = localpg.Find(t.Context(), localpg.FindConfig{Fetch: true})
	world.Must(t, err)
}

// create creates the database, without a schema.
func (l *life) create(t testing.TB) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), l.url("postgres", localpg.Superuser))
	world.Must(t, err)
	_, err = conn.Exec(t.Context(), "CREATE DATABASE fairlead")
	world.Must(t, err, conn.Close(t.Context()))
}

func setupLife(t testing.TB, delta bool) *life {
	t.Helper()
	return setupLifeWith(t, delta, nil)
}

// setupLifeWith is setupLife with settings of Postgres.
func setupLifeWith(t testing.TB, delta bool, settings map[string]string) *life {
	t.Helper()
	l := &life{other: settings}
	l.find(t)
	l.postgres(t)
	db := &storetest.DB{App: l.url("fairlead", "fairlead_app"), Node: l.url("fairlead", "fairlead_node"), Owner: l.url("fairlead", localpg.Superuser), Name: "fairlead"}
	l.create(t)
	world.Run(t, "api", "migrate", "--database-url", db.Owner)
	l.routed = setupRouted(t, &installation{World: world.NewOn(t, db)}, delta)
	return l
}

// TestServersStartBeforeTheirDatabase: before there is a Postgres, a role, a database and a schema. They wait, and say so.
func TestServersStartBeforeTheirDatabase(t *testing.T) {
	t.Parallel()
	l := &life{routed: &routed{installation: &installation{World: world.Empty(t)}}}
	l.find(t)
	l.MakeKeys()
	api := l.StartAPI("--listen", world.AnyPort, "--database-url", l.url("fairlead", "fairlead_app"))
	xds := l.Start("xds", "--listen", world.AnyPort, "--health-listen", world.AnyPort, "--database-url", l.url("fairlead", "fairlead_node"),
		"--seal-private-key", l.Path("keys", "xds", seal.PrivateFile))
	health := map[*world.Program]string{api: "http://" + api.Logged("the port is open", "address"), xds: "http://" + xds.Logged("the ports are open", "health_address")}
	waits := func(what, reason string) {
		t.Helper()
		for p, url := range health {
			world.Eventually(t, 2*world.Soon, "without "+what+" it does not say why it waits", func() bool {
				return strings.Contains(string(world.Read(t, p.Log)), reason)
			})
			if code, body := world.Get(url + "/readyz"); code != http.StatusServiceUnavailable || !strings.HasPrefix(body, "not ready: ") {
				t.Errorf("without %s /readyz answers %d %q, want 503 and why", what, code, body)
			}
			if code, _ := world.Get(url + "/healthz"); code != http.StatusOK {
				t.Errorf("without %s /healthz answers %d: it would be restarted", what, code)
			}
		}
	}
	waits("a Postgres", "no such file or directory")
	l.postgres(t)
	waits("roles", "does not exist (SQLSTATE 28000)")
	world.Run(t, "api", "migrate", "--roles-only", "--database-url", l.url("postgres", localpg.Superuser))
	waits("a database", "does not exist (SQLSTATE 3D000)")
	l.create(t)
	waits("a schema", "run the migrations")
	world.Run(t, "api", "migrate", "--database-url", l.url("fairlead", localpg.Superuser))
	for _, url := range health {
		world.AwaitOK(t, url+"/readyz")
	}
}

// lose loses the database, and puts a Postgres that has nothing in its place.
func (l *life) lose() {
	l.T.Helper()
	l.pg.Kill()
	world.Must(l.T, l.pg.Stop(context.Background()))
	l.postgres(l.T)
}

// restored is what comes after lose, by the book.
func (l *life) restored() {
	l.T.Helper()
	l.documented("backup.md", "Restore a dump")
	world.Eventually(l.T, 2*world.Soon, "the API does not answer", func() bool { code, _ := world.Get(l.API + "/readyz"); return code == http.StatusOK })
}

// wantNothing fails if something was sent since n. Empty responses say no more than that there is nothing, and a stream in state of the world may begin
// with one full set of listeners, which resets Envoy's backoff (PROTOCOL rule 13).
func (l *life) wantNothing(n int, delta bool) {
	l.T.Helper()
	begun := l.tap.Since(0)[:n]
	for _, s := range l.tap.Since(n) {
		resets := !delta && s.Type == fleet.Listener && !slices.ContainsFunc(begun, func(b world.Sent) bool { return b.Stream == s.Stream })
		begun = append(begun, s)
		if !resets && len(s.Names)+len(s.Content)+len(s.Removed) > 0 {
			l.T.Errorf("the server sent %s, want nothing: the proxy has it", s)
		}
	}
}

// TestABackupBringsAllBack: the database is lost and restored from a dump on a Postgres that has nothing, while an Envoy serves a Secret. Neither the
// servers that went on nor one that starts then send it anything again; a new Envoy gets everything.
func TestABackupBringsAllBack(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		l := setupLife(t, delta)
		address := world.FreePort(t)
		cert, key := world.Certificate(t)
		tls := world.HTTPListener{Name: "tls", Address: address, Routes: world.RDS("r", world.ADS), TLS: presents("server", world.ADS)}
		revision := l.Apply(world.Together(secret("server", cert, key), tls.Resource()))
		l.AwaitDelivered(revision, 1)
		served := func() bool {
			der, err := request(address)
			block, _ := pem.Decode(cert)
			return err == nil && slices.Equal(der, block.Bytes)
		}
		world.Eventually(t, world.Soon, "not served over TLS", served)

		l.documented("backup.md", "Back up with pg_dump")
		if text := l.dumped(); !strings.Contains(text, "fairlead_owner") || strings.Contains(text, hex.EncodeToString(key[40:120])) || strings.Contains(text, string(key[40:120])) {
			t.Error("the dump has the certificate's private key, or is none")
		}
		n := l.tap.Count()
		l.lose()
		l.restored()
		l.AwaitACKed(revision, 1)
		l.wantNothing(n, delta)

		opened := l.tap.Opened()
		l.xds.Kill()
		l.tap.Move(t, l.xdsAgain().Address)
		world.Eventually(t, world.Soon, "Envoy did not come back", func() bool { return l.tap.Opened() > opened && l.tap.Count() > n })
		l.AwaitACKed(revision, 1)
		l.wantNothing(n, delta)
		l.documented("backup.md", "After a restore")

		l.AwaitACKed(l.Put(world.Cluster("a", "2s")), 1)
		world.Must(t, l.envoy.Stop())
		l.Envoy("n2", l.xds.Address, delta)
		l.awaitBody("a")
		world.Eventually(t, world.Soon, "a new Envoy does not serve the Secret", served)
	})
}

// dumped is the text of the dump.
func (l *life) dumped() string {
	l.T.Helper()
	text, err := exec.CommandContext(l.T.Context(), filepath.Join(l.bin, "pg_restore"), "--file=-", l.Path("fairlead.dump")).Output()
	world.Must(l.T, err)
	return string(text)
}

// TestABackupOlderThanWhatNodesHave: revisions that a node has confirmed are lost with the database. Nothing says that it has a revision that
// gets the number of one of them, and once it has that it has nothing of the lost ones.
func TestABackupOlderThanWhatNodesHave(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		for what, goesOn := range map[string]bool{"the server goes on": true, "another server starts": false} {
			if delta == goesOn && !full() { // each with one protocol
				continue
			}
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				l := setupLife(t, delta)
				known := l.Put(world.Cluster("a", "3s"))
				l.AwaitDelivered(known, 1)
				l.documented("backup.md", "Back up with pg_dump")
				l.Apply(world.Together(world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")), world.Listener("l2", world.FreePort(t), "r")))
				lost := l.Put(world.Route("r", "b"))
				l.AwaitDelivered(lost, 1)
				l.awaitBody("b")

				l.tap.Down()
				if !goesOn {
					l.xds.Kill()
				}
				l.lose()
				l.restored()
				if !goesOn {
					l.tap.Move(t, l.xdsAgain().Address)
				}
				if r, err := l.REST.GetReceiptWithResponse(t.Context(), l.Tenant, l.Fleet, lost, nil); err != nil || r.StatusCode() != http.StatusNotFound {
					t.Errorf("the receipt of a lost revision: %v, %s", err, r.Body)
				}
				again := l.Put(world.Cluster("a", "2s"))
				if again != known+1 {
					t.Fatalf("the next revision is %d, after %d", again, known)
				}
				l.Envoy("n2", l.xds.Address, delta)
				l.AwaitLive("n2")
				world.Eventually(t, world.Soon, "it is not told that the new Envoy has the revision", func() bool {
					r := l.Receipt(again)
					if r.Counts.Acked != 0 {
						t.Fatalf("of a node that is away it is told that it has the revision: %s", world.AsJSON(r))
					}
					return r.Counts.Late == 1 && r.Counts.Offline == 1
				})

				l.tap.Up()
				world.Eventually(t, 12*world.Soon, "the node does not come back within the longest time that an Envoy waits to try again", func() bool {
					return l.Receipt(again).Counts.Acked == 1
				})
				l.AwaitACKed(again, 1)
				if r := l.Receipt(known); r.Counts.Acked != 1 {
					t.Errorf("the receipt of a revision that is in the backup: %s", world.AsJSON(r))
				}
				world.Eventually(t, world.Soon, "the node has something of what was lost", func() bool {
					stats, err := l.envoy.Stats(t.Context(), "^listener_manager.total_listeners_active$")
					clusters := activeClusters(t, l.envoy)
					return err == nil && stats["listener_manager.total_listeners_active"] == 1 && len(clusters) == 1 && clusters["a"] == "2s"
				})
			})
		}
	})
}

// TestAFailoverThatLostWhatWasReported: a standby takes over that has the newest revision, and not what nodes have said since. Who refused that revision still
// counts as refusing it, who has come is connected, and who has gone is not, although nothing happens to them any more.
func TestAFailoverThatLostWhatWasReported(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		l := setupLife(t, delta)
		goes := l.Envoy("goes", l.xds.Address, delta)
		l.AwaitLive("goes")
		world.Must(t, l.xds.Signal(syscall.SIGSTOP))
		revision := l.Put(world.Listener("poison", strings.TrimPrefix(l.proxy, "http://"), "r"))
		standby := filepath.Join(l.pg.DataDir(), "standby")
		l.copies(filepath.Join(l.pg.DataDir(), "data"), standby)
		world.Must(t, l.xds.Signal(syscall.SIGCONT), goes.Stop())
		l.AwaitState(revision, "rejected")
		l.Envoy("comes", l.xds.Address, delta)
		known := func() bool { // comes refuses poison
			goes, comes := l.Node("goes"), l.Node("comes")
			return goes != nil && goes.State == client.NodeStateOffline && comes != nil && comes.State != client.NodeStateOffline
		}
		world.Eventually(t, 2*world.Soon, "it is not told who is connected", known)

		l.copies(standby, filepath.Join(l.pg.DataDir(), "data"))
		var last string
		defer func() {
			if t.Failed() {
				t.Log(last)
			}
		}()
		world.Eventually(t, 4*world.Soon, "what was reported is lost", func() bool {
			r, err := l.REST.GetReceiptWithResponse(t.Context(), l.Tenant, l.Fleet, revision, nil)
			if err != nil || r.JSON200 == nil {
				return false
			}
			last = string(r.Body)
			i := slices.IndexFunc(r.JSON200.Nodes, func(n client.ReceiptNode) bool { return n.Id == "n1" && n.State == client.ReceiptNodeStateNacked })
			return i >= 0 && strings.Contains(*r.JSON200.Nodes[i].Detail, "duplicate address") && known()
		})
	})
}

// copies puts a copy of Postgres's data elsewhere, while that is killed.
func (l *life) copies(from, to string) {
	l.T.Helper()
	l.pg.Kill()
	world.Must(l.T, os.RemoveAll(to))
	if out, err := exec.CommandContext(l.T.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		l.T.Fatalf("copy Postgres's data: %v: %s", err, out)
	}
	world.Must(l.T, l.pg.Restart(l.T.Context()))
	world.AwaitOK(l.T, l.API+"/readyz")
}
