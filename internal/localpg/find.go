package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead/internal/fetch"
	"fairlead/internal/fleet"
)

// MinMajor is the oldest major version that Fairlead runs on.
const MinMajor = 15

// FindConfig says where to look for Postgres.
type FindConfig struct {
	// Explicit is the directory that holds initdb and postgres; "" is $PG_BIN. If either
	// is set, nothing else is tried.
	Explicit string
	// CacheDir is where fetched binaries lie; "" is fetch.CacheDir.
	CacheDir string
	// Fetch allows to download binaries into CacheDir when none are found.
	Fetch bool
	// Progress is told what takes long, in whole sentences; nil is silence.
	Progress func(string)
}

// systemDirs are where packagers put Postgres when it is not on PATH, as glob patterns.
var systemDirs = []string{
	"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
	"/usr/pgsql-*/bin",                  // Red Hat
	"/opt/homebrew/opt/postgresql*/bin", // macOS, arm64
	"/usr/local/opt/postgresql*/bin",    // macOS, x64
}

// Find returns the directory of a Postgres of version 15 or later: the explicit one, the
// one on PATH, the newest of the system's, a fetched one. The error of a search in vain
// names every way to get one.
func Find(ctx context.Context, c FindConfig) (string, error) {
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	explicit := c.Explicit
	if explicit == "" {
		explicit = os.Getenv("PG_BIN")
	}
	if explicit != "" {
		bin, err := checked(ctx, explicit)
		if err != nil {
			return "", fmt.Errorf("PG_BIN must name a directory with initdb and postgres of version %d or later: %w", MinMajor, err)
		}
		return bin, nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			if bin, err := checked(ctx, filepath.Dir(target)); err == nil {
				return bin, nil
			}
		}
	}
	if bin := newest(ctx, systemDirs); bin != "" {
		return bin, nil
	}
	why := "fetching is switched off"
	if c.CacheDir == "" {
		var err error
		if c.CacheDir, err = fetch.CacheDir(); err != nil {
			return "", err
		}
	}
	if bin := cached(ctx, c.CacheDir); bin != "" {
		return bin, nil
	}
	if c.Fetch {
		bin, err := fetchBinaries(ctx, c)
		if err == nil {
			return bin, nil
		}
		why = err.Error()
	}
	return "", fmt.Errorf("no Postgres %d or later found: install one (for instance Debian's package postgresql, or "+
		"brew install postgresql), or name the directory of its initdb and postgres in PG_BIN, or put it on PATH, "+
		"or have Python 3 with pip or Node with npm so that it can be fetched (%s): %w", MinMajor, why, fleet.ErrUnavailable)
}

// checked returns dir if it holds the programs of a good version.
func checked(ctx context.Context, dir string) (string, error) {
	major, err := majorOf(ctx, dir)
	if err != nil {
		return "", err
	}
	if major < MinMajor {
		return "", fmt.Errorf("the Postgres in %s is version %d, needed is %d or later: %w", dir, major, MinMajor, fleet.ErrInvalid)
	}
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return "", fmt.Errorf("%s holds no initdb: %w", dir, fleet.ErrInvalid)
	}
	return dir, nil
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// majorOf asks the binary, because a directory's name may say anything.
func majorOf(ctx context.Context, dir string) (int, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, fmt.Errorf("ask the postgres in %s for its version: %w", dir, err)
	}
	m := versionText.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("the postgres in %s says %q, which is no version: %w", dir, strings.TrimSpace(string(out)), fleet.ErrInvalid)
	}
	return strconv.Atoi(string(m[1]))
}

// newest returns the directory of the highest good version, "" if there is none.
func newest(ctx context.Context, patterns []string) string {
	type candidate struct {
		dir   string
		major int
	}
	var all []candidate
	for _, pattern := range patterns {
		dirs, _ := filepath.Glob(pattern) // the one error is a bad pattern
		for _, dir := range dirs {
			if _, err := checked(ctx, dir); err != nil {
				continue
			}
			if major, err := majorOf(ctx, dir); err == nil {
				all = append(all, candidate{dir, major})
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, func(a, b candidate) int { return a.major - b.major }).dir
}
