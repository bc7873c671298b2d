package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// readByTests reports whether a file that the mutant breaks is no part of any build: a package embeds what lies in its
// folder and below alone.
func (m mutant) readByTests(root string) bool {
	for _, name := range m.touched {
		if !built(root, filepath.Dir(name)) {
			return true
		}
	}
	return false
}

// built reports whether the folder, or one that it lies in, has a package.
func built(root, folder string) bool {
	for ; ; folder = filepath.Dir(folder) {
		if sources, _ := filepath.Glob(filepath.Join(root, folder, "*.go")); len(sources) > 0 {
			return true
		}
		if folder == "." {
			return false
		}
	}
}

// module returns the folder of the module that a package of the tree is in, and the package as it is called from there.
func module(root, pkg string) (folder, from string) {
	for folder = filepath.Join(root, pkg); folder != root; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
	}
	from, _ = filepath.Rel(folder, filepath.Join(root, pkg)) // cannot fail: it is below
	return folder, "./" + filepath.ToSlash(from)
}

// copyTree copies a tree without what is fetched and what is hidden in folders of its own. What is there is replaced.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o750)
		case !d.Type().IsRegular():
			return nil // links lead to what is fetched
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, info.Mode().Perm())
	})
}
