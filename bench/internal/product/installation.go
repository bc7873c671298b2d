// Package product runs Fairlead as it ships, on one machine: Postgres and the API by `fairlead
// dev`, and xDS servers of their own beside them. It knows nothing of Fairlead's code: it starts
// its programs and calls its REST API.
package product

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Config says where Fairlead's programs are, and which folder is to hold the data.
type Config struct {
	Bin string
	Dir string
}

// Installation is a running `fairlead dev`, without the demo and without an Envoy.
type Installation struct {
	cfg     Config
	cmd     *exec.Cmd
	ready   ready
	tenants int
}

// ready is what of the ready file is needed.
type ready struct {
	API      string `json:"api_url"`
	Operator string `json:"operator_token"`
	Postgres string `json:"postgres_url"`
}

const startLimit = 2 * time.Minute // a Postgres may have to be fetched

// Start starts it and waits until it is ready. It ends with this process, if it is not
// stopped before.
func Start(ctx context.Context, cfg Config) (*Installation, error) {
	file := filepath.Join(cfg.Dir, "ready.json")
	i := &Installation{cfg: cfg, cmd: exec.Command(filepath.Join(cfg.Bin, "fairlead"), "dev",
		"--data", cfg.Dir, "--ready-file", file, "--no-envoy", "--no-demo", "--http", "127.0.0.1:0", "--xds", "127.0.0.1:0", "--proxy", "127.0.0.1:0")}
	i.cmd.Stderr = os.Stderr
	i.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := i.cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	b, err := waitFor(ctx, file)
	if err == nil {
		err = json.Unmarshal(b, &i.ready)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start fairlead dev: %w", err), i.Stop())
	}
	return i, nil
}

// waitFor reads a file once it is there.
func waitFor(ctx context.Context, file string) ([]byte, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(file)
		if !errors.Is(err, fs.ErrNotExist) {
			return b, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// Stop stops it, Postgres included.
func (i *Installation) Stop() error {
	if err := i.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return i.cmd.Wait()
}

// PID is the process of the API server, which has Postgres as its child.
func (i *Installation) PID() int { return i.cmd.Process.Pid }

// XDS returns the command line of one more xDS server. Its limits leave room for all clients
// of a run to come at once, from one address and with one token.
func (i *Installation) XDS(listen, health, profiles string) ([]string, error) {
	u, err := url.Parse(i.ready.Postgres)
	if err != nil {
		return nil, err
	}
	u.User = url.User("fairlead_node")
	room := strconv.Itoa(50_000)
	return []string{
		filepath.Join(i.cfg.Bin, "xds"), "--listen", listen, "--health-listen", health, "--debug-listen", profiles,
		"--database-url", u.String(), "--seal-private-key", filepath.Join(i.cfg.Dir, "keys", "seal.key"),
		"--max-connection-age", "0", "--drain", "1s", "--log-level", "warn",
		"--max-streams", room, "--max-streams-per-tenant", room, "--max-streams-per-credential", room,
		"--max-unauthenticated-connections", room, "--max-unauthenticated-connections-per-address", room,
	}, nil
}
