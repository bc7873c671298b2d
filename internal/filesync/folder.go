package filesync

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
	root *os.Root // no link leads out of it, where others may write to it too
	lock *filelock.Lock
	// stands is how each file of ours was when it was written or read.
	stands map[string]fs.FileInfo
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
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	for _, e := range there {
		if err := notAsYAML(root, e); err != nil {
			_ = root.Close()
			return nil, err
		}
	}
	lock, err := lockIn(root)
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	f := &folder{root: root, lock: lock, stands: map[string]fs.FileInfo{}, before: func(string) error { return nil }}
	if err := f.prepare(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// notAsYAML refuses a file of all of a type that is called as when Envoy read them as YAML, whoever wrote it: an Envoy that reads it would hear of no change.
func notAsYAML(root *os.Root, e fs.DirEntry) error {
	t, ok := asYAML[e.Name()]
	if !ok {
		return nil
	}
	if e.Type().IsRegular() {
		ours, err := writtenAsYAML(root, e.Name(), t)
		if err != nil {
			return fmt.Errorf("read the folder: %w", err)
		}
		if ours {
			return fmt.Errorf("%s holds %s, as an earlier \"fairlead sync\" wrote it: its files end in %s now. Give a new folder, and an Envoy that has read from this one a new bootstrap: %w", root.Name(), e.Name(), suffix, fleet.ErrInvalid)
		}
	}
	return fmt.Errorf("%s holds %s, which \"fairlead sync\" has not written, and would not change: it writes %s. An Envoy that reads the one hears nothing of the other. Move yours to another folder, or give a new one here: %w",
		root.Name(), e.Name(), wholes[t], fleet.ErrInvalid)
}

// writtenAsYAML reports whether a file begins as those of an earlier version do.
func writtenAsYAML(root *os.Root, name string, t fleet.Type) (bool, error) {
	file, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	begin, err := io.ReadAll(io.LimitReader(file, 512))
	head := earlierHead.FindSubmatch(begin)
	return head != nil && string(head[1]) == t.URL(), err
}

// earlierHead is how such a file begins, with its type.
var earlierHead = regexp.MustCompile(`\A\{\n  "version_info": "[0-9a-f]{24}",\n  "type_url": "([^"]+)",\n  "resources": \[`)

// lockIn locks the folder by its mark, which is no link: who else may write there is not to have a file made elsewhere.
func lockIn(root *os.Root) (*filelock.Lock, error) {
	switch info, err := root.Lstat(mark); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("look at the folder: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file: remove it: %w", filepath.Join(root.Name(), mark), fleet.ErrInvalid)
	}
	file, err := root.OpenFile(mark, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	lock, err := filelock.TryLock(file)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("another \"fairlead sync\" writes to %s: give each a folder of its own: %w", root.Name(), fleet.ErrConflict)
	}
	return lock, err
}

func (f *folder) prepare() error {
	for _, sub := range f.subs() {
		if err := f.root.MkdirAll(sub, 0o700); err != nil {
			return fmt.Errorf("make the folder: %w", err)
		}
		files, err := fs.ReadDir(f.root.FS(), sub)
		if err != nil {
			return fmt.Errorf("read the folder: %w", err)
		}
		for _, e := range files {
			if strings.HasPrefix(e.Name(), unfinished) {
				if err := f.root.Remove(path.Join(sub, e.Name())); err != nil {
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

func (f *folder) close() {
	_ = f.root.Close() // nothing is read or written by it any more
	f.lock.Release()
}

// files are those of ours that are there, relative to the folder. In the folder itself others may stand beside them, such as Envoy's bootstrap.
func (f *folder) files() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, sub := range f.subs() {
		files, err := fs.ReadDir(f.root.FS(), sub)
		if err != nil {
			return nil, fmt.Errorf("read the folder: %w", err)
		}
		for _, e := range files {
			if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), suffix) || sub == "." && !isWhole(e.Name()) {
				continue
			}
			file := path.Join(sub, e.Name())
			f.note(file)
			text, err := f.root.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read what is there: %w", err)
			}
			all[file] = text
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
	dir, base := path.Split(file)
	tmp := dir + unfinished + base
	if err := f.write(tmp, text); err != nil {
		_ = f.root.Remove(tmp)
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := f.before("put " + file); err != nil {
		return err
	}
	if err := f.root.Rename(tmp, file); err != nil {
		_ = f.root.Remove(tmp)
		return fmt.Errorf("write %s: %w", file, err)
	}
	f.note(file)
	return f.flush(file)
}

// note remembers how a file stands there now.
func (f *folder) note(file string) {
	delete(f.stands, file)
	if info, err := f.root.Lstat(file); err == nil {
		f.stands[file] = info
	}
}

// intact reports whether a file stands there as it was written or read: nobody has removed it, or put another one there.
func (f *folder) intact(file string) bool {
	was := f.stands[file]
	now, err := f.root.Lstat(file)
	return err == nil && was != nil && os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size() && was.Mode() == now.Mode()
}

// there tells whether the folder still stands where Envoy sees it. One that was moved away, or over which another one was mounted, could be written to as well
// as before.
func (f *folder) there() error {
	ours, err := f.root.Stat(".")
	if err != nil {
		return fmt.Errorf("look at the folder: %w", err)
	}
	if now, err := os.Stat(f.root.Name()); err != nil || !os.SameFile(ours, now) {
		return fmt.Errorf("%s is gone, or another folder stands there: bring it back, or start \"fairlead sync\" again", f.root.Name())
	}
	return nil
}

func (f *folder) remove(file string) error {
	if err := f.before("remove " + file); err != nil {
		return err
	}
	if err := f.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", file, err)
	}
	if err := f.flush(file); !errors.Is(err, fs.ErrNotExist) { // else somebody has removed the whole directory
		return err
	}
	return nil
}

// write is for the owner alone: any of the files may hold a key. What stands there goes, and is not written to: it may be a link, or be
// readable by others, where they may write to the folder too.
func (f *folder) write(file string, text []byte) error {
	if err := f.root.MkdirAll(path.Dir(file), 0o700); err != nil { // somebody may have removed it
		return err
	}
	if err := f.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w, err := f.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return errors.Join(err, w.Sync(), w.Close())
}

// flush has the entries on the disk of the directory in which the file is.
func (f *folder) flush(file string) error {
	d, err := f.root.Open(path.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
