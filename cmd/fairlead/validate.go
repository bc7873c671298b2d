package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// validateCommand is "fairlead validate". It asks no server.
type validateCommand struct {
	Files files             `embed:""`
	Value map[string]string `placeholder:"NAME=TEXT" mapsep:"none" help:"What stands in the place of ${fleet.values.NAME}, as in the fleet that the documents are for. Repeatable."`
	JSON  bool              `name:"json" help:"Print JSON: {valid, documents, errors, warnings}."`
}

// Help is printed with the command's own help.
func (*validateCommand) Help() string {
	return `It decodes and checks every document as the API does, and asks nothing: what the fleet has stored, who writes, limits and references are for "fairlead diff".

Exit status: 0 the API would take the documents, 1 it would not, 2 called wrongly.`
}

// judged is what validate finds, as its JSON has it.
type judged struct {
	Valid     bool     `json:"valid"`
	Documents int      `json:"documents"`
	Errors    []string `json:"errors"`
	Warnings  []string `json:"warnings"`
}

// Run checks the files.
func (c *validateCommand) Run(sh *shell) error {
	out, err := c.judge(sh)
	if err != nil {
		return err
	}
	if c.JSON {
		raw, err := json.Marshal(out)
		if err == nil {
			err = (&session{shell: sh}).printJSON(raw)
		}
		if err == nil && !out.Valid {
			err = verdict(exitFailed)
		}
		return err
	}
	for _, w := range out.Warnings {
		fmt.Fprintf(sh.err, "warning: %s\n", plain(w))
	}
	if !out.Valid {
		return faults(out.Errors)
	}
	fmt.Fprintf(sh.out, "the API would take %s\n", amount(out.Documents, "document"))
	return nil
}

// fill are the values as a fleet would have them: an empty one it does not have.
func (c *validateCommand) fill() (map[string]string, error) {
	out := map[string]string{}
	for name, value := range c.Value {
		switch {
		case !resource.ValidValueName(name):
			return nil, usageError(fmt.Sprintf("--value %s=...: the name of a value is letters, digits and _, not a digit first, at most 64", name))
		case len(value) > resource.MaxValue:
			return nil, usageError(fmt.Sprintf("--value %s=...: a value is at most %d bytes", name, resource.MaxValue))
		case value != "":
			out[name] = value
		}
	}
	return out, nil
}

// here says of a value that is missing how it is given where no fleet is asked.
func here(errs resource.Errors) resource.Errors {
	out := slices.Clone(errs)
	for i := range out {
		if out[i].Code == "unknown_value" {
			out[i].Detail += "; for this check, give it by --value"
		}
	}
	return out
}

func (c *validateCommand) judge(sh *shell) (out judged, err error) {
	out = judged{Errors: []string{}, Warnings: []string{}}
	values, err := c.fill()
	if err != nil {
		return out, err
	}
	b, err := c.Files.read(sh)
	var wrong faults
	if errors.As(err, &wrong) {
		out.Errors = wrong
		return out, nil
	}
	if err != nil {
		return out, err
	}
	parts, err := b.parts()
	if err != nil {
		return out, err
	}
	for _, part := range parts {
		if err := part.judge(&out, values); err != nil {
			return out, err
		}
	}
	out.Valid = len(out.Errors) == 0
	return out, nil
}

// judge adds what is to be said of a bundle that one apply can have.
func (b *bundle) judge(out *judged, values map[string]string) error {
	in, err := b.parse()
	var wrong faults
	if errors.As(err, &wrong) {
		out.Errors = append(out.Errors, wrong...)
		return nil
	}
	if err != nil {
		return err
	}
	compiler := resource.NewCompiler(resource.Config{VersionKey: make([]byte, 32)}) // of versions that nobody sees
	for _, d := range in.Resources {
		out.Documents++
		if d.Keep {
			continue
		}
		d.Fill = values
		compiled, err := compiler.Compile(fleet.Key{}, d)
		var bad resource.Errors
		switch {
		case errors.As(err, &bad):
			out.Errors = append(out.Errors, b.faults(here(bad))...)
		case err != nil:
			return err
		}
		out.Warnings = append(out.Warnings, b.faults(compiled.Warnings)...)
	}
	return nil
}

// amount is a number of things.
func amount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
