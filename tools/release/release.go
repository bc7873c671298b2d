package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/tools/release/bom"
)

// Config is one release.
type Config struct {
	Version      string
	Root, Out    string
	Platforms    []string // such as linux/amd64
	AllowChanges bool
}

// semver is a version without the v: https://semver.org, without what is behind a +, which Debian and OCI take for other things.
var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*)?$`)

// tree is the source that is released.
type tree struct {
	Config
	commit string    // "" without git
	date   time.Time // of the commit; all files have it
	work   string    // a folder for what is not published
}

// bin is where the programs of a platform are built.
func (t *tree) bin(platform string) string {
	return filepath.Join(t.work, "bin", strings.ReplaceAll(platform, "/", "_"))
}

// Release builds c into c.Out, which has to be empty or not there.
func Release(ctx context.Context, c Config) error {
	t, err := check(ctx, c)
	if err != nil {
		return err
	}
	changes, err := t.changes()
	if err != nil {
		return err
	}
	if t.work, err = os.MkdirTemp("", "fairlead-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(t.work)
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return err
	}
	left, err := os.ReadDir(c.Out)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%s holds %s: remove what an earlier release left there", c.Out, left[0].Name())
	}
	share, err := t.share(ctx, filepath.Join(t.work, "share"))
	if err != nil {
		return err
	}
	for _, p := range c.Platforms {
		if err := t.platform(ctx, p, share); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if err := t.chart(); err != nil {
		return err
	}
	if err := t.write("fairlead_"+t.Version+".changes.md", changes); err != nil {
		return err
	}
	if err := t.provenance(ctx); err != nil {
		return err
	}
	return t.checksums()
}

// check finds what is wrong with a release before anything is built.
func check(ctx context.Context, c Config) (*tree, error) {
	if !semver.MatchString(c.Version) {
		return nil, fmt.Errorf("VERSION is %q: give three numbers, such as 1.2.3, or 1.2.3-rc.1 before it", c.Version)
	}
	for _, p := range c.Platforms {
		if !slices.Contains(strings.Split(platforms, ","), p) {
			return nil, fmt.Errorf("-platforms has %q: give some of %s", p, platforms)
		}
	}
	t := &tree{Config: c}
	var err error
	for _, dir := range []*string{&t.Root, &t.Out} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return nil, err
		}
	}
	if commit, err := t.git(ctx, "rev-parse", "HEAD"); err == nil {
		t.commit = commit
	}
	if t.commit != "" && !c.AllowChanges {
		changed, err := t.git(ctx, "status", "--porcelain")
		if err != nil {
			return nil, err
		}
		if changed != "" {
			return nil, fmt.Errorf("the tree has changes that are not committed: commit them, as nobody could build this again\n%s", changed)
		}
	}
	t.date, err = t.when(ctx)
	return t, err
}

// when is SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch), else the time of the commit.
func (t *tree) when(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" && t.commit != "" {
		var err error
		if text, err = t.git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, errors.New("the tree is not a git repository, so nothing says of when it is: set SOURCE_DATE_EPOCH to seconds since 1970")
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func (t *tree) git(ctx context.Context, args ...string) (string, error) {
	out, err := t.run(ctx, nil, "git", args...)
	return strings.TrimSpace(string(out)), err
}

// run runs a program in the source tree, and returns what it printed.
func (t *tree) run(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = t.Root, append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.Bytes(), nil
}

// programs are what is built. A server has a name of its own in man pages and on a machine's path.
var programs = []string{"api", "fairlead", "probe", "xds"}

// goEnv is all that a build may depend on beside the source and the version of Go.
var goEnv = []string{"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off", "GO111MODULE=on"}

// build compiles the programs for a platform into dir.
func (t *tree) build(ctx context.Context, platform, dir string) error {
	goos, arch, _ := strings.Cut(platform, "/")
	args := []string{"build", "-trimpath", "-buildvcs=" + strconv.FormatBool(t.commit != ""), "-ldflags", "-s -w -X fairlead/cmd/internal/run.release=" + t.Version, "-o", dir + string(filepath.Separator)}
	for _, p := range programs {
		args = append(args, "./cmd/"+p)
	}
	_, err := t.run(ctx, append([]string{"GOOS=" + goos, "GOARCH=" + arch}, goEnv...), "go", args...)
	return err
}

// share makes what is the same on every platform: man pages and completions, which the programs write themselves.
func (t *tree) share(ctx context.Context, dir string) ([]file, error) {
	host := runtime.GOOS + "/" + runtime.GOARCH
	bin, man := t.bin(host), filepath.Join(dir, "man")
	for _, d := range []string{bin, man} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	if err := t.build(ctx, host, bin); err != nil {
		return nil, err
	}
	for _, p := range []string{"fairlead", "api", "xds"} {
		if _, err := t.run(ctx, nil, filepath.Join(bin, p), "__man", man, t.date.Format(time.DateOnly)); err != nil {
			return nil, err
		}
	}
	pages, err := os.ReadDir(man)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, p := range pages {
		section := strings.TrimPrefix(filepath.Ext(p.Name()), ".")
		files = append(files, file{name: "share/man/man" + section + "/" + p.Name(), from: filepath.Join(man, p.Name())})
	}
	for shell, name := range map[string]string{
		"bash": "share/bash-completion/completions/fairlead", "zsh": "share/zsh/site-functions/_fairlead", "fish": "share/fish/vendor_completions.d/fairlead.fish",
	} {
		text, err := t.run(ctx, nil, filepath.Join(bin, "fairlead"), "completion", shell)
		if err != nil {
			return nil, err
		}
		from := filepath.Join(dir, "completion."+shell)
		if err := os.WriteFile(from, text, 0o644); err != nil {
			return nil, err
		}
		files = append(files, file{name: name, from: from})
	}
	return files, nil
}

// platform writes the archive of a platform, and what it holds.
func (t *tree) platform(ctx context.Context, platform string, share []file) error {
	bin := t.bin(platform)
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	if err := t.build(ctx, platform, bin); err != nil {
		return err
	}
	name := "fairlead_" + t.Version + "_" + strings.ReplaceAll(platform, "/", "_")
	document := filepath.Join(bin, "fairlead.spdx.json")
	if err := bom.Write(bom.Config{Name: name, Version: t.Version, Created: t.date, Root: t.Root, Bin: bin, Programs: programs, In: "bin"}, document); err != nil {
		return err
	}
	files := slices.Clone(share)
	for _, p := range programs {
		files = append(files, file{name: "bin/" + p, from: filepath.Join(bin, p), mode: 0o755})
	}
	for _, p := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		files = append(files, file{name: p, from: filepath.Join(t.Root, p)})
	}
	files = append(files, file{name: "fairlead.spdx.json", from: document})
	if err := copyTo(document, filepath.Join(t.Out, name+".spdx.json")); err != nil {
		return err
	}
	if err := archive(filepath.Join(t.Out, name+".tar.gz"), name, files, t.date); err != nil {
		return err
	}
	if arch, linux := strings.CutPrefix(platform, "linux/"); linux {
		return t.deb(arch, bin, share)
	}
	return nil
}

func (t *tree) write(name string, text []byte) error {
	return os.WriteFile(filepath.Join(t.Out, name), text, 0o644)
}

func copyTo(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// published are the files of the release so far, by name, with their SHA-256.
func (t *tree) published() (names []string, sums map[string]string, err error) {
	all, err := os.ReadDir(t.Out)
	if err != nil {
		return nil, nil, err
	}
	sums = map[string]string{}
	for _, f := range all {
		if sums[f.Name()], err = sum(filepath.Join(t.Out, f.Name())); err != nil {
			return nil, nil, err
		}
		names = append(names, f.Name())
	}
	return names, sums, nil
}

func sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// checksums writes SHA256SUMS, as sha256sum --check reads it.
func (t *tree) checksums() error {
	names, sums, err := t.published()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, n := range names {
		fmt.Fprintf(&b, "%s  %s\n", sums[n], n)
	}
	return t.write("SHA256SUMS", b.Bytes())
}
