package filesync

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/internal/filelock"
	"fairlead/internal/fleet"
)

const (
	// mark is the file by which a folder is known as one of ours; it is locked while somebody writes here.
	mark = ".fairlead-sync"
	// unfinished begins the names of files that are being written. A name of ours never begins with a dot.
	unfinished = ".new-"
)

// folder is where the files are. One process at a time writes there.
type folder struct {
	dir  string
	lock *filelock.Lock
	// before is called before each change that can be seen. An error ends the work there, as a crash would.
	before func(what string) error
}

// openFolder makes the folder, or takes one that is empty or ours. What a process left unfinished is removed.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the folder: %w", err)
	}
	ours := slices.ContainsFunc(there, func(e fs.DirEntry) bool { return e.Name() == mark })
	if !ours && len(there) > 0 {
		return nil, fmt.Errorf("%s holds %s, and is no folder that \"fairlead sync\" has made: give a new folder, or an empty one: %w", dir, there[0].Name(), fleet.ErrInvalid)
	}
	lock, err := filelock.TryAcquire(filepath.Join(dir, mark))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("another \"fairlead sync\" writes to %s: give each a folder of its own: %w", dir, fleet.ErrConflict)
	}
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, lock: lock, before: func(string) error { return nil }}
	if err := f.prepare(); err != nil {
		lock.Release()
		return nil, err
	}
	return f, nil
}

func (f *folder) prepare() error {
	for _, sub := range f.subs() {
		at := filepath.Join(f.dir, sub)
		if err := os.MkdirAll(at, 0o700); err != nil {
			return fmt.Errorf("make the folder: %w", err)
		}
		files, err := os.ReadDir(at)
		if err != nil {
			return fmt.Errorf("read the folder: %w", err)
		}
		for _, e := range files {
			if strings.HasPrefix(e.Name(), unfinished) {
				if err := os.Remove(filepath.Join(at, e.Name())); err != nil {
					return fmt.Errorf("remove what was not finished: %w", err)
				}
			}
		}
	}
	return nil
}

// subs are the folder itself and those in it.
func (f *folder) subs() []string {
	all := []string{"."}
	for _, sub := range folders {
		all = append(all, sub)
	}
	slices.Sort(all)
	return all
}

func (f *folder) close() { f.lock.Release() }

// files are those of ours that are there, relative to the folder. In the folder itself others may stand beside them, such as Envoy's bootstrap.
func (f *folder) files() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, sub := range f.subs() {
		files, err := os.ReadDir(filepath.Join(f.dir, sub))
		if err != nil {
			return nil, fmt.Errorf("read the folder: %w", err)
		}
		for _, e := range files {
			if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), suffix) || sub == "." && !isWhole(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(f.dir, sub, e.Name()))
			if err != nil {
				return nil, fmt.Errorf("read what is there: %w", err)
			}
			all[path.Join(sub, e.Name())] = text
		}
	}
	return all, nil
}

func isWhole(file string) bool {
	for _, whole := range wholes {
		if file == whole {
			return true
		}
	}
	return false
}

// put writes a file whole: beside its place, to the disk, and then by a rename, which is what Envoy waits for.
func (f *folder) put(file string, text []byte) error {
	at := filepath.Join(f.dir, filepath.FromSlash(file))
	dir, base := filepath.Split(at)
	tmp := filepath.Join(dir, unfinished+base)
	if err := write(tmp, text); err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := f.before("put " + file); err != nil {
		return err
	}
	if err := os.Rename(tmp, at); err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("write %s: %w", file, err)
	}
	return flushed(dir)
}

func (f *folder) remove(file string) error {
	if err := f.before("remove " + file); err != nil {
		return err
	}
	at := filepath.Join(f.dir, filepath.FromSlash(file))
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", file, err)
	}
	return flushed(filepath.Dir(at))
}

// write is for the owner alone: any of the files may hold a key. What stands there goes, and is not written to: it may be a link, or be
// readable by others, where they may write to the folder too.
func write(file string, text []byte) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// flushed has the directory's entries on the disk.
func flushed(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
