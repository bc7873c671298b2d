package localpg

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/internal/childproc"
	"fairlead/internal/fleet"
)

// hideSystem makes the search blind for what the machine has. Tests that use it are not
// parallel.
func hideSystem(t *testing.T) {
	t.Helper()
	old := systemDirs
	systemDirs = nil
	t.Cleanup(func() { systemDirs = old })
	t.Setenv("PG_BIN", "")
	t.Setenv("PATH", t.TempDir())
}

func fakePostgres(t *testing.T, dir, version string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"postgres": "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n", "initdb": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoPostgresNamesEveryWay(t *testing.T) {
	hideSystem(t)
	_, err := Find(t.Context(), FindConfig{CacheDir: t.TempDir(), Fetch: true})
	if !errors.Is(err, fleet.ErrUnavailable) {
		t.Fatalf("err = %v", err)
	}
	for _, way := range []string{"PG_BIN", "PATH", "postgresql", "brew", "pip", "npm", "python3 is not installed", "npm is not installed"} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("the error does not name %q: %v", way, err)
		}
	}
}

func TestNewestOfTheSystem(t *testing.T) {
	hideSystem(t)
	root := t.TempDir()
	for _, v := range []string{"9.6", "15.1", "16.2", "14.9"} {
		fakePostgres(t, filepath.Join(root, v, "bin"), v)
	}
	systemDirs = []string{filepath.Join(root, "*", "bin")}
	if got, err := Find(t.Context(), FindConfig{}); err != nil || got != filepath.Join(root, "16.2", "bin") {
		t.Errorf("found %q, %v", got, err)
	}
}

func TestCachedBinariesNeedNoFetch(t *testing.T) {
	hideSystem(t)
	cache := t.TempDir()
	want := wheelBin(wheelDir(cache))
	fakePostgres(t, want, "18.4")
	if got, err := Find(t.Context(), FindConfig{CacheDir: cache}); err != nil || got != want {
		t.Errorf("found %q, %v", got, err)
	}
}

func TestLinkLibraries(t *testing.T) {
	t.Parallel()
	native := filepath.Join(t.TempDir(), "native")
	if err := os.MkdirAll(filepath.Join(native, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(native, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("lib/libpq.so.5.18", "library")
	write("pg-symlinks.json", `[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]`)
	for range 2 { // a second time changes nothing
		if err := linkLibraries(native); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(native, "lib", "libpq.so.5")); err != nil || string(text) != "library" {
		t.Errorf("through the link: %q, %v", text, err)
	}
	write("pg-symlinks.json", `[{"source":"../../etc/passwd","target":"native/lib/x"}]`)
	if err := linkLibraries(native); !errors.Is(err, fleet.ErrInvalid) {
		t.Errorf("a link that leaves the package: %v", err)
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	if err := os.MkdirAll(filepath.Join(closed, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := &childproc.Credential{UID: 54321, GID: 54321}
	err := reachable(filepath.Join(closed, "data"), stranger, "the data directory")
	if !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "may not enter") {
		t.Errorf("err = %v", err)
	}
	if err := reachable("/", stranger, "everything"); err != nil {
		t.Errorf("the root directory: %v", err)
	}
	if err := reachable(closed, nil, "ours"); err != nil {
		t.Errorf("our own user: %v", err)
	}
}

// The walk of a process that is killed between two starts.
func TestPasswordIsKept(t *testing.T) {
	t.Parallel()
	l := &layout{base: t.TempDir()}
	first, err := l.password()
	if err != nil || len(first) < 20 {
		t.Fatalf("password %q, %v", first, err)
	}
	if second, err := l.password(); err != nil || second != first {
		t.Errorf("second %q, %v", second, err)
	}
	info, err := os.Stat(filepath.Join(l.base, passwordName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestNoNetworkNamesEveryWay lets pip and npm try, as far as there are any, through a
// proxy where nobody listens.
func TestNoNetworkNamesEveryWay(t *testing.T) {
	var path []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err != nil {
			path = append(path, dir)
		}
	}
	hideSystem(t)
	t.Setenv("PATH", strings.Join(path, string(filepath.ListSeparator)))
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := "http://" + lis.Addr().String()
	_ = lis.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "PIP_PROXY", "NPM_CONFIG_PROXY", "NPM_CONFIG_HTTPS_PROXY"} {
		t.Setenv(name, proxy)
		t.Setenv(strings.ToLower(name), proxy)
	}
	for name, value := range map[string]string{
		"NO_PROXY": "", "no_proxy": "", "NPM_CONFIG_NOPROXY": "", "npm_config_noproxy": "",
		"PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1", "PIP_CONFIG_FILE": os.DevNull,
		"npm_config_fetch_retries": "0", "npm_config_cache": t.TempDir(), "npm_config_userconfig": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	_, err = Find(t.Context(), FindConfig{CacheDir: t.TempDir(), Fetch: true})
	if !errors.Is(err, fleet.ErrUnavailable) {
		t.Fatalf("err = %v", err)
	}
	for _, way := range []string{"PG_BIN", "PATH", "postgresql", "brew", "python3", "npm"} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("the error does not name %q: %v", way, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is more than one line: %v", err)
	}
}
