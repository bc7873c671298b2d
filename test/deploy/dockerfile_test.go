package deploy

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// instruction is one line of a Dockerfile, continued lines joined.
type instruction struct{ stage, word, rest string }

func dockerfile(t *testing.T) []instruction {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var all []instruction
	stage := ""
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if word == "FROM" {
			_, stage, _ = strings.Cut(rest, " AS ")
		}
		all = append(all, instruction{stage, word, rest})
	}
	return all
}

// buildContext copies what an image build would see, as .dockerignore says.
func buildContext(t *testing.T) string {
	t.Helper()
	f, err := os.Open(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	patterns, err := ignorefile.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if skip, err := ignored.MatchesOrParentMatches(name); err != nil || skip {
			return err
		}
		return copyFile(path, filepath.Join(to, name))
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// build runs the build stage's commands, but for the download of modules, in a copy of
// the build context, and returns what stands for /out.
func build(t *testing.T) string {
	t.Helper()
	src, out := buildContext(t), filepath.Join(t.TempDir(), "out")
	env := os.Environ()
	ran := 0
	for _, i := range dockerfile(t) {
		if i.stage != "build" {
			continue
		}
		switch {
		case i.word == "ENV":
			env = append(env, strings.Fields(i.rest)...)
		case i.word == "RUN" && i.rest != "go mod download":
			cmd := exec.Command("sh", "-c", strings.ReplaceAll(i.rest, "/out", out))
			cmd.Dir, cmd.Env = src, env
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("RUN %s: %v\n%s", i.rest, err, text)
			}
			ran++
		}
	}
	if ran == 0 {
		t.Fatal("the Dockerfile has no build step")
	}
	return out
}

func TestImage(t *testing.T) {
	t.Parallel()
	out := build(t)
	t.Run("holds what it copies", func(t *testing.T) {
		t.Parallel()
		for _, i := range dockerfile(t) {
			if i.word != "COPY" || !strings.Contains(i.rest, "--from=build") {
				continue
			}
			fields := slices.DeleteFunc(strings.Fields(i.rest), func(s string) bool { return strings.HasPrefix(s, "--") })
			if source, ok := strings.CutPrefix(fields[0], "/out"); ok {
				if _, err := os.Stat(filepath.Join(out, source)); err != nil {
					t.Errorf("COPY %s: %v", i.rest, err)
				}
			}
		}
	})
	t.Run("tells its programs", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile(filepath.Join(out, "doc", "fairlead.spdx.json"))
		if err != nil {
			t.Fatal(err)
		}
		programs, err := os.ReadDir(filepath.Join(out, "bin"))
		if err != nil || len(programs) == 0 {
			t.Fatal(programs, err)
		}
		for _, p := range programs {
			program, err := os.ReadFile(filepath.Join(out, "bin", p.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if hash := fmt.Sprintf("%x", sha256.Sum256(program)); !strings.Contains(string(text), hash) {
				t.Errorf("the SPDX document has no %s, which is %s", p.Name(), hash)
			}
		}
	})
	t.Run("does not run as root", func(t *testing.T) {
		t.Parallel()
		steps := dockerfile(t)
		at := slices.IndexFunc(steps, func(i instruction) bool { return i.stage == "" && i.word == "USER" })
		if at < 0 || !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(steps[at].rest) {
			t.Error("the last stage has no USER with a number, which is what an orchestrator can check")
		}
	})
	t.Run("is static", func(t *testing.T) {
		t.Parallel()
		// Nothing is in the image that could load a library.
		text, err := os.ReadFile(filepath.Join(out, "bin", "xds"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "/ld-linux") {
			t.Error("xds names a dynamic loader")
		}
	})
}
