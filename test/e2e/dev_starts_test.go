package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/test/world"
)

func TestDevWithoutEnvoySaysHowToGetOne(t *testing.T) {
	t.Parallel()
	d := startDev(t, world.DataDir(t), []string{"ENVOY_BIN=/nowhere/envoy"})
	if d.Ready.EnvoyVersion != "" || d.Ready.ProxyURL != "" || d.Ready.EnvoyAdmin != "" {
		t.Errorf("the ready file names an Envoy: %+v", d.Ready)
	}
	world.Eventually(t, world.Soon, "it did not print how to get an Envoy", func() bool {
		out := d.Out.String() // printed after the ready file was written
		return strings.Contains(out, "No Envoy is started") && strings.Contains(out, "ENVOY_BIN")
	})
	if code, _ := world.Get(d.Ready.APIURL + "/healthz"); code != http.StatusOK {
		t.Errorf("the API answers %d", code)
	}
	devMetrics(t, d.Ready.MetricsURLs)
}

func TestDevEmpty(t *testing.T) {
	t.Parallel()
	d := startDev(t, world.DataDir(t), nil, "--no-demo", "--no-envoy", "--open-xds", "127.0.0.1:0")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.Ready.APIURL+"/v1/tenants/demo/fleets/edge/resources", nil)
	world.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+d.Ready.APIToken)
	resp, err := http.DefaultClient.Do(req)
	world.Must(t, err)
	defer resp.Body.Close() //nolint:errcheck // it is read below
	var list struct{ Items []any }
	world.Must(t, json.NewDecoder(resp.Body).Decode(&list))
	http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusOK || len(list.Items) != 0 {
		t.Errorf("status %d, %d resources, want an empty fleet", resp.StatusCode, len(list.Items))
	}
}

// TestDevSaysWhatToDo: each start that cannot work ends with one sentence.
func TestDevSaysWhatToDo(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	world.Must(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	busy := world.DataDir(t)
	startDev(t, busy, nil, "--no-demo", "--no-envoy")
	type start struct {
		data string
		args []string
		env  []string
		says []string
	}
	cases := map[string]start{
		"the API's port is taken":   {"", []string{"--http", taken.Addr().String()}, nil, []string{taken.Addr().String(), "in use", "--http"}},
		"the xDS port is taken":     {"", []string{"--xds", taken.Addr().String()}, nil, []string{taken.Addr().String(), "in use", "--xds"}},
		"the proxy's port":          {"", []string{"--no-envoy=false", "--proxy", taken.Addr().String()}, nil, []string{taken.Addr().String(), "in use", "--proxy"}},
		"an address for all":        {"", []string{"--http", "0.0.0.0:0"}, nil, []string{"--http", "this machine only"}},
		"the folder is in use":      {busy, nil, nil, []string{busy, "--data"}},
		"no Postgres":               {"", []string{"--no-fetch"}, []string{"PG_BIN=/nowhere"}, []string{"PG_BIN", "/nowhere"}},
		"an address without a port": {"", []string{"--http", "127.0.0.1"}, nil, []string{"--http"}},
	}
	if os.Geteuid() == 0 { // Postgres runs as another user, who may not enter there
		closed := t.TempDir()
		world.Must(t, os.Chmod(closed, 0o700))
		cases["started as root, below a closed folder"] = start{filepath.Join(closed, "data"), nil, nil,
			[]string{"started as root", closed, "0700", "choose a directory"}}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.data == "" {
				c.data = world.DataDir(t)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // one that starts ends its case, and not the tests
			defer cancel()
			cmd := exec.CommandContext(ctx, world.Bin("fairlead"), world.DevArgs(c.data, append([]string{"--no-envoy"}, c.args...)...)...) //nolint:gosec // our own program
			cmd.Env = append(os.Environ(), c.env...)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("it ended well: %s", out)
			}
			text := strings.TrimSpace(string(out))
			for _, s := range c.says {
				if !strings.Contains(text, s) {
					t.Errorf("it said %q, want %q in it", text, s)
				}
			}
			if strings.Count(text, "\n") > 0 || strings.Contains(text, "goroutine") {
				t.Errorf("it said more than one sentence: %q", text)
			}
		})
	}
}
