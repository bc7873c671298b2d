package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", "type: clusters\nname: a\nbody: {name: a, connect_timeout: 1s}\n", "apply", "-f", "-").is(t, exitOK)
	var seen []string
	// each of steps is what the person makes of the text
	edits := func(steps ...func(string) string) {
		seen = nil
		w.edit = func(_ context.Context, file string) error {
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			seen = append(seen, string(raw))
			return os.WriteFile(file, []byte(steps[len(seen)-1](string(raw))), 0o600)
		}
	}
	replace := func(from, to string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, from, to) }
	}
	asItIs := func(s string) string { return s }

	edits(replace(`"1s"`, `"2s"`))
	w.on("edge", "", "edit", "clusters", "a").want(t, exitOK, "revision 2: 1 resource changed\n", "")
	edits(asItIs)
	w.on("edge", "", "edit", "clusters", "a").want(t, exitOK, "nothing was edited, nothing is written\n", "")
	edits(asItIs)
	w.on("edge", "", "edit", "clusters", "a", "--json").want(t, exitOK, indented(t, `{"changed": 0, "detail": "nothing was edited, nothing is written"}`), "")

	// what the API refuses is edited again
	edits(replace(`"2s"`, `soon`), replace("soon", `"3s"`))
	w.on("edge", "", "edit", "clusters", "a").want(t, exitOK, "revision 3: 1 resource changed\n", "")
	if len(seen) != 2 || !strings.HasPrefix(seen[1], "#! ") || !strings.Contains(seen[1], "/body/connect_timeout") {
		t.Errorf("%q", seen)
	}

	// somebody else is quicker: the editor opens again, with what is there now
	quicker := func(s string) string {
		w.on("edge", "type: clusters\nname: a\nbody: {name: a, connect_timeout: 9s}\n", "apply", "-f", "-").is(t, exitOK)
		return strings.ReplaceAll(s, `"3s"`, `"4s"`)
	}
	edits(quicker, replace(`"4s"`, `"5s"`))
	w.on("edge", "", "edit", "clusters", "a").want(t, exitOK, "revision 5: 1 resource changed\n", "")
	if len(seen) != 2 || !strings.Contains(seen[1], `#!   connect_timeout: "9s"`) || !strings.Contains(seen[1], "\nrevision: 4\n") {
		t.Errorf("%q", seen)
	}
	// who leaves the text as it is gives up, and keeps it
	edits(replace(`"5s"`, "soon"), asItIs)
	r := w.on("edge", "", "edit", "clusters", "a")
	if r.code != exitFailed || !strings.Contains(r.err, "the text is in ") || !strings.Contains(r.err, "\n  clusters/a:5: /body/connect_timeout: ") {
		t.Errorf("%+v", r)
	}
	w.on("edge", "", "edit", "clusters", "none").is(t, exitFailed)
}
