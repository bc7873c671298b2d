package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/internal/resource"
)

// maxSource bounds one file. What is applied at once may be 4 MiB of JSON; YAML of that
// can be somewhat larger.
const maxSource = 16 << 20

// files is what -f names.
type files struct {
	File []string `short:"f" required:"" sep:"none" placeholder:"FILE" help:"A YAML or JSON file, a directory of them, or - for the standard input. May be given several times: all of it becomes one revision."`
}

func (c *files) read(sh *shell) (*bundle, error) {
	sources, err := readSources(c.File, sh.in)
	if err != nil {
		return nil, err
	}
	var docs []*document
	var wrong faults
	for _, source := range sources {
		d, w := source.documents()
		docs, wrong = append(docs, d...), append(wrong, w...)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	if len(docs) == 0 {
		return nil, usageError("there is no document in " + strings.Join(c.File, ", "))
	}
	b, wrong := newBundle(docs)
	if len(wrong) > 0 {
		return nil, wrong
	}
	return b, nil
}

// source is one file's content.
type source struct {
	name string
	data []byte
}

// document is one document of a file, as JSON.
type document struct {
	file   string
	number int // from 1, within the file
	json   []byte
}

func (d *document) String() string { return fmt.Sprintf("%s, document %d", d.file, d.number) }

// readSources reads what -f names: files, directories, and - for the standard input.
func readSources(names []string, stdin io.Reader) (out []source, err error) {
	read := false
	for _, name := range names {
		if name == "-" {
			if read {
				return nil, usageError("the standard input can be read once: give -f - once")
			}
			read = true
			s, err := readSource("standard input", stdin)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
			continue
		}
		files := []string{name}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			if files, err = filesOf(name); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			s, err := openSource(file)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// filesOf lists the documents of a directory, sorted, without its directories and
// without hidden files, which editors leave.
func filesOf(dir string) (out []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := os.Stat(name); err != nil { // of what a symbolic link points to
			return nil, err
		} else if !info.IsDir() {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, usageError("the directory " + dir + " holds no .yaml, .yml or .json file")
	}
	return out, nil
}

func openSource(name string) (source, error) {
	f, err := os.Open(name)
	if err != nil {
		return source{}, err
	}
	defer f.Close()
	return readSource(name, f)
}

func readSource(name string, r io.Reader) (source, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	switch {
	case err != nil:
		return source{}, fmt.Errorf("read %s: %w", name, err)
	case len(data) > maxSource:
		return source{}, fmt.Errorf("%s is larger than %d MiB: apply it in parts", name, maxSource>>20)
	}
	return source{name, data}, nil
}

// documents takes a file apart. Every fault is told with its place.
func (s source) documents() (out []*document, wrong faults) {
	if filepath.Ext(s.name) == ".json" || json.Valid(s.data) {
		d := &document{file: s.name, number: 1}
		return []*document{d}, d.read(resource.JSON, s.data, 1)
	}
	for i, p := range splitYAML(s.data) {
		d := &document{file: s.name, number: i + 1}
		wrong = append(wrong, d.read(resource.YAML, p.text, p.line)...)
		out = append(out, d)
	}
	return out, wrong
}

// read turns a text into JSON, as strictly as the API does: its reader is the same.
func (d *document) read(format resource.Format, text []byte, line int) (wrong faults) {
	js, err := resource.ToJSON(format, text)
	if err != nil && line > 1 { // once more, so that the line that is told is the file's
		_, err = resource.ToJSON(format, append(bytes.Repeat([]byte("\n"), line-1), text...))
	}
	var all resource.Errors
	switch {
	case errors.As(err, &all):
		for _, e := range all {
			wrong = append(wrong, d.at(e.Pointer)+": "+e.Detail)
		}
		return wrong
	case err != nil:
		return faults{fmt.Sprintf("%v: %v", d, err)}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, js); err != nil {
		return faults{fmt.Sprintf("%v: %v", d, err)}
	}
	d.json = compact.Bytes()
	return nil
}

// at names a place in the document.
func (d *document) at(pointer string) string {
	if pointer == "" {
		return d.String()
	}
	return d.String() + ": " + pointer
}
