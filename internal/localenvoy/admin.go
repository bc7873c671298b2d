package localenvoy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"fairlead/internal/fleet"
)

// maxAnswer bounds what is read of an answer; a config dump of a big fleet is tens of MB.
const maxAnswer = 256 << 20

// admin is a client of Envoy's admin interface. Its address is known when Envoy has written it.
type admin struct {
	addressFile string
	client      *http.Client
}

func newAdmin(addressFile string) admin {
	// A connection that is kept would be a goroutine that outlives the Envoy.
	return admin{addressFile, &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialAdmin(addressFile)}}}
}

// dialAdmin connects to the address that Envoy has written, whatever the URL says: a Unix socket is no URL's host.
func dialAdmin(addressFile string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		address, err := readAddress(addressFile)
		if err != nil {
			return nil, err
		}
		if filepath.IsAbs(address) {
			network = "unix"
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

// AdminAddress is host:port of the admin interface, or the path of its Unix socket: ErrUnavailable until Envoy listens.
func (e *Envoy) AdminAddress() (string, error) {
	return readAddress(e.admin.addressFile)
}

func readAddress(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil || len(text) == 0 {
		return "", fmt.Errorf("envoy does not listen yet: %w", fleet.ErrUnavailable)
	}
	return strings.TrimSpace(string(text)), nil
}

// Admin gets a path of the admin interface, such as "/config_dump". An answer other than
// 200 is an error; its body is returned with it.
func (e *Envoy) Admin(ctx context.Context, path string) ([]byte, error) {
	return e.ask(ctx, http.MethodGet, path)
}

// AdminPost posts to a path that changes something, such as "/drain_listeners".
func (e *Envoy) AdminPost(ctx context.Context, path string) ([]byte, error) {
	return e.ask(ctx, http.MethodPost, path)
}

func (e *Envoy) ask(ctx context.Context, method, path string) ([]byte, error) {
	if _, err := e.AdminAddress(); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://envoy"+path, nil)
	if err != nil {
		return nil, fmt.Errorf("ask Envoy for %s: %w", path, err)
	}
	resp, err := e.admin.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask Envoy: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read Envoy's answer to %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return body, fmt.Errorf("envoy answers %s with %s: %w", path, resp.Status, fleet.ErrUnavailable)
	}
	return body, nil
}

// Stats returns the counters and gauges whose names match the regular expression, which
// Envoy does not anchor. Histograms and texts are left out.
func (e *Envoy) Stats(ctx context.Context, filter string) (map[string]int64, error) {
	text, err := e.Admin(ctx, "/stats?filter="+url.QueryEscape(filter))
	if err != nil {
		return nil, err
	}
	return parseStats(string(text)), nil
}

func parseStats(text string) map[string]int64 {
	stats := map[string]int64{}
	for line := range strings.Lines(text) {
		// A name may hold ": "; a number never does.
		at := strings.LastIndex(line, ": ")
		if at < 0 {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(line[at+2:]), 10, 64); err == nil {
			stats[line[:at]] = n
		}
	}
	return stats
}
