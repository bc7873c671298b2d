package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/childproc"
)

// PoolerConfig is how a Pooler works.
type PoolerConfig struct {
	Mode       string // "transaction", "session"
	Prepared   int    // max_prepared_statements, of 1.21 and later; 0: leave it out
	Size       int    // connections to Postgres of each role
	Parameters string // ignore_startup_parameters
	LoginRetry int    // server_login_retry, in seconds; 0: PgBouncer's own
}

// Pooler is a PgBouncer in front of a database, until the test ends.
type Pooler struct {
	dir     string
	process childproc.Spec
	running *childproc.Process // not to be read while it is kept
}

const poolerPort = "6432"

// FindPooler returns the program and its version, such as {1, 18}. A machine without
// one fails the test: Debian's package is pgbouncer.
func FindPooler(t testing.TB) (program string, version [2]int) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // not in everybody's PATH
	}
	out, err := exec.CommandContext(t.Context(), program, "--version").Output()
	if err != nil {
		t.Fatalf("a PgBouncer for the test: %v: install the package pgbouncer", err)
	}
	if _, err := fmt.Sscanf(strings.ToLower(string(out)), "pgbouncer %d.%d", &version[0], &version[1]); err != nil {
		t.Fatalf("the version of %s: %q: %v", program, out, err)
	}
	return program, version
}

// NewPooler starts a PgBouncer.
func (db *DB) NewPooler(t testing.TB, c PoolerConfig) *Pooler {
	t.Helper()
	program, _ := FindPooler(t)
	dir, err := os.MkdirTemp("", "pgb") // t.TempDir is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as := db.account(t, dir)
	db.writePooler(t, dir, c)
	var log bytes.Buffer // read after the process has ended
	p := &Pooler{dir: dir, process: childproc.Spec{Path: program, Args: []string{filepath.Join(dir, "ini")}, Stderr: &log, Credential: as, StopSignal: syscall.SIGINT}}
	if p.running, err = childproc.Start(p.process); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.running.Kill()
		if t.Failed() {
			t.Logf("PgBouncer: %s", log.String())
		}
	})
	awaitSocket(t, filepath.Join(dir, ".s.PGSQL."+poolerPort), p.running.Done())
	return p
}

// Keep starts it again whenever it has ended, as systemd does: PgBouncer 1.18 ends with "bad client state" where a
// request to cancel meets a Postgres that goes away.
func (p *Pooler) Keep(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		for range 100 {
			select {
			case <-ctx.Done():
				return
			case <-p.running.Done():
			}
			again, err := childproc.Start(p.process)
			if err != nil {
				t.Errorf("start PgBouncer again: %v", err)
				return
			}
			p.running = again
		}
		t.Error("PgBouncer ends again and again")
	}()
	t.Cleanup(func() { stop(); <-kept })
}

// account is who the pooler runs as, and gets dir: as root it refuses to, so it is the user
// of Postgres's socket, or else nobody.
func (db *DB) account(t testing.TB, dir string) *childproc.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	as := &childproc.Credential{UID: 65534, GID: 65534}
	if info, err := os.Stat(db.config(t).Host); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
			as = &childproc.Credential{UID: st.Uid, GID: st.Gid}
		}
	}
	if err := os.Chown(dir, int(as.UID), int(as.GID)); err != nil {
		t.Fatal(err)
	}
	return as
}

func (db *DB) config(t testing.TB) *pgx.ConnConfig {
	t.Helper()
	c, err := pgx.ParseConfig(db.App)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (db *DB) writePooler(t testing.TB, dir string, c PoolerConfig) {
	t.Helper()
	to := db.config(t)
	ini := fmt.Sprintf(`[databases]
* = host=%s port=%d
[pgbouncer]
pool_mode = %s
listen_addr =
listen_port = %s
unix_socket_dir = %s
auth_type = trust
auth_file = %s/users
default_pool_size = %d
`, to.Host, to.Port, c.Mode, poolerPort, dir, dir, cmp.Or(c.Size, 4))
	if c.Prepared > 0 {
		ini += "max_prepared_statements = " + strconv.Itoa(c.Prepared) + "\n"
	}
	if c.Parameters != "" {
		ini += "ignore_startup_parameters = " + c.Parameters + "\n"
	}
	if c.LoginRetry > 0 {
		ini += "server_login_retry = " + strconv.Itoa(c.LoginRetry) + "\n"
	}
	users := fmt.Sprintf("\"fairlead_app\" %[1]q\n\"fairlead_node\" %[1]q\n", to.Password)
	for name, text := range map[string]string{"ini": ini, "users": users} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // another user reads it
			t.Fatal(err)
		}
	}
}

func awaitSocket(t testing.TB, path string, ended <-chan struct{}) {
	t.Helper()
	tick, limit := time.NewTicker(5*time.Millisecond), time.NewTimer(time.Minute)
	defer tick.Stop()
	defer limit.Stop()
	for err := errors.New("not tried"); err != nil; {
		select {
		case <-tick.C:
		case <-ended:
			t.Fatal("PgBouncer has ended")
		case <-limit.C:
			t.Fatalf("PgBouncer does not listen: %v", err)
		}
		var conn net.Conn
		if conn, err = net.Dial("unix", path); err == nil {
			_ = conn.Close()
		}
	}
}

// URL is another URL's way through the pooler.
func (p *Pooler) URL(t testing.TB, direct string) string {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", p.dir)
	q.Set("port", poolerPort)
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = "", q.Encode()
	return u.String()
}
