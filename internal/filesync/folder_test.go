package filesync

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestWhatOthersPutIntoTheFolderStays: of the folder itself two files are ours, and a bootstrap beside them is not.
func TestWhatOthersPutIntoTheFolderStays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	must(t, w.sync().Run(t.Context()))
	for _, file := range []string{"envoy.yaml", "notes.yaml", "eds/gone.yaml"} {
		must(t, os.WriteFile(filepath.Join(w.dir, file), []byte(`{"admin": {}}`), 0o600))
	}
	must(t, w.sync().Run(t.Context()))
	if got := w.names(); got != "cds.yaml ecds/ext.yaml eds/a.yaml envoy.yaml lds.yaml notes.yaml rds/r.yaml rtds/layer.yaml sds/ca.yaml" {
		t.Errorf("the files are %s", got)
	}
}

// TestNoFileOfOthersIsWrittenThrough: what stands in the place of a file that is not finished, a link or a file that others may read, is
// not written to.
func TestNoFileOfOthersIsWrittenThrough(t *testing.T) {
	t.Parallel()
	w := setup(t)
	must(t, w.sync().Run(t.Context()))
	w.Publish(all(t)...)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.WriteFile(elsewhere, []byte("theirs"), 0o600))
	s := w.sync()
	put := 0
	s.before = func(string) error { // they come after the leftovers are removed
		if put++; put > 1 {
			return nil
		}
		must(t, os.Symlink(elsewhere, filepath.Join(w.dir, "eds", unfinished+"a.yaml")))
		must(t, os.Symlink(elsewhere, filepath.Join(w.dir, unfinished+"cds.yaml")))
		must(t, os.WriteFile(filepath.Join(w.dir, unfinished+"lds.yaml"), nil, 0o600))
		must(t, os.Chmod(filepath.Join(w.dir, unfinished+"lds.yaml"), 0o666)) //nolint:gosec // as somebody else would
		return nil
	}
	must(t, s.Run(t.Context()))
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "theirs" {
		t.Errorf("%v: another's file holds %.40q", err, text)
	}
	for _, file := range []string{"cds.yaml", "lds.yaml", "eds/a.yaml"} {
		if info, err := os.Lstat(filepath.Join(w.dir, file)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v %v", file, info.Mode(), err)
		}
	}
}

// TestKeysThatEnvoyCannotReadAreRefused: Envoy reads a file as YAML, which takes no key above 1,022 bytes as it is written there, and then nothing else of
// the file.
func TestKeysThatEnvoyCannotReadAreRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	w.start(w.sync(always))
	eventually(t, "not settled", func() bool { return w.Settled() == 1 })
	keyed := func(name, key string) xdstest.Change {
		return put(t, fleet.Cluster, fmt.Sprintf(`{"name": %q, "metadata": {"filter_metadata": {"x": {%q: [{"y": "z"}]}}}}`, name, key))
	}
	w.Publish(
		keyed("fits", strings.Repeat("k", longestKey)), keyed("fits-too", strings.Repeat("<", longestKey/6)), // as \u003c
		keyed("long", strings.Repeat("k", longestKey+1)), keyed("long-too", strings.Repeat("<", longestKey/6+1)),
		put(t, fleet.Cluster, fmt.Sprintf(`{"name": "text", "metadata": {"filter_metadata": {"x": {"k": %q}}}}`, strings.Repeat("k", 3*longestKey))),
	)
	eventually(t, "not refused", func() bool { return len(w.Refusals()) > 0 && w.Settled() == 2 })
	if got := w.Refusals()[0]; !strings.HasPrefix(got.Detail, "Error adding/updating cluster(s) long: a key is longer than 1022 bytes") || !strings.Contains(got.Detail, ", long-too: ") {
		t.Errorf("the server was told %q", got.Detail)
	}
	for name, want := range map[string]bool{"a": true, "fits": true, "fits-too": true, "text": true, "long": false, "long-too": false} {
		if is := strings.Contains(w.files()["cds.yaml"], fmt.Sprintf(`"name": %q`, name)); is != want {
			t.Errorf("%s is written: %v", name, is)
		}
	}
}

// TestNoLinkLeadsOutOfTheFolder: a folder within it that is a link is not written to, and nothing is removed there.
func TestNoLinkLeadsOutOfTheFolder(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"at the start", "later"} {
		w := setup(t)
		must(t, w.sync().Run(t.Context()))
		w.Publish(all(t)...)
		elsewhere := t.TempDir()
		theirs := filepath.Join(elsewhere, "theirs.yaml")
		must(t, os.WriteFile(theirs, []byte("theirs"), 0o600))
		link := func() {
			must(t, os.Remove(filepath.Join(w.dir, "eds")))
			must(t, os.Symlink(elsewhere, filepath.Join(w.dir, "eds")))
		}
		s := w.sync(func(c *Config) { c.Within = 3 * time.Second })
		if when == "later" {
			linked := false
			s.before = func(string) error {
				if !linked {
					link()
				}
				linked = true
				return nil
			}
		} else {
			link()
		}
		if err := s.Run(t.Context()); err == nil {
			t.Errorf("%s: it takes a link for its folder", when)
		}
		there, err := os.ReadDir(elsewhere)
		if text, _ := os.ReadFile(theirs); err != nil || len(there) != 1 || string(text) != "theirs" {
			t.Errorf("%s: where the link leads there is %v, %v", when, there, err)
		}
	}
}

// TestTheMarkLeadsNowhereElse: the file that is locked is no link out of the folder either.
func TestTheMarkLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w := setup(t)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.MkdirAll(w.dir, 0o700))
	must(t, os.Symlink(elsewhere, filepath.Join(w.dir, mark)))
	err := w.sync().Run(t.Context())
	if _, there := os.Lstat(elsewhere); there == nil {
		t.Errorf("a file was made where a link leads, outside of the folder (%v)", err)
	}
}

// TestWhatOthersTakeAwayIsWrittenAgain: a file that somebody has removed or changed is not what was confirmed, and an ACK of a later revision says that it is there.
func TestWhatOthersTakeAwayIsWrittenAgain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	w.start(w.sync(always))
	eventually(t, "not settled", func() bool { return w.Settled() == 1 })
	was := w.files()
	must(t, os.Remove(filepath.Join(w.dir, "eds", "a.yaml")))
	must(t, os.WriteFile(filepath.Join(w.dir, "lds.yaml"), []byte("{}"), 0o600))
	elsewhere := filepath.Join(t.TempDir(), "theirs")
	must(t, os.WriteFile(elsewhere, []byte(was["cds.yaml"]), 0o600))
	must(t, os.Rename(elsewhere, filepath.Join(w.dir, "cds.yaml")))
	must(t, os.Chmod(filepath.Join(w.dir, "cds.yaml"), 0o644)) //nolint:gosec // as somebody else would
	rev := w.Publish(secretOf(t, "ca", "new"))
	eventually(t, "not settled", func() bool { return w.Settled() == rev })
	for file, text := range w.files() {
		if info, err := os.Stat(filepath.Join(w.dir, file)); err != nil || info.Mode() != 0o600 || file != "sds/ca.yaml" && text != was[file] {
			t.Errorf("%s: %v, %v, %.80q", file, info.Mode(), err, text)
		}
	}
	if got := len(w.files()); got != len(was) {
		t.Errorf("there are %d files of %d", got, len(was))
	}
}

// TestAFolderThatIsMovedAwayIsNotWrittenTo: nothing is confirmed of what stands where no Envoy looks.
func TestAFolderThatIsMovedAwayIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	for name, instead := range map[string]func(dir string) error{
		"nothing":        func(string) error { return nil },
		"another folder": func(dir string) error { return os.Mkdir(dir, 0o700) },
	} {
		w := setup(t)
		w.Publish(all(t)...)
		s := w.sync(always)
		told := make(chan string, 100)
		s.Log = func(words string) { told <- words }
		w.start(s)
		eventually(t, name+": not settled", func() bool { return w.Settled() == 1 })
		moved := w.dir + ".old"
		must(t, os.Rename(w.dir, moved))
		must(t, instead(w.dir))
		rev := w.Publish(clusterOf(t, "a", "9s"))
		eventually(t, name+": it does not say so", func() bool {
			select {
			case said := <-told:
				return strings.Contains(said, "is gone, or another folder stands there")
			default:
				return false
			}
		})
		if text, err := os.ReadFile(filepath.Join(moved, "cds.yaml")); err != nil || strings.Contains(string(text), "9s") || w.Settled() != 1 {
			t.Errorf("%s: confirmed is %d: %v %s", name, w.Settled(), err, text)
		}
		must(t, os.RemoveAll(w.dir))
		must(t, os.Rename(moved, w.dir))
		eventually(t, name+": not settled after it came back", func() bool { return w.Settled() == rev })
	}
}
