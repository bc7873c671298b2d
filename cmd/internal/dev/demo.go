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
	"slices"
	"text/template"
	"time"

	"golang.org/x/sync/errgroup"

	client "fairlead/clients/go"
	"fairlead/cmd/internal/run"
	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/xds"
)

// demo is what stands on the servers: the tenant and its fleet, two backends, Envoy. It
// ends with ctx, or with the first error; either way nothing of it runs on.
func (s *started) demo(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return errOr(ctx, s.stand(ctx, g)) })
	return g.Wait()
}

// stand starts the demo's parts in g, one after the other, and then runs Envoy.
func (s *started) stand(ctx context.Context, g *errgroup.Group) error {
	fresh, err := s.setup(ctx)
	if err != nil {
		return err
	}
	if !s.cmd.NoDemo {
		backends, err := s.openBackends()
		if err != nil {
			return err
		}
		for _, b := range backends {
			g.Go(func() error { return b.run(ctx) })
		}
		if err := s.openLocalPorts(ctx, backends); err != nil {
			return err
		}
		if err := s.applyDemo(ctx, fresh); err != nil {
			return err
		}
	}
	if s.ports.open != nil {
		port, err := s.openXDS(ctx)
		if err != nil {
			return err
		}
		g.Go(func() error { return lifecycle.Run(ctx, s.xds.Serve(port)) })
	}
	return s.proxy(ctx)
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
	var key fleet.Key
	err := patiently(ctx, func() error {
		tenant, err := s.api.Store().TenantBySlug(ctx, tenantSlug)
		if err != nil {
			return err
		}
		f, err := s.api.Store().FleetByName(ctx, tenant.ID, fleetName)
		key = fleet.Key{Tenant: tenant.ID, Fleet: f.ID}
		return err
	})
	if err != nil {
		return run.Port{}, err
	}
	anybody, err := auth.ParseNodePattern("*")
	if err != nil {
		return run.Port{}, err
	}
	return run.Port{Listener: s.ports.open, Anonymous: &xds.Identity{Key: key, Nodes: anybody}}, nil
}

// backend answers every request with its colour.
type backend struct {
	colour string
	lis    net.Listener
}

// openBackends opens the ports of an earlier start again; another port moves the
// endpoints with it.
func (s *started) openBackends() ([]backend, error) {
	blue, err := openBackend("blue", &s.state.Blue)
	if err != nil {
		return nil, err
	}
	green, err := openBackend("green", &s.state.Green)
	if err != nil {
		_ = blue.lis.Close() // nobody has connected
		return nil, err
	}
	return []backend{blue, green}, nil
}

// openLocalPorts lets every token that writes send to the demo's backends, which are on the proxy's machine. What else
// is open stays open.
func (s *started) openLocalPorts(ctx context.Context, backends []backend) error {
	admin, err := s.client(s.state.APIToken)
	if err != nil {
		return err
	}
	f, err := admin.GetFleetWithResponse(ctx, tenantSlug, fleetName)
	if err := answered("look at the fleet's local ports", f, err); err != nil {
		return err
	}
	open := slices.Clone(f.JSON200.LocalPorts)
	for _, b := range backends {
		if port := int32(b.lis.Addr().(*net.TCPAddr).Port); !slices.Contains(open, port) { //nolint:forcetypeassert,gosec // of a TCP listener
			open = append(open, port)
		}
	}
	if len(open) == len(f.JSON200.LocalPorts) {
		return nil
	}
	set, err := admin.UpdateFleetWithResponse(ctx, tenantSlug, fleetName, nil, client.FleetUpdate{LocalPorts: &open})
	return answered("open the ports of the demo's backends", set, err)
}

func openBackend(colour string, address *string) (backend, error) {
	var lis net.Listener
	err := errors.New("no port of an earlier start")
	if *address != "" {
		lis, err = net.Listen("tcp", *address)
	}
	if err != nil {
		lis, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return backend{}, fmt.Errorf("open a port for the demo's backend %s: %w", colour, err)
	}
	*address = lis.Addr().String()
	return backend{colour, lis}, nil
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
	if err := s.apply(ctx, doc); err != nil {
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
