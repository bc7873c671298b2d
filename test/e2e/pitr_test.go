package e2e

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	client "fairlead/clients/go"
	"fairlead/internal/localpg"
	"fairlead/test/world"
)

// archived is a life whose Postgres archives its WAL with pgBackRest.
type archived struct {
	*life
	config string // of pgBackRest
}

func setupArchived(t *testing.T, delta bool) *archived {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgbackrest-")
	world.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	world.Must(t, os.Chmod(dir, 0o777)) //nolint:gosec // Postgres's user writes here
	a := &archived{config: filepath.Join(dir, "pgbackrest.conf")}
	a.life = setupLifeWith(t, delta, map[string]string{"wal_level": "replica", "full_page_writes": "on", "archive_mode": "on", "archive_command": "pgbackrest --config=" + a.config + " --stanza=fairlead archive-push %p"})
	text := sprintf("[global]\nrepo1-path=%[1]s/repo\nlog-path=%[1]s\nlock-path=%[1]s/lock\nspool-path=%[1]s\nstart-fast=y\n[fairlead]\npg1-path=%[2]s\npg1-socket-path=%[3]s\npg1-port=%[4]d\npg1-user=%[5]s\n",
		dir, a.data(), a.pg.SocketDir(), a.pg.Port(), localpg.Superuser)
	world.Must(t, os.WriteFile(a.config, []byte(text), 0o644)) //nolint:gosec // Postgres's user reads it
	return a
}

func (a *archived) data() string { return filepath.Join(a.pg.DataDir(), "data") }

// by runs a page's commands as Postgres's user.
func (a *archived) by(heading, target string) {
	a.T.Helper()
	script := strings.ReplaceAll(commands(a.T, "backup.md", heading), "pgbackrest ", "pgbackrest --config="+a.config+" ")
	cmd := exec.CommandContext(a.T.Context(), "sh", "-euc", script)
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "TARGET="+target)
	if info, err := os.Stat(a.data()); os.Geteuid() == 0 {
		world.Must(a.T, err)
		owner := info.Sys().(*syscall.Stat_t) //nolint:errcheck // it is Linux's
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		a.T.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// restore has Postgres stop, and start with what the commands restored.
func (a *archived) restore(heading, target string) {
	a.T.Helper()
	a.pg.Kill()
	if err := os.Remove(filepath.Join(a.data(), "postmaster.pid")); !errors.Is(err, fs.ErrNotExist) { // else it counts as running
		world.Must(a.T, err)
	}
	a.by(heading, target)
	world.Must(a.T, a.pg.Restart(a.T.Context()))
	world.Eventually(a.T, 4*world.Soon, "the API is not ready", func() bool { code, _ := world.Get(a.API + "/readyz"); return code == http.StatusOK })
}

// writes puts a resource, and again where the API says so: it may find its connections dead one by one.
func (a *archived) writes(r world.Resource) (revision int64) {
	a.T.Helper()
	world.Eventually(a.T, 4*world.Soon, "nothing can be written", func() bool {
		p, err := a.REST.PutResourceWithBodyWithResponse(a.T.Context(), a.Tenant, a.Fleet, client.TypeParam(r.Type), r.Name, nil, "application/yaml", strings.NewReader(r.Document()))
		world.Must(a.T, err)
		switch {
		case p.StatusCode() == http.StatusServiceUnavailable:
			return false
		case p.StatusCode() >= http.StatusMultipleChoices:
			a.T.Fatalf("put %s: %d %s", r.Name, p.StatusCode(), p.Body)
		}
		revision = world.RevisionOf(a.T, p.Body)
		return true
	})
	return revision
}

// now is the database's time.
func (a *archived) now() (text string) {
	a.T.Helper()
	conn, err := pgx.Connect(a.T.Context(), a.url("postgres", localpg.Superuser))
	world.Must(a.T, err)
	defer conn.Close(context.WithoutCancel(a.T.Context())) //nolint:errcheck // nothing is pending
	world.Must(a.T, conn.QueryRow(a.T.Context(), "SELECT clock_timestamp()::text").Scan(&text))
	return text
}

// TestABackupToAPointInTime: Postgres is restored from a base backup and its archived WAL, first with all of that: an Envoy is sent nothing, and receipts stay. Then
// to the moment before an accident: what came after is gone, from the Envoy too, and no receipt claims it.
func TestABackupToAPointInTime(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		a := setupArchived(t, delta)
		a.AwaitDelivered(a.Put(world.Cluster("a", "3s")), 1)
		a.by("Back up with pgBackRest", "")
		ended := a.now()
		good := a.Put(world.Cluster("a", "4s"))
		a.AwaitDelivered(good, 1)
		var before string
		world.Eventually(t, world.Soon, "the second does not end", func() bool { // pgBackRest compares whole ones
			before = a.now()
			return before[:len("2006-01-02 15:04:05")] > ended[:len("2006-01-02 15:04:05")]
		})
		accident := a.Apply(world.Together(world.Cluster("a", "9s"), world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b"))))
		a.AwaitDelivered(accident, 1)

		a.by("Back up with pgBackRest", "") // it waits until all WAL is archived
		n := a.tap.Count()
		a.restore("Restore all that was archived", "")
		a.AwaitACKed(accident, 1)
		a.wantNothing(n, delta)
		a.awaitBody("a")

		a.restore("Restore to a point in time", before)
		if r, err := a.REST.GetReceiptWithResponse(t.Context(), a.Tenant, a.Fleet, accident, nil); err != nil || r.StatusCode() != http.StatusNotFound {
			t.Errorf("the receipt of a revision after that: %v, %s", err, r.Body)
		}
		world.Eventually(t, 4*world.Soon, "the node has something of what came after", func() bool {
			clusters := activeClusters(t, a.envoy)
			return len(clusters) == 1 && clusters["a"] == "4s"
		})
		a.AwaitACKed(good, 1)
		again := a.writes(world.Cluster("a", "5s"))
		if again != good+1 {
			t.Errorf("the next revision is %d, after %d", again, good)
		}
		a.AwaitACKed(again, 1)
		a.awaitBody("a")
	})
}
