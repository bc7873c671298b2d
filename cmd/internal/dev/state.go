package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
		return nil, fmt.Errorf("read what an earlier start left (remove the folder %s to begin anew): %w", filepath.Dir(path), err)
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

func ensureKeys(dir string) (keyFiles, error) {
	k := keyFiles{filepath.Join(dir, seal.PublicFile), filepath.Join(dir, seal.PrivateFile), filepath.Join(dir, seal.VersionFile)}
	if _, err := os.Stat(k.private); err == nil {
		return k, nil
	}
	keys, err := seal.Generate()
	if err != nil {
		return k, err
	}
	return k, seal.WriteKeys(dir, keys)
}
