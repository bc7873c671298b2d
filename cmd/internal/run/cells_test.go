package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"fairlead/cmd/internal/run"
)

const cellsSecret = "s3cret-pass"

func cellsFile(t *testing.T, text string, mode os.FileMode) run.CellsFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cells.yaml")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	return run.CellsFile{File: path}
}

func TestTheCellsOfAFile(t *testing.T) {
	t.Parallel()
	got, err := cellsFile(t, `
cells:
  - name: eu-1
    database_url: postgres://u@localhost/a
    listen_database_url: postgres://u@localhost:5433/a
    read_database_url: postgres://u@localhost:5434/a
  - {name: "2", database_url: "postgres://u@localhost/b"}
`, 0o600).Cells(run.Database{})
	if err != nil {
		t.Fatal(err)
	}
	want := []run.Cell{
		{Name: "eu-1", DatabaseURL: "postgres://u@localhost/a", ListenURL: "postgres://u@localhost:5433/a", ReadURL: "postgres://u@localhost:5434/a"},
		{Name: "2", DatabaseURL: "postgres://u@localhost/b"},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, err := (run.CellsFile{}).Cells(run.Database{}); got != nil || err != nil {
		t.Errorf("without a file: %+v, %v", got, err)
	}
}

// TestT27_CellsFilesThatAreRefused: in words that say why, and hold nothing of a URL.
func TestT27_CellsFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	const near, far = "postgres://u:" + cellsSecret + "@localhost/f", "postgres://u:" + cellsSecret + "@db.example.com/f"
	cell := func(name, url string) string { return "- {name: " + name + ", database_url: \"" + url + "\"}\n" }
	many := "cells:\n"
	for i := range 17 {
		many += cell("c"+string(rune('a'+i)), near+string(rune('a'+i)))
	}
	for text, want := range map[string]string{
		"":                             "has 0 cells",
		"cells: []":                    "has 0 cells",
		many:                           "has 17 cells",
		"cells:\n" + cell("A", near):   "the name of cell 1",
		"cells:\n" + cell("-a", near):  "the name of cell 1",
		"cells:\n" + cell("a_b", near): "the name of cell 1",
		"cells:\n" + cell("a-", near):  "the name of cell 1",
		"cells:\n" + cell(strings.Repeat("a", 33), near):   "the name of cell 1",
		"cells:\n- database_url: " + near:                  "the name of cell 1",
		"cells:\n" + cell("a", near) + cell("a", near+"2"): "two cells a",
		"cells:\n" + cell("a", near) + cell("b", near):     "a and b have the same database_url",
		"cells:\n- name: a":                                "cell a has no database_url",
		"cells:\n" + cell("a", far):                        "database_url of cell a leads to another machine",
		"cells:\n- {name: a, database_url: \"" + near + "\", read_database_url: \"" + far + "\"}":   "read_database_url of cell a leads to another machine",
		"cells:\n- {name: a, database_url: \"" + near + "\", listen_database_url: \"" + far + "\"}": "listen_database_url of cell a leads to another machine",
		"cells:\n- " + near + ": x":                             "cannot be read",
		"cells:\n- name: a\n  databaseurl: " + near:             "cannot be read",
		"cells:\n- name: a\n  name: b\n  database_url: " + near: "cannot be read (line 3)",
		"cells: " + near:                                        "cannot be read",
		"other: 1\n":                                            "cannot be read",
		"cells:\n\t- " + near:                                   "cannot be read (line 2)",
		"#" + strings.Repeat("x", 64<<10):                       "has more than 65536 bytes",
	} {
		got, err := cellsFile(t, text, 0o600).Cells(run.Database{})
		if err == nil {
			t.Errorf("%q is read: %+v", text, got)
			continue
		}
		if said := err.Error(); !strings.HasPrefix(said, "--cells-file: ") || !strings.Contains(said, want) || strings.Contains(said, cellsSecret) {
			t.Errorf("%q is told %q, want %q", text, said, want)
		}
	}
	if _, err := cellsFile(t, "cells:\n"+cell("a", far), 0o600).Cells(run.Database{AllowPlaintextDatabase: true}); err != nil {
		t.Errorf("plaintext was asked for: %v", err)
	}
	if _, err := cellsFile(t, "cells:\n"+cell("a", near), 0o644).Cells(run.Database{}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that all may read: %v", err)
	}
	if _, err := (run.CellsFile{File: filepath.Join(t.TempDir(), "none")}).Cells(run.Database{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
}

// One of the two is given, on the command line or in the environment.
func TestADatabaseOrCells(t *testing.T) {
	for _, c := range []struct {
		args     []string
		url, env string // of the environment
		want     string
	}{
		{[]string{"--database-url", "postgres:///x"}, "", "", ""},
		{[]string{"--cells-file", "/x"}, "", "", ""},
		{nil, "postgres:///x", "", ""},
		{nil, "", "/x", ""},
		{nil, "", "", "--database-url=URL or --cells-file=FILE"},
		{[]string{"--database-url", "postgres:///x", "--cells-file", "/x"}, "", "", "can't be used together"},
		{[]string{"--cells-file", "/x"}, "postgres:///x", "", "can't be used together"},
		{nil, "postgres:///x", "/x", "can't be used together"},
	} {
		for name, value := range map[string]string{"FAIRLEAD_DATABASE_URL": c.url, "FAIRLEAD_CELLS_FILE": c.env} {
			t.Setenv(name, value) // which has it put back
			if value == "" {
				_ = os.Unsetenv(name)
			}
		}
		for name, flags := range map[string]any{"xds": new(run.XDSConfig)} {
			k, err := kong.New(flags)
			if err != nil {
				t.Fatal(err)
			}
			args := c.args
			if name == "xds" {
				args = append([]string{"--seal-private-key", "/x"}, args...)
			}
			_, err = k.Parse(args)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s %q, in the environment %q and %q: %v, want %q", name, c.args, c.url, c.env, err, c.want)
			}
		}
	}
}
