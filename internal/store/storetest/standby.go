package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/localpg"
)

// Pair is a primary with a hot standby, each a Postgres of the test's own, until it ends.
type Pair struct {
	*DB              // of the primary
	Read      string // URL of the standby, of the role node
	Primary   *localpg.Server
	Standby   *localpg.Server
	onStandby string // URL of the standby, of the superuser

	primaryLog, standbyLog *log
}

// Sends are the settings of a primary whose standbys come back after they were away.
var Sends = map[string]string{"wal_level": "replica", "max_wal_senders": "4", "wal_keep_size": "256MB"}

// quick are the settings of a pair.
var quick = map[string]string{"fsync": "off", "synchronous_commit": "on", "full_page_writes": "off", "log_statement": "all", "dynamic_shared_memory_type": "mmap"}

// NewPair returns a migrated database with a standby that follows it.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	p := &Pair{primaryLog: &log{}, standbyLog: &log{}}
	sends := maps.Clone(quick)
	maps.Copy(sends, Sends)
	var err error
	p.Primary, err = localpg.Start(t.Context(), localpg.Config{Bin: programs(t), Ephemeral: true, Settings: sends, Log: p.primaryLog})
	if err != nil {
		t.Fatalf("a primary for the test: %v", err)
	}
	ends(t, p.Primary)
	if err := prepare(t.Context(), p.Primary); err != nil {
		t.Fatal(err)
	}
	p.DB = onServer(p.Primary, template())
	p.Standby = Follow(t, p.Primary, quick, p.standbyLog)
	p.Read, p.onStandby = p.Standby.URL(p.Name, "fairlead_node"), p.Standby.URL(p.Name, localpg.Superuser)
	return p
}

func programs(t testing.TB) string {
	t.Helper()
	bin, err := localpg.Find(t.Context(), localpg.FindConfig{Fetch: true})
	if err != nil {
		t.Fatalf("a Postgres for the test: %v", err)
	}
	return bin
}

// Follow returns a hot standby of a Postgres with the settings Sends, until the test ends. The primary is killed for it, and started again.
func Follow(t testing.TB, primary *localpg.Server, settings map[string]string, log io.Writer) *localpg.Server {
	t.Helper()
	data, err := os.MkdirTemp("", "standby-") // t.TempDir is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	connections := maxConnections(t, primary)
	copyTo(t, primary, data)
	follows := maps.Clone(settings)
	maps.Copy(follows, map[string]string{
		"primary_conninfo":             fmt.Sprintf("host=%s port=%d user=%s", primary.SocketDir(), primary.Port(), localpg.Superuser),
		"wal_retrieve_retry_interval":  "100ms",
		"hot_standby":                  "on",
		"recovery_target_timeline":     "latest",
		"max_standby_streaming_delay":  "0",
		"wal_receiver_status_interval": "1s",
	})
	standby, err := localpg.Start(t.Context(), localpg.Config{Bin: programs(t), DataDir: data, Settings: follows, Log: log, MaxConnections: connections})
	if err != nil {
		t.Fatalf("a standby for the test: %v", err)
	}
	ends(t, standby)
	return standby
}

// maxConnections is the most connections of a Postgres. A standby has to allow as many.
func maxConnections(t testing.TB, s *localpg.Server) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL("postgres", localpg.Superuser))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is pending
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('max_connections')::int").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func ends(t testing.TB, s *localpg.Server) {
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// copyTo puts the primary's data in the folder of a standby, while it is killed.
func copyTo(t testing.TB, primary *localpg.Server, to string) {
	t.Helper()
	if err := os.Chmod(to, 0o711); err != nil { //nolint:gosec // Postgres's user passes
		t.Fatal(err)
	}
	if err := admin(t.Context(), primary, "CHECKPOINT"); err != nil {
		t.Fatal(err)
	}
	primary.Kill()
	data := filepath.Join(to, "data")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", filepath.Join(primary.DataDir(), "data"), data).CombinedOutput(); err != nil {
		t.Fatalf("copy the data: %v: %s", err, out)
	}
	if err := os.Remove(filepath.Join(data, "postmaster.pid")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644); err != nil { //nolint:gosec // another user reads it
		t.Fatal(err)
	}
	if err := primary.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// OnStandby runs a statement on the standby, as the superuser.
func (p *Pair) OnStandby(t testing.TB, sql string) {
	t.Helper()
	conn := p.Connect(t, p.onStandby)
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is pending
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Promoted is the standby as a primary of its own, which it is from then on.
func (p *Pair) Promoted(t testing.TB) *DB {
	t.Helper()
	p.OnStandby(t, "SELECT pg_promote()")
	return onServer(p.Standby, p.Name)
}

// Asked is how many statements with these words were begun on each until now.
func (p *Pair) Asked(t testing.TB, words string) (primary, standby int) {
	t.Helper()
	return p.primaryLog.count(t, p.Connect(t, p.Owner), words), p.standbyLog.count(t, p.Connect(t, p.onStandby), words)
}

// log keeps what a Postgres has written.
type log struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write is io.Writer's.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) of(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// count waits until all that was begun before has been written.
func (l *log) count(t testing.TB, conn *pgx.Conn, words string) int {
	t.Helper()
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is pending
	mark := rand.Text()
	if _, err := conn.Exec(t.Context(), "SELECT '"+mark+"'"); err != nil {
		t.Fatal(err)
	}
	tick, limit := time.NewTicker(5*time.Millisecond), time.NewTimer(time.Minute)
	defer tick.Stop()
	defer limit.Stop()
	for l.of(mark) == 0 {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatal("Postgres writes no log")
		}
	}
	return l.of(words)
}
