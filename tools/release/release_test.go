package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
)

const root = "../.."

// version is one that the changelog need not know yet.
const version = "1.2.3-rc.1"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// call runs a program, which has to end with 0.
func call(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// checkout is a copy of the tree, in a repository of its own with one commit, which is the same each time.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		switch {
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || name == "bin" || name == "dist" || name == "docs/screenshots"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, name), 0o755)
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") && name != ".gitignore" && d.Name() != ".helmignore":
			return nil
		}
		return copyTo(path, filepath.Join(dir, name))
	}))
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "a release"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=nobody", "-c", "user.email=nobody@example.com", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// unpack returns what is in an archive, by name without the folder that all is in, and writes it into dir.
func unpack(t *testing.T, path, folder, dir string) map[string]*tar.Header {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	all := map[string]*tar.Header{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		name, in := strings.CutPrefix(h.Name, folder+"/")
		if !in {
			t.Fatalf("%s has %s beside the folder %s", path, h.Name, folder)
		}
		text, err := io.ReadAll(r)
		must(t, err)
		all[name] = h
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), text, h.FileInfo().Mode()))
	}
}

// TestRelease builds one platform twice, in two folders: the same bytes, that hold and say what they should.
func TestRelease(t *testing.T) {
	t.Parallel()
	host := runtime.GOOS + "/" + runtime.GOARCH
	var outs, trees []string
	for range 2 {
		tree, out := checkout(t), filepath.Join(t.TempDir(), "dist")
		must(t, Release(t.Context(), Config{Version: version, Root: tree, Out: out, Platforms: []string{host}}))
		outs, trees = append(outs, out), append(trees, tree)
	}
	out := outs[0]
	commit := strings.TrimSpace(call(t, trees[0], "git", "rev-parse", "HEAD"))
	if first, second := read(t, filepath.Join(out, "SHA256SUMS")), read(t, filepath.Join(outs[1], "SHA256SUMS")); first != second {
		t.Errorf("two builds of one commit differ:\n%s\n%s", first, second)
	}
	call(t, out, "sha256sum", "--check", "--strict", "SHA256SUMS")
	name := "fairlead_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH
	dir := t.TempDir()
	files := unpack(t, filepath.Join(out, name+".tar.gz"), name, dir)
	want := []string{"LICENSE", "README.md", "CHANGELOG.md", "fairlead.spdx.json", "share/man/man1/fairlead.1", "share/man/man1/fairlead-apply.1", "share/man/man8/fairlead-api.8", "share/man/man8/fairlead-api-serve.8", "share/man/man8/fairlead-xds.8", "share/bash-completion/completions/fairlead", "share/zsh/site-functions/_fairlead", "share/fish/vendor_completions.d/fairlead.fish"}
	for _, p := range programs {
		want = append(want, "bin/"+p)
	}
	for _, n := range want {
		h := files[n]
		if h == nil {
			t.Errorf("the archive has no %s", n)
			continue
		}
		if runs := strings.HasPrefix(n, "bin/"); h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(files["LICENSE"].ModTime) || h.FileInfo().Mode().Perm() != map[bool]fs.FileMode{true: 0o755, false: 0o644}[runs] {
			t.Errorf("%s: %+v", n, h)
		}
	}
	t.Run("says its version", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ program, arg, want string }{
			{"fairlead", "version", "fairlead " + version + ", commit " + commit + ", " + runtime.Version() + "\n"}, {"api", "--version", "api " + version + "\n"}, {"xds", "--version", "xds " + version + "\n"},
		} {
			if got := call(t, dir, filepath.Join(dir, "bin", c.program), c.arg); got != c.want {
				t.Errorf("%s %s says %q, want %q", c.program, c.arg, got, c.want)
			}
		}
	})
	t.Run("has a manual", func(t *testing.T) {
		t.Parallel()
		checkManual(t, dir)
	})
	t.Run("tells its modules", func(t *testing.T) {
		t.Parallel()
		checkBOM(t, filepath.Join(out, name+".spdx.json"), dir)
	})
	if runtime.GOOS == "linux" {
		t.Run("is a Debian package", func(t *testing.T) {
			t.Parallel()
			checkDeb(t, filepath.Join(out, "fairlead_"+strings.Replace(version, "-", "~", 1)+"_"+runtime.GOARCH+".deb"))
		})
	}
	t.Run("tells where it is from", func(t *testing.T) {
		t.Parallel()
		checkProvenance(t, out, commit)
	})
	charts := t.TempDir()
	packed := unpack(t, filepath.Join(out, "fairlead-"+version+".tgz"), "fairlead", charts)
	if meta := read(t, filepath.Join(charts, "Chart.yaml")); !strings.Contains(meta, "\nversion: "+version+"\nappVersion: "+version+"\n") || packed["templates/api.yaml"] == nil || packed["ci/full-values.yaml"] != nil || packed["tests/api_test.yaml"] != nil {
		t.Errorf("the chart is of another version, or has other files:\n%s", meta)
	}
	if got := read(t, filepath.Join(out, "fairlead_"+version+".changes.md")); !strings.Contains(read(t, filepath.Join(root, "CHANGELOG.md")), got) || len(got) < 100 {
		t.Errorf("what changed is no section of the changelog: %.200q", got)
	}
	if err := Release(t.Context(), Config{Version: version, Root: trees[0], Out: out, Platforms: []string{host}}); err == nil || !strings.Contains(err.Error(), "remove what an earlier release left") {
		t.Errorf("into a folder that is not empty: %v", err)
	}
}

// checkManual reads the pages as mandoc does: it warns of what is no man(7). Every command has one.
func checkManual(t *testing.T, dir string) {
	pages, err := filepath.Glob(filepath.Join(dir, "share", "man", "man*", "*"))
	must(t, err)
	cmd := exec.Command("mandoc", append([]string{"-T", "lint", "-W", "warning"}, pages...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
	commands := strings.Fields(call(t, dir, filepath.Join(dir, "bin", "fairlead"), "__complete", ""))
	for _, c := range commands {
		if _, err := os.Stat(filepath.Join(dir, "share", "man", "man1", "fairlead-"+c+".1")); err != nil {
			t.Errorf("%s has no page", c)
		}
	}
	if len(commands) < 20 || len(pages) < len(commands)+4 {
		t.Errorf("%d pages of %d commands", len(pages), len(commands))
	}
}

// checkBOM compares what is told with what Go's linker has noted.
func checkBOM(t *testing.T, path, dir string) {
	doc, err := spdxjson.Read(strings.NewReader(read(t, path)))
	must(t, err)
	must(t, spdxlib.ValidateDocument(doc))
	purls, sums := map[string]bool{}, map[string]string{}
	for _, p := range doc.Packages {
		for _, ref := range p.PackageExternalReferences {
			if purls[ref.Locator] {
				t.Errorf("%s stands there twice", ref.Locator)
			}
			purls[ref.Locator] = true
		}
		for _, s := range p.PackageChecksums {
			sums[p.PackageName] = s.Value
		}
	}
	for _, p := range programs {
		hash, err := sum(filepath.Join(dir, "bin", p))
		must(t, err)
		if sums[p] != hash {
			t.Errorf("%s is %s, and told as %s", p, hash, sums[p])
		}
		info, err := buildinfo.ReadFile(filepath.Join(dir, "bin", p))
		must(t, err)
		for _, m := range info.Deps {
			if m.Path == "fairlead/clients/go" {
				continue // of the same repository
			}
			if purl := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B"); !purls[purl] {
				t.Errorf("%s has %s, which is not told", p, purl)
			}
		}
	}
	for _, purl := range []string{"pkg:golang/stdlib@" + strings.TrimPrefix(runtime.Version(), "go"), "pkg:npm/react@", "pkg:npm/%40mantine/core@"} {
		found := false
		for p := range purls {
			found = found || strings.HasPrefix(p, purl)
		}
		if !found {
			t.Errorf("%s is not told", purl)
		}
	}
}

func checkProvenance(t *testing.T, out, commit string) {
	var s statement
	d := json.NewDecoder(strings.NewReader(read(t, filepath.Join(out, "fairlead_"+version+".provenance.json"))))
	d.DisallowUnknownFields()
	must(t, d.Decode(&s))
	told := map[string]string{}
	for _, x := range s.Subject {
		told[x.Name] = x.Digest["sha256"]
	}
	for line := range strings.Lines(read(t, filepath.Join(out, "SHA256SUMS"))) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !strings.HasSuffix(name, ".provenance.json") && told[name] != hash {
			t.Errorf("%s is %s, and told as %q", name, hash, told[name])
		}
	}
	if got := fmt.Sprint(s.Predicate.BuildDefinition.ResolvedDependencies); !strings.Contains(got, commit) {
		t.Errorf("the commit %s is not told: %s", commit, got)
	}
}

// Nothing is built of what nobody could build again, or read about.
func TestRefused(t *testing.T) {
	t.Parallel()
	repository := func(t *testing.T, changelog string) string {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(changelog), 0o644))
		call(t, dir, "git", "init", "-q")
		call(t, dir, "git", "add", "-A")
		call(t, dir, "git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.com", "commit", "-q", "-m", "one")
		return dir
	}
	for name, c := range map[string]struct {
		version, platform string
		change            bool
		changelog, want   string
	}{
		"no version":     {"", "linux/amd64", false, "", `VERSION is ""`},
		"a v":            {"v1.2.3", "linux/amd64", false, "", "give three numbers, such as 1.2.3"},
		"two numbers":    {"1.2", "linux/amd64", false, "", "give three numbers"},
		"a flag":         {"1.2.3 -X main.x=y", "linux/amd64", false, "", "give three numbers"},
		"a build":        {"1.2.3+5", "linux/amd64", false, "", "give three numbers"},
		"no platform":    {"1.2.3", "plan9/amd64", false, "", `-platforms has "plan9/amd64"`},
		"a change":       {"1.2.3", "linux/amd64", true, "## 1.2.3\n\n- x\n", "not committed"},
		"not told":       {"1.2.3", "linux/amd64", false, "## Unreleased\n\n- x\n", `no section "## 1.2.3"`},
		"nothing is new": {"1.2.3-rc.1", "linux/amd64", false, "## Unreleased\n\n## 1.2.2\n\n- x\n", `no section "## 1.2.3-rc.1"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, c.changelog)
			if c.change {
				must(t, os.WriteFile(filepath.Join(dir, "more"), nil, 0o644))
			}
			err := Release(t.Context(), Config{Version: c.version, Root: dir, Out: filepath.Join(dir, "dist"), Platforms: []string{c.platform}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestWithoutGitTheTimeIsAsked(t *testing.T) {
	dir := t.TempDir()
	c := Config{Version: version, Root: dir, Platforms: []string{"linux/amd64"}}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	t.Setenv("SOURCE_DATE_EPOCH", "")
	if _, err := check(context.Background(), c); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("%v", err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	if got, err := check(context.Background(), c); err != nil || got.date.Unix() != 1_700_000_000 || got.commit != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSection(t *testing.T) {
	t.Parallel()
	text := "# Changelog\n\n## Unreleased\n\n- new\n\n### Fixed\n\n- bug\n\n## 1.1.0 (2026-01-02)\n\n- old\n\n## 1.0.0\n"
	for title, want := range map[string]string{"Unreleased": "- new\n\n### Fixed\n\n- bug\n", "1.1.0": "- old\n", "1.1": "", "1.0.0": "", "2.0.0": ""} {
		if got := section(text, title); got != want {
			t.Errorf("%s: %q, want %q", title, got, want)
		}
	}
}

// An archive depends on nothing but names and contents.
func TestArchive(t *testing.T) {
	t.Parallel()
	var all [][]byte
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		dir := t.TempDir()
		var files []file
		for _, n := range order {
			must(t, os.WriteFile(filepath.Join(dir, n), []byte(n), 0o600))
			files = append(files, file{name: n, from: filepath.Join(dir, n)})
		}
		tr, err := check(t.Context(), Config{Version: version, Root: root, AllowChanges: true})
		must(t, err)
		must(t, archive(filepath.Join(dir, "x.tar.gz"), "x", files, tr.date))
		all = append(all, []byte(read(t, filepath.Join(dir, "x.tar.gz"))))
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("the order of files, or who made them when, is in the archive")
	}
}
