package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/seal"
)

// state is what a second start needs of the first, besides the database: the tokens,
// which are shown once, and the demo's ports, which stand in its resources.
type state struct {
	path string

	OperatorToken string `json:"operator_token"`
	APIToken      string `json:"api_token"`
	NodeToken     string `json:"node_token"`
	Proxy         string `json:"proxy"`
	Blue          string `json:"blue"`
	Green         string `json:"green"`
}

func loadState(path string) (*state, error) {
	s := &state{path: path}
	b, err := os.ReadFile(path) //nolint:gosec // the user's own folder
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read what an earlier start left (remove the folder %s to start again): %w", filepath.Dir(path), err)
	}
	return s, nil
}

func (s *state) save() error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(s.path, b, 0o600)
}

// replaceFile writes a file in one rename: readers see the old one or the new one.
func replaceFile(path string, b []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// keyFiles are the paths of the keys that keep Secrets sealed.
type keyFiles struct{ public, private, version string }

// ensureKeys makes the keys at the first start: all of them in one rename, so that a start
// that is killed leaves all or none. The folder is locked by its caller.
func ensureKeys(dir string) (keyFiles, error) {
	k := keyFiles{filepath.Join(dir, seal.PublicFile), filepath.Join(dir, seal.PrivateFile), filepath.Join(dir, seal.VersionFile)}
	var missing []string
	for _, file := range []string{k.public, k.private, k.version} {
		_, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, filepath.Base(file))
		case err != nil:
			return k, fmt.Errorf("look at the keys of an earlier start: %w", err)
		}
	}
	switch len(missing) {
	case 0:
		return k, nil
	case 3:
		return k, makeKeys(dir)
	}
	return k, fmt.Errorf("the keys in %s are not complete, without %s: bring them back from a copy, or remove the folder %s to start again: %w",
		dir, strings.Join(missing, " and "), filepath.Dir(dir), fleet.ErrNotFound)
}

func makeKeys(dir string) error {
	keys, err := seal.Generate()
	if err != nil {
		return err
	}
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil { // of a start that was killed; nothing was sealed with it
		return fmt.Errorf("make the keys: %w", err)
	}
	if err := seal.WriteKeys(fresh, fresh, keys); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one
		return fmt.Errorf("make the keys: %w", err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		return fmt.Errorf("make the keys: %w", err)
	}
	return nil
}
