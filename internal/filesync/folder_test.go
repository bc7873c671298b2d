package filesync

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// TestWhatOthersPutIntoTheFolderStays: of the folder itself two files are ours, and a bootstrap beside them is not.
func TestWhatOthersPutIntoTheFolderStays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	must(t, w.sync().Run(t.Context()))
	for _, file := range []string{"envoy.json", "notes.json", "eds/gone.json"} {
		must(t, os.WriteFile(filepath.Join(w.dir, file), []byte(`{"admin": {}}`), 0o600))
	}
	must(t, w.sync().Run(t.Context()))
	if got := w.names(); got != "cds.json ecds/ext.json eds/a.json envoy.json lds.json notes.json rds/r.json rtds/layer.json sds/ca.json" {
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
		must(t, os.Symlink(elsewhere, filepath.Join(w.dir, "eds", unfinished+"a.json")))
		must(t, os.Symlink(elsewhere, filepath.Join(w.dir, unfinished+"cds.json")))
		must(t, os.WriteFile(filepath.Join(w.dir, unfinished+"lds.json"), nil, 0o600))
		must(t, os.Chmod(filepath.Join(w.dir, unfinished+"lds.json"), 0o666)) //nolint:gosec // as somebody else would
		return nil
	}
	must(t, s.Run(t.Context()))
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "theirs" {
		t.Errorf("%v: another's file holds %.40q", err, text)
	}
	for _, file := range []string{"cds.json", "lds.json", "eds/a.json"} {
		if info, err := os.Lstat(filepath.Join(w.dir, file)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v %v", file, info.Mode(), err)
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
		theirs := filepath.Join(elsewhere, "theirs.json")
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
	must(t, os.Remove(filepath.Join(w.dir, "eds", "a.json")))
	must(t, os.WriteFile(filepath.Join(w.dir, "lds.json"), []byte("{}"), 0o600))
	elsewhere := filepath.Join(t.TempDir(), "theirs")
	must(t, os.WriteFile(elsewhere, []byte(was["cds.json"]), 0o600))
	must(t, os.Rename(elsewhere, filepath.Join(w.dir, "cds.json")))
	must(t, os.Chmod(filepath.Join(w.dir, "cds.json"), 0o644)) //nolint:gosec // as somebody else would
	rev := w.Publish(secretOf(t, "ca", "new"))
	eventually(t, "not settled", func() bool { return w.Settled() == rev })
	for file, text := range w.files() {
		if info, err := os.Stat(filepath.Join(w.dir, file)); err != nil || info.Mode() != 0o600 || file != "sds/ca.json" && text != was[file] {
			t.Errorf("%s: %v, %v, %.80q", file, info.Mode(), err, text)
		}
	}
	if got := len(w.files()); got != len(was) {
		t.Errorf("there are %d files of %d", got, len(was))
	}
}

// TestAFolderWithinThatIsTakenAwayIsMadeAgain: what stood there is written again, be it that something is removed there, and a file that others may read now is theirs no more.
func TestAFolderWithinThatIsTakenAwayIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	w.start(w.sync(always))
	eventually(t, "not settled", func() bool { return w.Settled() == 1 })
	was := w.files()
	must(t, os.RemoveAll(filepath.Join(w.dir, "eds")))
	must(t, os.RemoveAll(filepath.Join(w.dir, "sds")))
	must(t, os.Chmod(filepath.Join(w.dir, "lds.json"), 0o644)) //nolint:gosec // as somebody else would
	rev := w.Publish(secretOf(t, "ca", "new"))
	eventually(t, "not settled", func() bool { return w.Settled() == rev })
	for file := range was {
		if info, err := os.Stat(filepath.Join(w.dir, file)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v", file, err)
		}
	}
	if info, err := os.Stat(filepath.Join(w.dir, "sds")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is not its owner's alone: %v", err)
	}
	f, err := openFolder(t.TempDir())
	must(t, err)
	defer f.close()
	must(t, f.put("eds/a.json", nil))
	must(t, os.RemoveAll(filepath.Join(f.root.Name(), "eds")))
	must(t, f.remove("eds/a.json"))
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
		if text, err := os.ReadFile(filepath.Join(moved, "cds.json")); err != nil || strings.Contains(string(text), "9s") || w.Settled() != 1 {
			t.Errorf("%s: confirmed is %d: %v %s", name, w.Settled(), err, text)
		}
		must(t, os.RemoveAll(w.dir))
		must(t, os.Rename(moved, w.dir))
		eventually(t, name+": not settled after it came back", func() bool { return w.Settled() == rev })
	}
}

// TestAFolderOfYAMLIsNotGoneOnWith: an Envoy that reads the files of an earlier version would hear of no change any more.
func TestAFolderOfYAMLIsNotGoneOnWith(t *testing.T) {
	t.Parallel()
	for file, now := range map[string]string{"cds.yaml": "cds.json", "lds.yaml": "lds.json"} {
		w := setup(t)
		w.Publish(all(t)...)
		must(t, w.sync().Run(t.Context()))
		must(t, os.Rename(filepath.Join(w.dir, now), filepath.Join(w.dir, file))) // it was written as it is
		if err := w.sync().Run(t.Context()); !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "holds "+file+`, as an earlier "fairlead sync" wrote it`) || !strings.Contains(err.Error(), "bootstrap") {
			t.Errorf("with %s it ends with %v", file, err)
		}
	}
}

// TestYAMLOfOthersIsNotCalledOurs: a file of that name that somebody else wrote stays as it is, and the words say whose it is and what to do.
func TestYAMLOfOthersIsNotCalledOurs(t *testing.T) {
	t.Parallel()
	ours := `{
  "version_info": "0123456789abcdef01234567",
  "type_url": "type.googleapis.com/envoy.config.listener.v3.Listener",
  "resources": []
}
`
	for name, text := range map[string]string{
		"empty": "", "of an object": "{}", "a DiscoveryResponse": "version_info: \"1\"\nresources: []\n", "in JSON": `{"version_info": "1", "resources": []}`,
		"of another type": ours, "cut": ours[:40],
	} {
		w := setup(t)
		must(t, w.sync().Run(t.Context()))
		file := filepath.Join(w.dir, "cds.yaml")
		must(t, os.WriteFile(file, []byte(text), 0o600))
		err := w.sync().Run(t.Context())
		if want := `holds cds.yaml, which "fairlead sync" has not written, and would not change: it writes cds.json.`; !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "earlier") {
			t.Errorf("%s: it ends with %v", name, err)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != text {
			t.Errorf("%s: it holds %q now, %v", name, now, err)
		}
	}
	w := setup(t)
	must(t, w.sync().Run(t.Context()))
	must(t, os.Mkdir(filepath.Join(w.dir, "lds.yaml"), 0o700))
	if err := w.sync().Run(t.Context()); err == nil || !strings.Contains(err.Error(), `which "fairlead sync" has not written`) {
		t.Errorf("a folder: it ends with %v", err)
	}
}
