package localenvoy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/childproc"
	"fairlead/internal/fleet"
)

// The files in Config.Dir.
const (
	bootstrapName = "bootstrap.yaml"
	logName       = "envoy.log"
	pidName       = "envoy.pid"
	adminName     = "admin.address"
)

// pollEvery is how often Ready asks.
const pollEvery = 20 * time.Millisecond

// LongestSocket is what the kernel takes of a Unix socket's path, in bytes.
const LongestSocket = 107

// quotedLines is how many lines of the log an error quotes.
const quotedLines = 5

// Config is one Envoy.
type Config struct {
	// Bin is the program that Find returned.
	Bin string
	// Bootstrap is the configuration, YAML or JSON; it is written to Dir with mode 0600.
	// BootstrapFile names a file instead. One of them must be set. Without AdminSocket it must have an
	// admin section; its port may be 0.
	Bootstrap     []byte
	BootstrapFile string
	// AdminSocket is the path of a Unix socket, of LongestSocket bytes at most, that only our user may open: the admin interface
	// listens there, whatever the bootstrap says.
	AdminSocket string
	// Dir takes the bootstrap, the log and the admin address. It is made if it is missing,
	// and belongs to one Envoy at a time.
	Dir string
	// Env is added to PATH, HOME and TMPDIR, which is all that Envoy gets of our own
	// environment.
	Env []string
	// LogLevel is trace, debug, info, warn, error; "" is warn. At debug, tokens are in the log.
	LogLevel string
	// Concurrency is the number of worker threads; 0 is 1.
	Concurrency int
	// Args are further arguments.
	Args []string
}

// Envoy is a running Envoy. Its methods may be called from any goroutine.
type Envoy struct {
	config Config
	proc   *childproc.Process
	admin  admin
}

// Start starts Envoy and does not wait for it: Ready does. The child dies with us. A ctx
// that has ended starts nothing; later it has no effect.
func Start(ctx context.Context, c Config) (*Envoy, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("start Envoy: %w", context.Cause(ctx))
	}
	if c.Bin == "" || c.Dir == "" || (len(c.Bootstrap) == 0) == (c.BootstrapFile == "") {
		return nil, fmt.Errorf("start Envoy: Bin, Dir and one of Bootstrap and BootstrapFile must be set: %w", fleet.ErrInvalid)
	}
	if len(c.AdminSocket) > LongestSocket {
		return nil, fmt.Errorf("start Envoy: AdminSocket is longer than %d bytes: %w", LongestSocket, fleet.ErrInvalid)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make Envoy's directory: %w", err)
	}
	if c.BootstrapFile == "" {
		c.BootstrapFile = filepath.Join(c.Dir, bootstrapName)
		if err := os.WriteFile(c.BootstrapFile, c.Bootstrap, 0o600); err != nil {
			return nil, fmt.Errorf("write Envoy's bootstrap: %w", err)
		}
	}
	address := filepath.Join(c.Dir, adminName)
	if err := os.Remove(address); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the admin address of an earlier run: %w", err)
	}
	log, err := os.Create(filepath.Join(c.Dir, logName))
	if err != nil {
		return nil, fmt.Errorf("make Envoy's log: %w", err)
	}
	defer log.Close()
	proc, err := childproc.Start(childproc.Spec{
		Path: c.Bin, Args: arguments(c, address), Env: environment(c.Env), Stdout: log, Stderr: log,
		PIDFile: filepath.Join(c.Dir, pidName),
	})
	if err != nil {
		return nil, err
	}
	return &Envoy{config: c, proc: proc, admin: newAdmin(address)}, nil
}

// arguments leave hot restart out: with it, a killed Envoy leaves a file in shared memory.
func arguments(c Config, adminAddress string) []string {
	level, concurrency := c.LogLevel, c.Concurrency
	if level == "" {
		level = "warn"
	}
	if concurrency == 0 {
		concurrency = 1
	}
	args := []string{
		"-c", c.BootstrapFile, "--admin-address-path", adminAddress, "--disable-hot-restart",
		"--concurrency", strconv.Itoa(concurrency), "--drain-time-s", "1", "--parent-shutdown-time-s", "2", "-l", level,
	}
	if c.AdminSocket != "" {
		args = append(args, "--config-yaml", fmt.Sprintf("admin: {address: {pipe: {path: %q, mode: 384}}}", c.AdminSocket)) // 0600
	}
	return append(args, c.Args...)
}

func environment(more []string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, more...)
}

// Ready waits until Envoy has what it needs and serves ("LIVE"). It does not tell that a
// certain listener is there. If Envoy ends before, the error quotes its log.
func (e *Envoy) Ready(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		state, err := e.Admin(ctx, "/ready")
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-e.proc.Done():
			return fmt.Errorf("envoy ended before it was ready: %w: %s", e.proc.Err(), e.LogTail())
		case <-ctx.Done():
			return fmt.Errorf("wait for Envoy to be ready (now %q, %w): %w", strings.TrimSpace(string(state)), err, context.Cause(ctx))
		}
	}
}

// Run waits until ctx ends, stops Envoy and returns nil. An Envoy that ends by itself is
// an error.
func (e *Envoy) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return e.Stop()
	case <-e.proc.Done():
		return fmt.Errorf("envoy ended by itself: %w: %s", errors.Join(e.proc.Err(), fleet.ErrUnavailable), e.LogTail())
	}
}

// Stop ends Envoy at once, connections or not, and returns when it is gone.
func (e *Envoy) Stop() error { return e.proc.Stop() }

// Kill ends Envoy with SIGKILL, and returns when it is gone.
func (e *Envoy) Kill() { e.proc.Kill() }

// Done is closed when Envoy has ended.
func (e *Envoy) Done() <-chan struct{} { return e.proc.Done() }

// PID is Envoy's process id.
func (e *Envoy) PID() int { return e.proc.PID() }

// LogFile is where Envoy writes.
func (e *Envoy) LogFile() string { return filepath.Join(e.config.Dir, logName) }

// LogTail is the log's last few lines, on one line.
func (e *Envoy) LogTail() string {
	text, err := os.ReadFile(e.LogFile())
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-quotedLines):], " | ")
}
