package dev

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"fairlead/internal/bootstrap"
	"fairlead/internal/localenvoy"
)

// How long to wait before an Envoy that ended is started again: the first time, at most,
// and after how long a life the first time is meant again.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
	goodLife     = time.Minute
)

// readyPatience is how long an Envoy may take to be ready.
const readyPatience = 30 * time.Second

// proxy writes the bootstrap, runs Envoy if there is one, tells the user, and waits.
func (s *started) proxy(ctx context.Context) error {
	file, err := s.writeBootstrap()
	if err != nil {
		return err
	}
	r := ready{
		APIURL: s.apiURL(), APIToken: s.state.APIToken, OperatorToken: s.state.OperatorToken,
		XDSAddress: s.ports.xds.Addr().String(), RESTAddress: s.ports.xds.Addr().String(), RESTXDSURL: "http://" + s.ports.xds.Addr().String(), NodeToken: s.state.NodeToken,
		Tenant: tenantSlug, Fleet: fleetName, NodeID: nodeID,
		BootstrapFile: file, DataDir: s.cmd.Data, PostgresURL: s.pg.url("postgres"),
		MetricsURLs: []string{"http://" + s.ports.health.Addr().String() + "/metrics"},
	}
	bin, err := s.findEnvoy(ctx, &r)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // it was broken off, perhaps in the middle of a download
	}
	path := s.cmd.ReadyFile
	if path == "" {
		path = filepath.Join(s.cmd.Data, "ready.json")
	}
	defer os.Remove(path) //nolint:errcheck // a stale file names a server that does not answer
	if bin == "" {
		if err := s.tell(&r, path); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	var done func()
	if s.adminSocket, done, err = adminSocket(filepath.Join(s.cmd.Data, "envoy")); err != nil {
		return err
	}
	defer done()
	envoy, err := s.startEnvoy(ctx, bin, &r)
	if err != nil {
		return err
	}
	if !s.cmd.NoDemo {
		s.awaitRoute(ctx, r.ProxyURL)
	}
	if err := s.tell(&r, path); err != nil {
		return errors.Join(err, envoy.Stop())
	}
	return s.keepEnvoy(ctx, envoy, bin, r, path)
}

// adminSocket is a path for the socket of Envoy's admin interface: in dir, or, where that is too long for a socket, in a
// folder of its own that done removes.
func adminSocket(dir string) (path string, done func(), err error) {
	const name = "admin.sock"
	path, err = filepath.Abs(filepath.Join(dir, name))
	if err != nil || len(path) <= localenvoy.LongestSocket {
		return path, func() {}, err
	}
	dir, err = os.MkdirTemp("", "fairlead-envoy-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for Envoy's admin socket: %w", err)
	}
	return filepath.Join(dir, name), func() { _ = os.RemoveAll(dir) }, nil
}

// tell writes the ready file and prints how to use what runs.
func (s *started) tell(r *ready, path string) error {
	r.StartedInMS = time.Since(s.since).Milliseconds()
	if err := r.write(path); err != nil {
		return err
	}
	s.welcome(*r, path)
	return nil
}

// writeBootstrap writes the file that the Envoy of this start reads, and that any other
// one may be started with. The token stands in a file of its own.
func (s *started) writeBootstrap() (string, error) {
	dir := filepath.Join(s.cmd.Data, "envoy")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make Envoy's folder: %w", err)
	}
	conf := bootstrap.Config{
		NodeID: nodeID, NodeCluster: fleetName, XDSAddresses: []string{s.ports.xds.Addr().String()}, Delta: true, Plaintext: true,
		TokenFile: filepath.Join(dir, "node.token"),
	}
	sds, err := bootstrap.TokenSDS(conf.TokenFile)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "bootstrap.yaml")
	text, err := bootstrap.Envoy(conf)
	if err != nil {
		return "", err
	}
	return file, errors.Join(
		replaceFile(conf.TokenFile, []byte(s.state.NodeToken), 0o600),
		replaceFile(conf.TokenSDSPath(), sds, 0o600),
		replaceFile(file, text, 0o600))
}

// findEnvoy returns "" without an error where there is none to be had.
func (s *started) findEnvoy(ctx context.Context, r *ready) (bin string, err error) {
	if s.cmd.NoEnvoy {
		return "", nil
	}
	bin, err = localenvoy.Find(ctx, localenvoy.FindConfig{Fetch: !s.cmd.NoFetch, Progress: s.out.progress})
	if err != nil {
		s.out.say("No Envoy is started: %v.", err)
		s.out.say("All else works; any Envoy can be started with the bootstrap below.")
		return "", ctx.Err()
	}
	r.EnvoyPath = bin
	r.EnvoyVersion, err = localenvoy.VersionOf(ctx, bin)
	return bin, err
}

// startEnvoy starts Envoy, waits until it is ready, and notes in r where it is.
func (s *started) startEnvoy(ctx context.Context, bin string, r *ready) (*localenvoy.Envoy, error) {
	dir := filepath.Join(s.cmd.Data, "envoy")
	envoy, err := localenvoy.Start(ctx, localenvoy.Config{Bin: bin, BootstrapFile: r.BootstrapFile, Dir: dir, AdminSocket: s.adminSocket})
	if err != nil {
		return nil, err
	}
	start, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	if err := envoy.Ready(start); err != nil {
		return nil, errors.Join(fmt.Errorf("start Envoy: %w", err), envoy.Stop())
	}
	admin, err := envoy.AdminAddress()
	if err != nil {
		return nil, errors.Join(err, envoy.Stop())
	}
	r.EnvoyAdmin, r.ProxyURL = admin, s.ports.proxyURL()
	return envoy, nil
}

// awaitRoute waits for the first routed request. One that fails is told and ends nothing:
// the user may have changed the demo into anything.
func (s *started) awaitRoute(ctx context.Context, url string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode < 500 {
				return
			}
		}
		select {
		case <-ctx.Done():
			s.out.say("No request to %s was routed within 10 s: look at the page for what the proxy says.", url)
			return
		case <-tick.C:
		}
	}
}

// keepEnvoy runs Envoy until ctx ends. One that dies is started again, each time later if
// it does not live long. The ready file tells what runs.
func (s *started) keepEnvoy(ctx context.Context, envoy *localenvoy.Envoy, bin string, r ready, path string) error {
	life := envoy.Run
	for pause := time.Duration(0); ; {
		since := time.Now()
		err := life(ctx)
		if ctx.Err() != nil {
			return err
		}
		pause = nextPause(pause, time.Since(since))
		s.out.say("Envoy ended: %v. It is started again in %s.", err, pause)
		r.EnvoyAdmin, r.ProxyURL = "", ""
		if err := r.write(path); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		life = func(ctx context.Context) error { return s.runAgain(ctx, bin, &r, path) }
	}
}

// runAgain starts an Envoy, tells where it is, and runs it until it or ctx ends.
func (s *started) runAgain(ctx context.Context, bin string, r *ready, path string) error {
	envoy, err := s.startEnvoy(ctx, bin, r)
	if err != nil {
		return err
	}
	if err := r.write(path); err != nil {
		return errors.Join(err, envoy.Stop())
	}
	s.out.say("Envoy runs again.")
	return envoy.Run(ctx)
}

// nextPause follows pause after a life of that length.
func nextPause(pause, lived time.Duration) time.Duration {
	if lived >= goodLife {
		return firstPause
	}
	return min(max(2*pause, firstPause), longestPause)
}
