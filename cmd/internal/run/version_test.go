package run

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestVersionOfTheProgram(t *testing.T) {
	t.Parallel()
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3": {Main: debug.Module{Version: "v1.2.3"}, Settings: commit},
		"abc":    {Main: debug.Module{Version: "(devel)"}, Settings: commit},
		"":       {},
	} {
		if got := version("", info, true); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := version("1.3.0", info, true); got != "1.3.0" {
			t.Errorf("a release says %q", got)
		}
	}
	if got := version("", nil, false); got != "" {
		t.Errorf("of nothing known: %q", got)
	}
	if got := version("1.3.0", nil, false); got != "1.3.0" {
		t.Errorf("of a release: %q", got)
	}
}

// The version is told though nothing that serving requires was given.
func TestVersionFlag(t *testing.T) {
	t.Parallel()
	var c struct {
		VersionFlag
		Needed string `required:""`
	}
	var out strings.Builder
	left := -1
	k, err := kong.New(&c, kong.Name("xds"), kong.Writers(&out, &out), kong.Exit(func(code int) { left = code; panic("left") }))
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_, err = k.Parse([]string{"--version"})
	}()
	if left != 0 || !strings.HasPrefix(out.String(), "xds ") || err != nil {
		t.Errorf("%d, %q, %v", left, out.String(), err)
	}
}
