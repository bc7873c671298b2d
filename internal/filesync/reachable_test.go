package filesync

import (
	"net"
	"os"
	"path/filepath"
	"strings"
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
		says    string // "": it answers
	}{
		"it answers":         {func(living string) []string { return []string{living} }, "*", time.Minute, ""},
		"the second answers": {func(living string) []string { return []string{nobody, living} }, "*", time.Minute, ""},
		"after a silent one": {func(living string) []string { return []string{silent.Addr().String(), living} }, "*", 4 * time.Second, ""},
		"nobody is there":    {func(string) []string { return []string{nobody} }, "*", 3 * time.Second, nobody + ": the server cannot be reached"},
		"it is silent":       {func(string) []string { return []string{silent.Addr().String()} }, "*", 300 * time.Millisecond, silent.Addr().String() + ": no answer within"},
		"a bad token":        {func(living string) []string { return []string{living} }, "bad", time.Hour, "the server has ended the stream"},
		"another node":       {func(living string) []string { return []string{living} }, "other-*", time.Hour, "the server has ended the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.Publish(all(t)...)
			err := Reachable(t.Context(), Config{
				Servers: c.servers(w.address), Token: func() (string, error) { return c.token, nil },
				Node: &core.Node{Id: "n1"}, Version: "1.0", Within: c.within,
			})
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

func TestStartable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"cds.yaml", "lds.yaml"} {
		if err := Startable(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) || !strings.Contains(err.Error(), "fairlead sync") {
			t.Errorf("without %s: %v", name, err)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must(t, Startable(dir))
}
