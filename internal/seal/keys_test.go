package seal_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/seal"
)

func TestKeyFilesRoundTrip(t *testing.T) {
	t.Parallel()
	k, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	api, xds := filepath.Join(t.TempDir(), "new", "api"), filepath.Join(t.TempDir(), "xds")
	if err := seal.WriteKeys(api, xds, k); err != nil {
		t.Fatal(err)
	}
	pub, err1 := seal.LoadPublic(filepath.Join(api, seal.PublicFile))
	priv, err2 := seal.LoadPrivate(filepath.Join(xds, seal.PrivateFile))
	version, err3 := seal.LoadVersion(filepath.Join(api, seal.VersionFile))
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pub, k.Public) || !bytes.Equal(priv, k.Private) || !bytes.Equal(version, k.Version) {
		t.Error("the keys that are read are not those that were written")
	}
	for _, c := range []struct {
		dir   string
		files map[string]os.FileMode
	}{{api, map[string]os.FileMode{seal.PublicFile: 0o444, seal.VersionFile: 0o400}}, {xds, map[string]os.FileMode{seal.PrivateFile: 0o400}}} {
		there, err := os.ReadDir(c.dir)
		if err != nil || len(there) != len(c.files) { // above all the API's folder has no private key
			t.Errorf("%s holds %v (%v)", c.dir, there, err)
		}
		for name, want := range c.files {
			if info, err := os.Stat(filepath.Join(c.dir, name)); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}
}

func TestWriteKeysReplacesNothing(t *testing.T) {
	t.Parallel()
	k, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	for _, there := range []string{seal.PublicFile, seal.PrivateFile, seal.VersionFile} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, there), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := seal.WriteKeys(dir, dir, k); !errors.Is(err, fleet.ErrConflict) {
			t.Errorf("%s was there: %v", there, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%s was there: %d files are left", there, len(left))
		}
		if b, _ := os.ReadFile(filepath.Join(dir, there)); string(b) != "old" {
			t.Errorf("%s was replaced", there)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := base64.StdEncoding.EncodeToString([]byte("0123456789abcdefghijklmnopqrstuv"))
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // past the umask
			t.Fatal(err)
		}
		return path
	}
	for _, mode := range []os.FileMode{0o604, 0o640, 0o644, 0o620, 0o601} {
		path := write(fmt.Sprintf("open%o", mode), good, mode)
		for what, load := range map[string]func(string) ([]byte, error){"private": seal.LoadPrivate, "version": seal.LoadVersion} {
			if _, err := load(path); !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "chmod 600 "+path) {
				t.Errorf("%s key of mode %o: %v", what, mode, err)
			}
		}
		if _, err := seal.LoadPublic(path); err != nil {
			t.Errorf("public key of mode %o: %v", mode, err)
		}
	}
	if _, err := seal.LoadPrivate(write("good", good+"\n", 0o400)); err != nil {
		t.Errorf("a good key: %v", err)
	}
	for name, text := range map[string]string{
		"empty": "", "short": "c2hvcnQ=", "text": "not base64!", "two": good + "\n" + good,
		"weak": base64.StdEncoding.EncodeToString(make([]byte, 32)), "huge": strings.Repeat("A", 1<<20),
	} {
		_, err := seal.LoadPrivate(write(name, text, 0o600))
		if !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if len(text) > 8 && strings.Contains(err.Error(), text[:8]) {
			t.Errorf("%s: the error repeats the key: %v", name, err)
		}
	}
	if _, err := seal.LoadPublic(filepath.Join(dir, "nowhere")); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("no file: %v", err)
	}
}

// TestT27_KeysAreNotPrinted: a logged Keys shows none of them.
func TestT27_KeysAreNotPrinted(t *testing.T) {
	t.Parallel()
	k := seal.Keys{Private: []byte("canary-private"), Version: []byte("canary-version")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if s := fmt.Sprintf(verb, k); !strings.Contains(s, "redacted") {
			if !strings.Contains(s, fmt.Sprintf("%x", "redacted")) {
				t.Errorf("%s prints %s", verb, s)
			}
		}
	}
}

// TestAKeyOfAnotherKindIsRefused: all keys are 32 bytes, so a private one would seal, and nobody could open that. Files of before, which do not say their kind, are taken.
func TestAKeyOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	k, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := seal.WriteKeys(dir, dir, k); err != nil {
		t.Fatal(err)
	}
	loads := map[string]func(string) ([]byte, error){seal.PublicFile: seal.LoadPublic, seal.PrivateFile: seal.LoadPrivate, seal.VersionFile: seal.LoadVersion}
	for wants, load := range loads {
		for is := range loads {
			path := filepath.Join(dir, is)
			switch _, err := load(path); {
			case is == wants && err != nil:
				t.Errorf("%s: %v", is, err)
			case is == wants:
			case !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), wants+` of "api keys"`):
				t.Errorf("%s where %s belongs: %v", is, wants, err)
			}
		}
		old := filepath.Join(dir, "old."+wants)
		if err := os.WriteFile(old, []byte(base64.StdEncoding.EncodeToString(k.Private)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := load(old); err != nil || !bytes.Equal(got, k.Private) {
			t.Errorf("a file of before for %s: %v", wants, err)
		}
	}
}
