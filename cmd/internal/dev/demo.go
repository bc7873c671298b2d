package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"text/template"
	"time"

	"golang.org/x/sync/errgroup"

	"fairlead/cmd/internal/run"
	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/xds"
)

// demo is what stands on the servers: the tenant and its fleet, two backends, Envoy. It
// ends with ctx.
func (s *started) demo(ctx context.Context) error {
	fresh, err := s.setup(ctx)
	if err != nil {
		return errOr(ctx, err)
	}
	g, ctx := errgroup.WithContext(ctx)
	if !s.cmd.NoDemo {
		backends, err := s.openBackends()
		if err != nil {
			return err
		}
		for _, b := range backends {
			g.Go(func() error { return b.run(ctx) })
		}
		if err := s.applyDemo(ctx, fresh); err != nil {
			return errors.Join(errOr(ctx, err), g.Wait())
		}
	}
	if s.ports.open != nil {
		port, err := s.openXDS(ctx)
		if err != nil {
			return err
		}
		g.Go(func() error { return lifecycle.Run(ctx, s.xds.Serve(port)) })
	}
	g.Go(func() error { return errOr(ctx, s.proxy(ctx)) })
	return g.Wait()
}

// errOr hides errors of a start that was broken off.
func errOr(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

// openXDS is the port for clients without a token: whoever connects is of the demo's
// fleet.
func (s *started) openXDS(ctx context.Context) (run.Port, error) {
	tenant, err := s.api.Store().TenantBySlug(ctx, tenantSlug)
	if err != nil {
		return run.Port{}, err
	}
	f, err := s.api.Store().FleetByName(ctx, tenant.ID, fleetName)
	if err != nil {
		return run.Port{}, err
	}
	anybody, err := auth.ParseNodePattern("*")
	if err != nil {
		return run.Port{}, err
	}
	return run.Port{Listener: s.ports.open, Anonymous: &xds.Identity{Key: fleet.Key{Tenant: tenant.ID, Fleet: f.ID}, Nodes: anybody}}, nil
}

// backend answers every request with its colour.
type backend struct {
	colour string
	lis    net.Listener
}

// openBackends opens the ports of an earlier start again; another port moves the
// endpoints with it.
func (s *started) openBackends() ([]backend, error) {
	var backends []backend
	for colour, address := range map[string]*string{"blue": &s.state.Blue, "green": &s.state.Green} {
		lis, err := net.Listen("tcp", *address)
		if *address == "" || err != nil {
			if lis, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
				return nil, fmt.Errorf("open a port for the demo's backend: %w", err)
			}
		}
		*address = lis.Addr().String()
		backends = append(backends, backend{colour, lis})
	}
	return backends, nil
}

func (b backend) run(ctx context.Context) error {
	srv := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello from "+b.colour+"\n")
	})}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	err := srv.Serve(b.lis)
	if stop() {
		return fmt.Errorf("the demo's backend: %w", err)
	}
	return nil
}

// applyDemo writes the demo's resources where they are missing, and moves its addresses
// where they moved. What the user changed stays.
func (s *started) applyDemo(ctx context.Context, fresh bool) error {
	moved := s.state.Proxy != s.ports.proxy
	s.state.Proxy = s.ports.proxy
	parts := []string{"endpoints"}
	if fresh || moved {
		parts = append(parts, "listener")
	}
	if fresh {
		parts = append(parts, "clusters", "route")
	}
	doc, err := render("apply", struct {
		*state
		Parts  []string
		Colour string
	}{s.state, parts, "blue"})
	if err != nil {
		return err
	}
	if _, err := s.apply(ctx, doc); err != nil {
		return err
	}
	for _, colour := range []string{"blue", "green"} {
		doc, err := render("route", struct{ Colour string }{colour})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(s.demoDir(), 0o755); err != nil { //nolint:gosec // nothing in it is secret
			return fmt.Errorf("make the demo's folder: %w", err)
		}
		if err := replaceFile(filepath.Join(s.demoDir(), colour+".yaml"), doc, 0o644); err != nil {
			return err
		}
	}
	return s.state.save()
}

func (s *started) demoDir() string { return filepath.Join(s.cmd.Data, "demo") }

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := documents.ExecuteTemplate(&b, name, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func hostPort(address string) (map[string]string, error) {
	host, port, err := net.SplitHostPort(address)
	return map[string]string{"Host": host, "Port": port}, err
}

var documents = template.Must(template.New("").Funcs(template.FuncMap{"split": hostPort}).Parse(demoDocuments))
