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

// proxy writes the bootstrap, runs Envoy if there is one, tells the user, and waits.
func (s *started) proxy(ctx context.Context) error {
	file, err := s.writeBootstrap()
	if err != nil {
		return err
	}
	r := ready{
		APIURL: s.apiURL(), APIToken: s.state.APIToken, OperatorToken: s.state.OperatorToken,
		XDSAddress: s.ports.xds.Addr().String(), NodeToken: s.state.NodeToken,
		Tenant: tenantSlug, Fleet: fleetName, NodeID: nodeID,
		BootstrapFile: file, DataDir: s.cmd.Data, PostgresURL: s.pg.url("postgres"),
	}
	envoy, err := s.startEnvoy(ctx, file, &r)
	if err != nil {
		return err
	}
	r.StartedInMS = time.Since(s.since).Milliseconds()
	path := s.cmd.ReadyFile
	if path == "" {
		path = filepath.Join(s.cmd.Data, "ready.json")
	}
	if err := r.write(path); err != nil {
		return err
	}
	defer os.Remove(path) //nolint:errcheck // a stale file names a server that does not answer
	s.welcome(r, path)
	if envoy == nil {
		<-ctx.Done()
		return nil
	}
	return s.keepEnvoy(ctx, envoy, file)
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
		TokenFile: filepath.Join(dir, "node.token"), AdminAddress: "127.0.0.1:0",
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

// startEnvoy returns nil without an error where there is none to be had.
func (s *started) startEnvoy(ctx context.Context, file string, r *ready) (*localenvoy.Envoy, error) {
	if s.cmd.NoEnvoy {
		return nil, nil
	}
	bin, err := localenvoy.Find(ctx, localenvoy.FindConfig{Fetch: !s.cmd.NoFetch, Progress: s.out.progress})
	if err != nil {
		s.out.say("No Envoy is started: %v.", err)
		s.out.say("All else works; any Envoy can be started with the bootstrap below.")
		return nil, errOr(ctx, nil)
	}
	if r.EnvoyVersion, err = localenvoy.VersionOf(ctx, bin); err != nil {
		return nil, err
	}
	envoy, err := s.launch(ctx, bin, file)
	if err != nil {
		return nil, err
	}
	start, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := envoy.Ready(start); err != nil {
		return nil, errors.Join(fmt.Errorf("start Envoy: %w", err), envoy.Stop())
	}
	admin, err := envoy.AdminAddress()
	if err != nil {
		return nil, errors.Join(err, envoy.Stop())
	}
	r.EnvoyAdminURL, r.ProxyURL = "http://"+admin, "http://"+s.ports.proxy
	if !s.cmd.NoDemo {
		s.awaitRoute(start, r.ProxyURL)
	}
	return envoy, nil
}

func (s *started) launch(ctx context.Context, bin, file string) (*localenvoy.Envoy, error) {
	return localenvoy.Start(ctx, localenvoy.Config{Bin: bin, BootstrapFile: file, Dir: filepath.Join(s.cmd.Data, "envoy")})
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

// keepEnvoy runs Envoy until ctx ends and starts it again when it dies.
func (s *started) keepEnvoy(ctx context.Context, envoy *localenvoy.Envoy, file string) error {
	for {
		err := envoy.Run(ctx)
		if ctx.Err() != nil {
			return err
		}
		s.out.say("Envoy ended: %v. It is started again.", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		bin, err := localenvoy.Find(ctx, localenvoy.FindConfig{})
		if err != nil {
			return err
		}
		if envoy, err = s.launch(ctx, bin, file); err != nil {
			return err
		}
	}
}
