package localpg_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"fairlead/internal/filelock"
	"fairlead/internal/fleet"
	"fairlead/internal/localpg"
)

// patience is how long an event may take before a test fails.
const patience = 60 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func binaries(t *testing.T) string {
	t.Helper()
	bin, err := localpg.Find(t.Context(), localpg.FindConfig{Fetch: true, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// directory is one that the user of Postgres may pass through, also when we are root.
func directory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func start(t *testing.T, c localpg.Config) *localpg.Server {
	t.Helper()
	s, err := launch(t, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func launch(t *testing.T, c localpg.Config) (*localpg.Server, error) {
	t.Helper()
	if c.Bin == "" {
		c.Bin = binaries(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := localpg.Start(ctx, c)
	if err == nil {
		t.Cleanup(func() { stop(t, s) })
	}
	return s, err
}

func stop(t *testing.T, s *localpg.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// query opens a connection of its own and returns one value as text.
func query(t *testing.T, url, sql string) string {
	t.Helper()
	var got string
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), sql).Scan(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

func exec(t *testing.T, url, sql string) {
	t.Helper()
	query(t, url, "with x as ("+sql+" returning 1) select count(*)::text from x")
}

func create(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "create table kept (n int)"); err != nil {
		t.Fatal(err)
	}
}

func TestEphemeral(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{Ephemeral: true, MaxConnections: 17, Settings: map[string]string{"work_mem": "1MB"}})
	url := s.URL("postgres", localpg.Superuser)
	for setting, want := range map[string]string{
		"fsync": "off", "autovacuum": "off", "wal_level": "minimal", "max_connections": "17", "work_mem": "1MB",
		"listen_addresses": "", "data_directory": filepath.Join(s.DataDir(), "data"),
	} {
		if got := query(t, url, "select current_setting('"+setting+"')"); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	stop(t, s)
	if _, err := os.Stat(s.DataDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Stop the directory is there: %v", err)
	}
}

func TestNoOtherUserCanConnect(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{Ephemeral: true, TCP: true})
	info, err := os.Stat(s.SocketDir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("socket's directory: mode %v, %v", info.Mode(), err)
	}
	good := s.TCPURL("postgres", localpg.Superuser)
	if got := query(t, good, "select current_user::text"); got != localpg.Superuser {
		t.Errorf("over TCP: user %q", got)
	}
	for name, url := range map[string]string{
		"wrong password": strings.Replace(good, s.Password(), "guess", 1),
		"no password":    strings.Replace(good, ":"+s.Password(), "", 1),
	} {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(t.Context())
		}
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "28P01" {
			t.Errorf("%s: %v, want a refusal by the server", name, err)
		}
	}
}

func TestDataIsKeptAndCrashesHeal(t *testing.T) {
	t.Parallel()
	config := localpg.Config{DataDir: filepath.Join(directory(t), "pg"), Bin: binaries(t)}
	s := start(t, config)
	url := s.URL("postgres", localpg.Superuser)
	if got := query(t, url, "select current_setting('fsync')"); got != "on" {
		t.Errorf("fsync is %q where data is kept", got)
	}
	create(t, url)
	exec(t, url, "insert into kept values (1)")

	_, err := localpg.Start(t.Context(), config)
	if !errors.Is(err, fleet.ErrConflict) || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("second server in one directory: %v", err)
	}

	s.Kill()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatalf("restart after a kill: %v", err)
	}
	exec(t, url, "insert into kept values (2)")
	stop(t, s)
	if err := s.Restart(t.Context()); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("restart after Stop: %v", err)
	}

	s = start(t, config)
	if got := query(t, s.URL("postgres", localpg.Superuser), "select string_agg(n::text, ',' order by n) from kept"); got != "1,2" {
		t.Errorf("kept %q", got)
	}
}

// A server that outlives its owner is stopped, and a new one starts on its data.
func TestOrphanIsReplaced(t *testing.T) {
	t.Parallel()
	config := localpg.Config{DataDir: filepath.Join(directory(t), "pg"), Bin: binaries(t)}
	first := start(t, config)
	create(t, first.URL("postgres", localpg.Superuser))
	// Its owner "dies": the lock is free, the process runs on.
	if err := os.Rename(filepath.Join(config.DataDir, "owner.lock"), filepath.Join(config.DataDir, "gone.lock")); err != nil {
		t.Fatal(err)
	}
	second := start(t, config)
	select {
	case <-first.Done():
	default:
		t.Error("two servers run on one data directory")
	}
	if got := query(t, second.URL("postgres", localpg.Superuser), "select count(*)::text from kept"); got != "0" {
		t.Errorf("count %q", got)
	}
}

// A lock file that names a process which is something else by now is no obstacle.
func TestForeignPIDInTheLockFile(t *testing.T) {
	t.Parallel()
	config := localpg.Config{DataDir: filepath.Join(directory(t), "pg"), Bin: binaries(t)}
	stop(t, start(t, config))
	text := fmt.Sprintf("%d\n%s\n0\n5432\n\n\n\nready\n", os.Getpid(), config.DataDir)
	if err := os.WriteFile(filepath.Join(config.DataDir, "data", "postmaster.pid"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, config)
}

func TestOtherVersionOfTheData(t *testing.T) {
	t.Parallel()
	config := localpg.Config{DataDir: filepath.Join(directory(t), "pg"), Bin: binaries(t)}
	stop(t, start(t, config))
	if err := os.WriteFile(filepath.Join(config.DataDir, "data", "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := launch(t, config)
	if !errors.Is(err, fleet.ErrConflict) || !strings.Contains(err.Error(), "was made by Postgres 9") {
		t.Errorf("err = %v", err)
	}
}

func TestLongPathGetsAShortSocket(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{DataDir: filepath.Join(directory(t), strings.Repeat("long-", 20))})
	if got := query(t, s.URL("postgres", localpg.Superuser), "select '1'"); got != "1" {
		t.Errorf("got %q", got)
	}
	stop(t, s)
	if _, err := os.Stat(s.SocketDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Stop the socket's directory is there: %v", err)
	}
}

func TestFailureQuotesPostgres(t *testing.T) {
	t.Parallel()
	_, err := launch(t, localpg.Config{Ephemeral: true, Settings: map[string]string{"shared_buffers": "none"}})
	if !errors.Is(err, fleet.ErrUnavailable) || !strings.Contains(err.Error(), "shared_buffers") {
		t.Errorf("err = %v", err)
	}
	if _, err := localpg.Start(t.Context(), localpg.Config{}); !errors.Is(err, fleet.ErrInvalid) {
		t.Errorf("empty config: %v", err)
	}
}

// events is a log that a test can wait on.
type events struct {
	mu   sync.Mutex
	text bytes.Buffer
	ch   chan string
}

func (e *events) add(s string) {
	e.mu.Lock()
	e.text.WriteString(s + "\n")
	e.mu.Unlock()
	e.ch <- s
}

func (e *events) wait(t *testing.T, part string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case s := <-e.ch:
			if strings.Contains(s, part) {
				return
			}
		case <-deadline:
			t.Fatalf("no event %q; got %s", part, e.text.String())
		}
	}
}

func TestRunStartsADeadServerAgain(t *testing.T) {
	t.Parallel()
	e := &events{ch: make(chan string, 100)}
	s := start(t, localpg.Config{Ephemeral: true, TCP: true, Event: e.add})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	url, tcp := s.URL("postgres", localpg.Superuser), s.TCPURL("postgres", localpg.Superuser)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for range 2 {
		if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		e.wait(t, "Postgres has ended")
		e.wait(t, "is up again")
		query(t, url, "select '1'")
		query(t, tcp, "select '1'")
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Errorf("Restart beside Run: %v", err)
	}
	query(t, url, "select '1'")
	done := s.Done()
	cancel()
	wg.Wait()
	select {
	case <-done:
	default:
		t.Error("Run returned and Postgres runs on")
	}
}

// What a killed test leaves in memory, the next one removes.
func TestAbandonedScratchIsSwept(t *testing.T) {
	t.Parallel()
	parent := directory(t)
	abandoned := filepath.Join(parent, "fairlead-pg-1")
	held := filepath.Join(parent, "fairlead-pg-2")
	for _, dir := range []string{abandoned, held} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		lock, err := filelock.TryAcquire(filepath.Join(dir, "owner.lock"))
		if err != nil {
			t.Fatal(err)
		}
		if dir == abandoned {
			lock.Release()
		} else {
			t.Cleanup(lock.Release)
		}
	}
	start(t, localpg.Config{Ephemeral: true, DataDir: parent})
	if _, err := os.Stat(abandoned); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the abandoned directory is there: %v", err)
	}
	if _, err := os.Stat(held); err != nil {
		t.Errorf("the directory of a living process is gone: %v", err)
	}
}
