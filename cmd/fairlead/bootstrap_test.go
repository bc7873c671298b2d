package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBootstrap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "envoy.yaml")
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"with a variable":   {[]string{"--node-id", "n1", "--xds", "xds.example.com:443"}, exitOK, []string{`"n1"`, "FAIRLEAD_TOKEN", "xds.example.com", "DELTA_GRPC"}},
		"plaintext":         {[]string{"--node-id", "n1", "--xds", "127.0.0.1:18000", "--plaintext", "--token-env", "T", "--sotw"}, exitOK, []string{"environment_variable: T", "api_type: GRPC"}},
		"a bad address":     {[]string{"--node-id", "n1", "--xds", "nowhere"}, exitFailed, []string{"nowhere"}},
		"no node":           {[]string{"--xds", "a:1"}, exitUsage, []string{"--node-id"}},
		"a file and no out": {[]string{"--node-id", "n1", "--xds", "a:1", "--token-file", "/t"}, exitUsage, []string{"--out"}},
		"a file":            {[]string{"--node-id", "n1", "--xds", "a:1", "--token-file", "/etc/token", "--out", out}, exitOK, nil},
	} {
		var printed bytes.Buffer
		code := run(t.Context(), &shell{out: &printed, err: &printed}, append([]string{"bootstrap"}, c.args...))
		if code != c.code {
			t.Errorf("%s: exit status %d, want %d: %s", name, code, c.code, printed.String())
		}
		for _, s := range c.says {
			if !strings.Contains(strings.ReplaceAll(printed.String(), `"T"`, "T"), s) {
				t.Errorf("%s: no %s in %s", name, s, printed.String())
			}
		}
	}
	for _, f := range []string{out, filepath.Join(dir, "fairlead_token.yaml")} {
		if b, err := os.ReadFile(f); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", f, len(b), err)
		}
	}
}
