package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/internal/jsonpointer"
	"fairlead/internal/resource"
)

// maxSource bounds one file: an export of all that a fleet may hold by default, many times over.
const maxSource = 512 << 20

// files is what -f names.
type files struct {
	File      []string `short:"f" required:"" sep:"none" placeholder:"FILE" help:"A YAML or JSON file, a directory of them, or - for the standard input. May be given several times: all of it becomes one revision."`
	Recursive bool     `short:"R" help:"With a directory, what is in the directories below it too."`
}

func (c *files) read(sh *shell) (*bundle, error) {
	sources, err := c.sources(sh.in)
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
	json   []byte
	format resource.Format
	text   []byte          // as it stands in the file
	line   int             // of the file, from 1, where text begins
	lines  *resource.Lines // of text, once a place in it was asked for
}

// String is the place where the document begins.
func (d *document) String() string { return d.at("") }

// sources reads what -f names: files, directories, and - for the standard input.
func (c *files) sources(stdin io.Reader) (out []source, err error) {
	read := false
	for _, name := range c.File {
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
			if files, err = filesOf(name, c.Recursive); err != nil {
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

// filesOf lists the documents of a directory, sorted, without hidden files, which editors
// leave. below: those of the directories below it too, hidden ones apart.
func filesOf(dir string, below bool) (out []string, err error) {
	nested := false
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || name == dir:
			return err
		case strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			if nested = true; !below {
				return fs.SkipDir
			}
			return nil
		case !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			return nil
		}
		info, err := os.Stat(name) // of what a symbolic link points to
		if err == nil && !info.IsDir() {
			out = append(out, name)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		words := "the directory " + dir + " holds no .yaml, .yml or .json file"
		if nested && !below {
			words += ": with -R the directories below it are read too"
		}
		err = usageError(words)
	}
	return out, err
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
	return source{name, bytes.TrimPrefix(data, bom)}, nil
}

// bom stands at the beginning of what some editors write. It is no part of a document.
var bom = []byte("\ufeff")

// documents takes a file apart. Every fault is told with its place.
func (s source) documents() (out []*document, wrong faults) {
	if filepath.Ext(s.name) == ".json" || json.Valid(s.data) {
		d := &document{file: s.name, format: resource.JSON, text: s.data, line: 1}
		return []*document{d}, d.read()
	}
	for _, p := range splitYAML(s.data) {
		d := &document{file: s.name, format: resource.YAML, text: p.text, line: p.line}
		wrong = append(wrong, d.read()...)
		out = append(out, d)
	}
	return out, wrong
}

// read turns the text into JSON, as strictly as the API does: its reader is the same.
func (d *document) read() (wrong faults) {
	if d.format == resource.JSON && len(d.text) > maxWhole {
		return d.readLists()
	}
	js, err := resource.ToJSON(d.format, d.text)
	var all resource.Errors
	switch {
	case errors.As(err, &all):
		for _, e := range all {
			wrong = append(wrong, d.fault(e))
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

// readLists reads JSON that is larger than one document may be: it can only be an apply, of which each part is read by the API.
func (d *document) readLists() faults {
	if err := json.Unmarshal(d.text, new(map[string]json.RawMessage)); err != nil {
		return faults{fmt.Sprintf("%v: this is not an object of JSON: %v", d, err)}
	}
	in, seen := json.NewDecoder(bytes.NewReader(d.text)), map[string]bool{}
	_, _ = in.Token() // it is an object, as was seen
	for in.More() {
		key, _ := in.Token()
		name, _ := key.(string)
		if seen[name] {
			return faults{d.String() + ": /" + jsonpointer.Escape(name) + ": the key stands twice in one object"}
		}
		seen[name] = true
		if err := in.Decode(new(json.RawMessage)); err != nil {
			return faults{fmt.Sprintf("%v: %v", d, err)}
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, d.text); err != nil {
		return faults{fmt.Sprintf("%v: %v", d, err)}
	}
	d.json = compact.Bytes()
	return nil
}

// fault tells of an error in the document: FILE:LINE: pointer: what it is.
func (d *document) fault(e resource.FieldError) string {
	if e.Line == 0 {
		return d.at(e.Pointer) + ": " + e.Detail
	}
	place := fmt.Sprintf("%s:%d", d.file, d.line+e.Line-1)
	if e.Pointer != "" {
		place += ": " + e.Pointer
	}
	// the line within the document is not the file's
	detail := strings.TrimPrefix(e.Detail, fmt.Sprintf("line %d, column %d: ", e.Line, e.Column))
	return place + ": " + strings.TrimPrefix(detail, fmt.Sprintf("yaml: line %d: ", e.Line))
}

// at names a place in the document: the file, the line, and the pointer.
func (d *document) at(pointer string) string {
	if pointer == "" {
		return d.lineAt("")
	}
	return d.lineAt(pointer) + ": " + pointer
}

func (d *document) lineAt(pointer string) string {
	if d.line == 0 { // it is of no file
		return d.file
	}
	if d.lines == nil {
		d.lines = resource.NewLines(d.format, d.text)
	}
	line := d.line
	if n := d.lines.Of(pointer); n > 0 {
		line += n - 1
	}
	return fmt.Sprintf("%s:%d", d.file, line)
}
