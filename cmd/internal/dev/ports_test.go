package dev

import (
	"net"
	"strings"
	"testing"

	"fairlead/internal/resource"
)

// TestProxyAddresses: every address that Envoy can listen on makes a demo that can be
// read, and a URL that this machine can use.
func TestProxyAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct{ host, url string }{
		"127.0.0.1:0": {"127.0.0.1", "http://127.0.0.1:"},
		"0.0.0.0:0":   {"0.0.0.0", "http://127.0.0.1:"},
		":0":          {"0.0.0.0", "http://127.0.0.1:"},
		"[::1]:0":     {"::1", "http://[::1]:"},
	} {
		p, err := openPorts(Command{HTTP: "127.0.0.1:0", XDS: "127.0.0.1:0", Proxy: address})
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		p.close()
		host, port, err := net.SplitHostPort(p.proxy)
		if err != nil || host != want.host || port == "0" || p.proxyURL() != want.url+port {
			t.Errorf("%s: proxy %s, URL %s, %v", address, p.proxy, p.proxyURL(), err)
		}
		doc, err := render("apply", struct {
			*state
			Parts  []string
			Colour string
		}{&state{Proxy: p.proxy, Blue: "127.0.0.1:1", Green: "127.0.0.1:2"}, []string{"endpoints", "listener", "clusters", "route"}, "blue"})
		if err != nil {
			t.Fatal(err)
		}
		if in, err := resource.ToJSON(resource.YAML, doc); err != nil || !strings.Contains(string(in), want.host) {
			t.Errorf("%s: %v in\n%s", address, err, doc)
		}
	}
}

// TestAPortOnWhichAnEnvoyServes: it may be one of the user's own, with --no-envoy alone.
func TestAPortOnWhichAnEnvoyServes(t *testing.T) {
	t.Parallel()
	envoy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer envoy.Close() //nolint:errcheck // nobody uses it any more
	c := Command{HTTP: "127.0.0.1:0", XDS: "127.0.0.1:0", Proxy: envoy.Addr().String()}
	if p, err := openPorts(c); err == nil || !strings.Contains(err.Error(), "--proxy") {
		p.close()
		t.Errorf("the port is used, and it says %v", err)
	}
	c.NoEnvoy = true
	p, err := openPorts(c)
	if err != nil || p.proxy != c.Proxy {
		t.Errorf("proxy %q, %v", p.proxy, err)
	}
	p.close()
}
