package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"fairlead/internal/envoyconfig"
	"fairlead/internal/resource"
)

// importCommand is "fairlead import". It asks no server.
type importCommand struct {
	File    string `arg:"" help:"An Envoy bootstrap, the answer of its admin page at /config_dump, or a file from which an Envoy reads resources (a DiscoveryResponse), as YAML or JSON; - for the standard input."`
	Dir     string `arg:"" optional:"" help:"The folder to write: a folder for each type, a file for each resource. Without it, all is printed as one text."`
	RDS     bool   `name:"rds" help:"Take the routes out of their listeners: a change of routes then drains no listener."`
	EDS     bool   `name:"eds" help:"Take endpoints that are addresses out of their clusters."`
	Replace bool   `help:"Write into a folder that holds something: files of resources that the import does not have are removed."`
	JSON    bool   `name:"json" help:"Print JSON: {resources, left_out, notes}."`
}

// Help is printed with the command's own help.
func (*importCommand) Help() string {
	return `What cannot be taken over is listed with the reason. It asks no server: look at the documents, then "fairlead diff -R -f DIR" and "fairlead apply -R -f DIR".

A private key of the file stands in a secret's document: keep that out of version control. "fairlead export" writes it as "keep: true" once it is stored.

Exit status: 0 everything was taken over, 1 something was left out, 2 the file could not be read.`
}

// maxImport bounds a dump, in bytes.
const maxImport = 256 << 20

// Run reads the file and writes the documents.
func (c *importCommand) Run(sh *shell) error {
	if c.Dir != "" && c.JSON {
		return usageError("--json prints: leave the folder out")
	}
	if c.Dir != "" && !c.Replace {
		if err := mustBeEmpty(c.Dir); err != nil {
			return err
		}
	}
	in, err := c.source(sh)
	if err != nil {
		return &trouble{err}
	}
	r, err := envoyconfig.Read(in.data, envoyconfig.Options{RDS: c.RDS, EDS: c.EDS})
	if err != nil {
		return &trouble{unread(in, err)}
	}
	if err := c.write(sh, r); err != nil {
		return &trouble{err}
	}
	left := 0
	for _, l := range r.Left {
		word := "note"
		if !l.Stays {
			word = "left out"
			left++
		}
		if !c.JSON {
			fmt.Fprintf(sh.err, "%s: %s: %s\n", word, plain(l.What), plain(l.Why))
		}
	}
	if left > 0 {
		return verdict(exitDiffers)
	}
	return nil
}

func (c *importCommand) source(sh *shell) (source, error) {
	name, r := c.File, sh.in
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return source{}, err
		}
		defer f.Close()
		r = f
	}
	data, err := io.ReadAll(io.LimitReader(r, maxImport+1))
	switch {
	case err != nil:
		return source{}, fmt.Errorf("read %s: %w", name, err)
	case len(data) > maxImport:
		return source{}, fmt.Errorf("%s is larger than %d MiB", name, maxImport>>20)
	}
	return source{name, bytes.TrimPrefix(data, bom)}, nil
}

// unread tells why the file could not be read, with its lines.
func unread(in source, err error) error {
	var all resource.Errors
	if !errors.As(err, &all) {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	d := &document{file: in.name, format: resource.YAML, text: in.data, line: 1}
	if json.Valid(in.data) {
		d.format = resource.JSON
	}
	var out faults
	for _, e := range all {
		out = append(out, d.fault(e))
	}
	return out
}

func (c *importCommand) write(sh *shell, r envoyconfig.Result) error {
	docs := make([]exportedDocument, len(r.Documents))
	for i, d := range r.Documents {
		fields := map[string]json.RawMessage{"body": d.Body}
		for key, value := range map[string]string{"type": d.Type.Slug(), "name": d.Name} {
			fields[key], _ = json.Marshal(value) // a string always marshals
		}
		js := contentJSON(fields)
		text, err := documentYAML(js, contentFields)
		if err != nil {
			return err
		}
		docs[i] = exportedDocument{kind: d.Type.Slug(), name: d.Name, json: js, yaml: text}
	}
	switch {
	case c.JSON:
		raw, err := json.Marshal(r.Told())
		if err != nil {
			return err
		}
		return (&session{shell: sh}).printJSON(raw)
	case c.Dir == "":
		return printDocuments(sh, docs)
	}
	removed, err := writeFolder(c.Dir, docs)
	if err == nil {
		fmt.Fprintf(sh.out, "%s written to %s%s\n", amount(len(docs), "resource"), plain(c.Dir), removedWords(removed))
	}
	return err
}
