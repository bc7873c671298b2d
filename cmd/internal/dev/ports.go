package dev

import (
	"cmp"
	"errors"
	"fmt"
	"net"

	"fairlead/cmd/internal/run"
)

// ports are the addresses of this start. The proxy's is only chosen here: Envoy opens it.
type ports struct {
	http, xds, health net.Listener
	open              net.Listener // nil: not asked for
	proxy             string
}

func openPorts(c Command) (p ports, err error) {
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	for _, a := range []struct{ address, flag string }{{c.HTTP, "--http"}, {c.XDS, "--xds"}, {c.OpenXDS, "--open-xds"}, {c.Health, "--health"}} {
		if _, err := (run.TLS{}).Open(a.address, nil); a.address != "" && err != nil {
			return p, fmt.Errorf("%s %s: fairlead dev serves this machine only; choose an address of 127.0.0.1, or run the servers api and xds", a.flag, a.address)
		}
	}
	if p.http, err = run.Listen(c.HTTP, "--http"); err != nil {
		return p, err
	}
	if p.xds, err = run.Listen(c.XDS, "--xds"); err != nil {
		return p, err
	}
	if p.health, err = run.Listen(cmp.Or(c.Health, "127.0.0.1:0"), "--health"); err != nil {
		return p, err
	}
	if c.OpenXDS != "" {
		if p.open, err = run.Listen(c.OpenXDS, "--open-xds"); err != nil {
			return p, err
		}
	}
	p.proxy, err = proxyAddress(c)
	return p, err
}

// proxyAddress is where the proxy is to serve. Of --no-envoy one may serve there already, on a port that was chosen.
func proxyAddress(c Command) (string, error) {
	host, port, err := net.SplitHostPort(c.Proxy)
	if err != nil {
		return "", fmt.Errorf("--proxy %s: %w", c.Proxy, err)
	}
	if !c.NoEnvoy || port == "0" {
		proxy, err := run.Listen(c.Proxy, "--proxy")
		if err != nil {
			return "", err
		}
		_, port, err = net.SplitHostPort(proxy.Addr().String())
		if err := errors.Join(err, proxy.Close()); err != nil {
			return "", err
		}
	}
	return net.JoinHostPort(cmp.Or(host, "0.0.0.0"), port), nil
}

// proxyURL is how this machine reaches the proxy.
func (p ports) proxyURL() string {
	host, port, err := net.SplitHostPort(p.proxy)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// close frees what the servers did not close themselves.
func (p ports) close() {
	for _, l := range []net.Listener{p.http, p.xds, p.health, p.open} {
		if l == nil {
			continue
		}
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			continue // the process is ending
		}
	}
}
