package main

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHelpFitsAScreen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	r := w.bare("", "help")
	if r.code != exitOK || r.err != "" {
		t.Fatalf("%+v", r)
	}
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines, a screen has 24", len(lines))
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("longer than 80: %s", line)
		}
	}
	for _, args := range [][]string{{}, {"--help"}} {
		if again := w.bare("", args...); again != r {
			t.Errorf("%v prints something else", args)
		}
	}
	// every command stands there, and has a help of its own
	for _, name := range strings.Fields(w.bare("", "__complete", "").out) {
		if !slices.Contains(strings.Fields(r.out), name) {
			t.Errorf("%s is not in the help", name)
		}
		if of := w.bare("", "help", name); of.code != exitOK || !strings.Contains(of.out, "Usage: fairlead "+name) {
			t.Errorf("help %s: %+v", name, of)
		}
	}
}

// TestHelpNamesTheTypes: and what else stands there of an argument and of a flag.
func TestHelpNamesTheTypes(t *testing.T) {
	t.Parallel()
	said := strings.Join(strings.Fields(setup(t).bare("", "get", "--help").out), " ")
	for _, want := range []string{"The type: " + typeList() + ". Without it, all.", "--fleet=NAME The fleet ($FAIRLEAD_FLEET)."} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if r := w.bare("", "version"); r.code != exitOK || !strings.HasPrefix(r.out, "fairlead ") {
		t.Errorf("%+v", r)
	}
	if r := w.bare("", "version", "--json"); r.code != exitOK || !strings.Contains(r.out, "\"commit\"") {
		t.Errorf("%+v", r)
	}
	info := &debug.BuildInfo{GoVersion: "go1", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	if got := built("", info, true); got != (buildWords{"v1.2.3", "abc with changes", "go1"}) {
		t.Errorf("%+v", got)
	}
	if got := built("1.3.0", info, true); got != (buildWords{"1.3.0", "abc with changes", "go1"}) {
		t.Errorf("of a release: %+v", got)
	}
	if got := built("", nil, false); got != (buildWords{"unknown", "unknown", "unknown"}) {
		t.Errorf("%+v", got)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"ap"}, "apply\n"},
		{[]string{"context", ""}, "delete\nlist\nuse\n"},
		{[]string{"get", "sec"}, "secrets\n"},
		{[]string{"get", "secrets", ""}, ""},
		{[]string{"completion", ""}, "bash\nfish\nzsh\n"},
		{[]string{"validate", "-f", "x", "--r"}, "--recursive\n"},
		{[]string{"nothing", "--j"}, ""},
	} {
		w.bare("", append([]string{"__complete"}, c.words...)...).want(t, exitOK, c.want, "")
	}
	for shell := range completions {
		if r := w.bare("", "completion", shell); r.code != exitOK || !strings.Contains(r.out, "fairlead __complete") {
			t.Errorf("%s: %+v", shell, r)
		}
	}
	if r := w.bare("", "completion", "tcsh"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}
