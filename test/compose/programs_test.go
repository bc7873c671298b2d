package compose

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestComposeKnowsItsPrograms: each program of docker-compose.yml knows the flags and variables that it is given.
func TestComposeKnowsItsPrograms(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", bin, "./cmd/api", "./cmd/xds", "./cmd/fairlead")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, out)
	}
	checked := 0
	for name, s := range project(t).Services {
		if s.Image != "fairlead:local" {
			continue
		}
		var words, flags []string
		for _, arg := range append(s.Entrypoint, s.Command...) {
			if strings.HasPrefix(arg, "--") {
				flag, _, _ := strings.Cut(arg, "=")
				flags = append(flags, flag)
			} else {
				words = append(words, arg)
			}
		}
		if len(s.Entrypoint) > 0 { // what follows is a person's
			words = append(words, "nodes")
		}
		help, err := exec.Command(filepath.Join(bin, words[0]), append(words[1:], "--help")...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v --help: %v\n%s", name, words, err, help)
			continue
		}
		for variable := range s.Environment {
			if variable == "GOMEMLIMIT" || variable == "SSL_CERT_FILE" { // Go's own
				continue
			}
			flags = append(flags, "$"+variable)
		}
		for _, flag := range flags {
			if !regexp.MustCompile(regexp.QuoteMeta(flag) + `\b`).Match(help) {
				t.Errorf("%s: %v knows no %s:\n%s", name, words, flag, help)
			}
		}
		checked++
	}
	if checked < 10 {
		t.Errorf("checked %d services of our own image, there are more", checked)
	}
}
