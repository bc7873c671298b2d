package filesync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// admin asks an Envoy's admin interface.
type admin struct{ client *http.Client }

const (
	adminWithin = 5 * time.Second
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 256 << 20
)

// newAdmin takes HOST:PORT, http://HOST:PORT, or the absolute path of a Unix socket.
func newAdmin(where string) (*admin, error) {
	network, address := "unix", where
	if !filepath.IsAbs(where) {
		network, address = "tcp", strings.TrimSuffix(strings.TrimPrefix(where, "http://"), "/")
		host, port, err := net.SplitHostPort(address)
		if _, noPort := strconv.ParseUint(port, 10, 16); err != nil || host == "" || noPort != nil {
			return nil, fmt.Errorf("%q is no HOST:PORT, nor the absolute path of a Unix socket: %w", where, fleet.ErrInvalid)
		}
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return &admin{&http.Client{Timeout: adminWithin, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}}, nil
}

func (a *admin) get(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://envoy"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if len(body) > maxAnswer {
		err = fmt.Errorf("envoy answers %s with more than %d MiB: %w", path, maxAnswer>>20, fleet.ErrLimit)
	}
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("envoy answers %s with %s: %w", path, resp.Status, fleet.ErrUnavailable)
	}
	return body, err
}

// process is an Envoy that serves.
type process struct {
	version string
	up      time.Duration
}

// live returns the Envoy that serves; nil, and why, if none does. errAdmin is that something is there and does not answer, as a process that is
// stopped: what it makes of the files is not known, and it has them all the same.
func (a *admin) live(ctx context.Context) (*process, error) {
	if a == nil {
		return nil, nil //nolint:nilnil // none is asked
	}
	body, err := a.get(ctx, "/server_info")
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err // the address is a made-up one
	}
	switch {
	case err != nil && isThere(err):
		return nil, fmt.Errorf("%w: /server_info: %w", errAdmin, err)
	case err != nil:
		return nil, err
	}
	var info struct {
		Version string `json:"version"`
		State   string `json:"state"`
		Up      string `json:"uptime_current_epoch"`
	}
	if err := json.Unmarshal(body, &info); err != nil {
		return nil, fmt.Errorf("what answers is no Envoy: %w", fleet.ErrInvalid)
	}
	if info.State != "LIVE" {
		return nil, fmt.Errorf("it is %s: %w", strings.ToLower(info.State), fleet.ErrUnavailable)
	}
	p := &process{version: info.Version}
	if parts := strings.Split(info.Version, "/"); len(parts) > 1 { // commit/version/...
		p.version = parts[1]
	}
	p.up, _ = time.ParseDuration(info.Up) //nolint:errcheck // then it has just begun
	return p, nil
}

// isThere reports whether something took the connection, or answered, and did not say who it is. A connection that was not taken, or was closed
// without an answer, is nobody's.
func isThere(err error) bool {
	var dial *net.OpError
	var slow net.Error
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return false
	case errors.As(err, &slow) && slow.Timeout():
		return true
	}
	return errors.Is(err, fleet.ErrUnavailable)
}

// stats are what its subscriptions say.
type stats struct {
	taken   map[string]bool // the version_info of what was taken last, of all
	refused map[string]int  // how often something was refused or not read, by the prefix of the subscription
}

func (a *admin) stats(ctx context.Context) (stats, error) {
	body, err := a.get(ctx, "/stats?filter="+url.QueryEscape(`(version_text|update_rejected|update_failure)$`))
	if err != nil {
		return stats{}, err
	}
	return parseStats(string(body)), nil
}

func parseStats(text string) stats {
	s := stats{map[string]bool{}, map[string]int{}}
	for line := range strings.Lines(text) {
		at := strings.LastIndex(line, ": ") // a name may hold it, the value does not
		if at < 0 {
			continue
		}
		name, value := line[:at], strings.TrimSpace(line[at+2:])
		if strings.HasSuffix(name, "version_text") {
			s.taken[strings.Trim(value, `"`)] = true
			continue
		}
		scope := strings.TrimSuffix(strings.TrimSuffix(name, "update_rejected"), "update_failure")
		if n, err := strconv.Atoi(value); err == nil {
			s.refused[scope] += n
		}
	}
	return s
}

// refusals counts those of the subscriptions that are meant.
func (s stats) refusals(meant func(scope string) bool) (n int) {
	for scope, count := range s.refused {
		if meant(scope) {
			n += count
		}
	}
	return n
}

// dump is what Envoy has of a list of its configuration. mask leaves out what cannot always be written as JSON.
func (a *admin) dump(ctx context.Context, list, mask string, into any) error {
	q := url.Values{"resource": {list}}
	if mask != "" {
		q.Set("mask", mask)
	}
	body, err := a.get(ctx, "/config_dump?"+q.Encode())
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// refusedListeners are the listeners that Envoy has refused, with its words.
func (a *admin) refusedListeners(ctx context.Context) (map[string]string, error) {
	var d struct {
		Configs []struct {
			Name  string `json:"name"`
			Error struct {
				Details string `json:"details"`
			} `json:"error_state"`
		} `json:"configs"`
	}
	if err := a.dump(ctx, "dynamic_listeners", "name,error_state.details", &d); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, l := range d.Configs {
		if l.Error.Details != "" {
			out[l.Name] = strings.TrimSpace(l.Error.Details)
		}
	}
	return out, nil
}

// clusterVersions are the clusters that Envoy has, with the version_info of the file that brought each as it is.
func (a *admin) clusterVersions(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, list := range []string{"dynamic_active_clusters", "dynamic_warming_clusters"} {
		var d struct {
			Configs []struct {
				Version string `json:"version_info"`
				Cluster struct {
					Name string `json:"name"`
				} `json:"cluster"`
			} `json:"configs"`
		}
		if err := a.dump(ctx, list, "", &d); err != nil {
			return nil, err
		}
		for _, c := range d.Configs {
			out[c.Cluster.Name] = c.Version // of one that warms the newer
		}
	}
	return out, nil
}
