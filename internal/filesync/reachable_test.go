package filesync

import (
	"cmp"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// TestReachable: one server that answers is enough, and nothing that it sends is confirmed. Else the last one's reason is told.
func TestReachable(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system takes its connections, and nobody reads them
	must(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	const nobody = "127.0.0.1:1"
	for name, c := range map[string]struct {
		servers func(living string) []string
		token   string
		within  time.Duration
		share   time.Duration // of each server; 0: what is left of within
		gone    bool          // who asks, when the second server is asked
		says    string        // "": it answers
	}{
		"it answers":         {func(living string) []string { return []string{living} }, "*", time.Minute, 0, false, ""},
		"the second answers": {func(living string) []string { return []string{nobody, living} }, "*", time.Minute, 0, false, ""},
		"after a silent one": {func(living string) []string { return []string{silent.Addr().String(), living} }, "*", time.Minute, 2 * time.Second, false, ""},
		"nobody is there":    {func(string) []string { return []string{nobody} }, "*", time.Minute, 0, true, nobody + " cannot be reached"},
		"it is silent":       {func(string) []string { return []string{silent.Addr().String()} }, "*", 300 * time.Millisecond, 0, false, silent.Addr().String() + ": no answer within"},
		"a bad token":        {func(living string) []string { return []string{living} }, "bad", time.Hour, 0, false, " has ended the stream"},
		"another node":       {func(living string) []string { return []string{living} }, "other-*", time.Hour, 0, false, " has ended the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.Publish(all(t)...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			config := Config{
				Servers: c.servers(w.address), Token: func() (string, error) { return c.token, nil },
				Node: &core.Node{Id: "n1"}, Version: "1.0", Within: c.within,
			}
			if c.gone {
				second, err := net.Listen("tcp", "127.0.0.1:0")
				must(t, err)
				var accepting sync.WaitGroup
				accepting.Go(func() {
					if conn, err := second.Accept(); err == nil {
						cancel()
						_ = conn.Close()
					}
				})
				t.Cleanup(func() { _ = second.Close(); accepting.Wait() })
				config.Servers = append(config.Servers, second.Addr().String())
			}
			err := config.reachable(ctx, cmp.Or(c.share, config.share()))
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v, want %q", err, c.says)
			}
			if c.says == "" && w.streams(AgentBootstrap+" 1.0") == 0 {
				t.Error("no stream says that it is the bootstrap's")
			}
			if got := w.confirmed(); got != 0 {
				t.Errorf("the node has confirmed revision %d", got)
			}
		})
	}
}

// TestEachServerHasItsShare of the time, and no less than an attempt takes.
func TestEachServerHasItsShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		servers      int
		within, want time.Duration
	}{{1, 300 * time.Millisecond, 300 * time.Millisecond}, {1, time.Minute, time.Minute}, {2, 4 * time.Second, 2 * time.Second}, {5, 4 * time.Second, time.Second}} {
		if got := (Config{Servers: make([]string, c.servers), Within: c.within}).share(); got != c.want {
			t.Errorf("each of %d servers is asked for %s of %s, want %s", c.servers, got, c.within, c.want)
		}
	}
}

func TestStartable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"cds.json", "lds.json"} {
		if err := Startable(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) || !strings.Contains(err.Error(), "fairlead sync") {
			t.Errorf("without %s: %v", name, err)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(`{"resources": []}`), 0o600))
	}
	must(t, Startable(dir))
	for _, text := range []string{"", " ", `{"resources": [{"name": "a"`, "[]", "null", `{} {}`} { // as where a copy of the folder was cut off
		must(t, os.WriteFile(filepath.Join(dir, "cds.json"), []byte(text), 0o600))
		if err := Startable(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "cds.json")) || !strings.Contains(err.Error(), "fairlead sync") {
			t.Errorf("with %q: %v", text, err)
		}
	}
}
