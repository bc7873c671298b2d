package localenvoy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
)

const goodVersion = "envoy  version: 0123abc/1.40.0/Clean/RELEASE/BoringSSL"

// fakeEnvoy is a program that says that it is Envoy, or something else.
func fakeEnvoy(t *testing.T, path, says string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindOrder(t *testing.T) {
	t.Setenv("ENVOY_BIN", "")
	t.Setenv("ENVOY_VERSION", "")
	cache, onPath := t.TempDir(), t.TempDir()
	t.Setenv("PATH", onPath)
	find := func(want string) {
		t.Helper()
		if got, err := localenvoy.Find(t.Context(), localenvoy.FindConfig{CacheDir: cache}); err != nil || got != want {
			t.Errorf("found %q, %v, want %q", got, err, want)
		}
	}
	find(fakeEnvoy(t, filepath.Join(onPath, "envoy"), goodVersion))
	find(fakeEnvoy(t, filepath.Join(cache, "envoy-1.40.0", "envoy", "_bin", "envoy"), goodVersion))
	named := fakeEnvoy(t, filepath.Join(t.TempDir(), "envoy"), goodVersion)
	t.Setenv("ENVOY_BIN", named)
	find(named)

	t.Setenv("ENVOY_BIN", "")
	t.Setenv("ENVOY_VERSION", "1.36")
	find(fakeEnvoy(t, filepath.Join(cache, "envoy-1.36.4", "envoy", "_bin", "envoy"), goodVersion))
	t.Setenv("ENVOY_VERSION", "1.37") // the one on PATH may be any
	if got, err := localenvoy.Find(t.Context(), localenvoy.FindConfig{CacheDir: cache}); !errors.Is(err, fleet.ErrUnavailable) {
		t.Errorf("asked for 1.37, found %q, %v", got, err)
	}
	t.Setenv("ENVOY_VERSION", "1.2")
	if got, err := localenvoy.Find(t.Context(), localenvoy.FindConfig{CacheDir: cache}); !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "ENVOY_VERSION") {
		t.Errorf("asked for 1.2, found %q, %v", got, err)
	}

	t.Setenv("ENVOY_BIN", named)
	fakeEnvoy(t, named, "this is no Envoy")
	_, err := localenvoy.Find(t.Context(), localenvoy.FindConfig{CacheDir: cache})
	if !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "ENVOY_BIN") {
		t.Errorf("a wrong ENVOY_BIN: %v", err)
	}
}

func TestNoEnvoyNamesEveryWay(t *testing.T) {
	t.Setenv("ENVOY_BIN", "")
	t.Setenv("PATH", t.TempDir())
	_, err := localenvoy.Find(t.Context(), localenvoy.FindConfig{CacheDir: t.TempDir(), Fetch: true})
	if !errors.Is(err, fleet.ErrUnavailable) {
		t.Fatalf("err = %v", err)
	}
	for _, way := range []string{"ENVOY_BIN", "PATH", "pip", "container image", "python3 is not installed"} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("the error does not name %q: %v", way, err)
		}
	}
}
