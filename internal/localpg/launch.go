package localpg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fairlead/internal/childproc"
	"fairlead/internal/fleet"
)

// stopTimeout is how long a shutdown may take: it writes out all that is in memory.
const stopTimeout = 30 * time.Second

// portTries is how often another port is tried when somebody took ours in between.
const portTries = 5

var (
	// errPortTaken says that the chosen port was taken before Postgres could bind it.
	errPortTaken = errors.New("port taken")
	// errMemoryInUse says that children of a killed postmaster have not ended yet.
	errMemoryInUse = errors.New("shared memory still in use")
)

// stopSignal is Postgres's word for a shutdown that does not wait for clients: SIGINT
// ends in order, SIGQUIT writes nothing out.
func stopSignal(ephemeral bool) syscall.Signal {
	if ephemeral {
		return syscall.SIGQUIT
	}
	return syscall.SIGINT
}

// cluster makes the data directory if there is none, and checks the version of one that is.
func (s *Server) cluster(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(s.layout.data, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return s.initdb(ctx)
	} else if err != nil {
		return fmt.Errorf("read the version of the data: %w", err)
	}
	have := strings.TrimSpace(string(text))
	major, err := majorOf(ctx, s.config.Bin)
	if err != nil {
		return err
	}
	if have != strconv.Itoa(major) {
		return fmt.Errorf("the data in %s was made by Postgres %s, the one in %s is version %d: name a Postgres %s in PG_BIN, "+
			"or another data directory: %w", s.layout.data, have, s.config.Bin, major, have, fleet.ErrConflict)
	}
	return endOrphans(s.layout.data, stopSignal(s.config.Ephemeral))
}

// initdb works in a directory beside the data directory and renames it at the end, so
// that one that is killed leaves nothing that looks like a cluster.
func (s *Server) initdb(ctx context.Context) error {
	l := s.layout
	fresh, err := os.MkdirTemp(l.base, dataName+".new-")
	if err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := give(fresh, l.as); err != nil {
		return err
	}
	secret := filepath.Join(l.run, "initdb.password")
	if err := os.WriteFile(secret, []byte(s.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("hand the password to initdb: %w", err)
	}
	defer os.Remove(secret)
	if err := give(secret, l.as); err != nil {
		return err
	}
	args := []string{"-D", fresh, "-U", Superuser, "-E", "UTF8", "--locale=C", "--auth-local=trust",
		"--auth-host=scram-sha-256", "--pwfile=" + secret, "--no-instructions"}
	if s.config.Ephemeral {
		args = append(args, "--no-sync")
	}
	s.log.reset()
	p, err := childproc.Start(s.spec("initdb", args))
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("make a Postgres cluster: %w", context.Cause(ctx))
	}
	if err := p.Err(); err != nil {
		return fmt.Errorf("make a Postgres cluster in %s: %w: %s", l.base, err, s.log.text())
	}
	if err := os.Rename(fresh, l.data); err != nil {
		return fmt.Errorf("put the data directory in place: %w", err)
	}
	return nil
}

func (s *Server) spec(program string, args []string) childproc.Spec {
	return childproc.Spec{
		Path: filepath.Join(s.config.Bin, program), Args: args, Dir: "/", Env: append(environment(), s.config.Env...),
		Stdout: s.log, Stderr: s.log, Credential: s.layout.as,
		StopSignal: stopSignal(s.config.Ephemeral), StopTimeout: stopTimeout, DeathSignal: stopSignal(s.config.Ephemeral),
	}
}

// environment is what Postgres gets of ours: enough to find its libraries, and nothing
// that changes how it works (PGDATA, PGPORT and the like).
func environment() []string {
	env := []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}
	for _, name := range []string{"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// launch starts the postmaster and waits until it takes connections. Where the children
// of a killed one cannot be found, it waits for them to go.
func (s *Server) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := s.launchAnywhere(ctx)
		if !errors.Is(err, errMemoryInUse) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(firstPause):
		}
	}
}

func (s *Server) launchAnywhere(ctx context.Context) error {
	if port := s.Port(); port != 0 { // a restart: clients know the port
		return s.launchOn(ctx, port)
	}
	var err error
	for range portTries {
		port := defaultPort
		if s.config.TCP {
			if port, err = freePort(ctx); err != nil {
				return err
			}
		}
		if err = s.launchOn(ctx, port); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port for Postgres: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (s *Server) launchOn(ctx context.Context, port int) error {
	s.log.reset()
	p, err := childproc.Start(s.spec("postgres", s.arguments(port)))
	if err != nil {
		return err
	}
	if err := s.ready(ctx, p); err != nil {
		p.Kill()
		return err
	}
	s.mu.Lock()
	s.proc, s.port = p, port
	s.mu.Unlock()
	return nil
}

func (s *Server) arguments(port int) []string {
	settings := map[string]string{
		"listen_addresses":        "",
		"unix_socket_permissions": "0700",
		"max_connections":         strconv.Itoa(s.config.MaxConnections),
		"timezone":                "UTC",
		"log_timezone":            "UTC",
	}
	if s.config.TCP {
		settings["listen_addresses"] = "127.0.0.1"
	}
	if s.config.Ephemeral {
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes", "autovacuum"} {
			settings[name] = "off"
		}
		settings["wal_level"], settings["max_wal_senders"] = "minimal", "0"
		settings["max_wal_size"], settings["checkpoint_timeout"] = "2GB", "1h"
		// In the data directory, which goes with the server; a killed one would leave others.
		settings["dynamic_shared_memory_type"] = "mmap"
	}
	for name, value := range s.config.Settings {
		settings[name] = value
	}
	args := []string{"-D", s.layout.data, "-k", s.layout.run, "-p", strconv.Itoa(port)}
	for name, value := range settings {
		args = append(args, "--"+name+"="+value)
	}
	slices.Sort(args[6:])
	return args
}

// ready waits for the word in Postgres's own lock file, as its pg_ctl does. A hot standby has another one, and does not say ready before it takes over.
func (s *Server) ready(ctx context.Context, p *childproc.Process) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		lines := pidFileLines(s.layout.data)
		if len(lines) > pidStateLine && lines[0] == strconv.Itoa(p.PID()) && (lines[pidStateLine] == "ready" || lines[pidStateLine] == "standby") {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for Postgres to be ready: %w: %s", context.Cause(ctx), s.log.text())
		case <-p.Done():
			return startError(p.Err(), s.log.text())
		}
	}
}

// startError finds the two causes that are worth another try in Postgres's words.
func startError(err error, log string) error {
	switch {
	case strings.Contains(log, "could not create any TCP/IP sockets"):
		return fmt.Errorf("start Postgres: %w: %s", errPortTaken, log)
	case strings.Contains(log, "pre-existing shared memory block"):
		return fmt.Errorf("start Postgres: %w: %s", errMemoryInUse, log)
	default:
		return fmt.Errorf("start Postgres: %w: %s: %w", err, log, fleet.ErrUnavailable)
	}
}
