package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	client "fairlead/clients/go"
)

// applyCommand is "fairlead apply".
type applyCommand struct {
	Files files `embed:""`

	Connection connection `embed:""`
	Writing    writing    `embed:""`

	Pruning pruning `embed:""`

	Force  bool      `help:"Write over what others changed since the files were read with get: pass over their revisions."`
	DryRun bool      `help:"Tell what would be done, as \"fairlead diff\" does, and write nothing."`
	Plan   planToken `placeholder:"TOKEN" help:"Apply what \"fairlead diff\" showed with the same files, or nothing."`
}

// Help is printed with the command's own help.
func (*applyCommand) Help() string {
	return `A YAML file may hold several documents, separated by lines of ---. A document is a resource ({type, name, body, ...}), Envoy's own message with its "@type", or a list of either: {resources: [...], delete: [{type, name, variant}], message}.

Everything becomes one revision, or nothing is written. What comes to more than 4 MiB is written in parts: each is a revision, what is named before what names it, deletions last. If a part is not made, the command ends there and says what is written. With --wait each part is waited for.

With --wait the exit status tells what the nodes said: 0 all that are connected took it, 3 one rejected it, 4 one has not taken it in time, because it did not answer or went away since the revision was made. Nodes that were offline by then are named and change nothing: they get it when they come back. Only where all nodes are offline it is 4.`
}

// Run applies the files.
func (c *applyCommand) Run(ctx context.Context, sh *shell) error {
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	b, err := c.Files.read(sh)
	if err != nil {
		return err
	}
	m := members{c.Writing.Message, c.Writing.ExpectedRevision, string(c.Plan), c.Force}
	if err := c.Pruning.into(ctx, s, b, &m); err != nil {
		return err
	}
	parts, err := b.parts()
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.tell(ctx, s, parts, m)
	}
	return c.Writing.applyParts(ctx, s, parts, m)
}

// advised says what to do where a file is older than what it would write over, or was read under another name.
func advised(err error) error {
	var p *problem
	if !errors.As(err, &p) || p.Status != http.StatusPreconditionFailed {
		return err
	}
	absent := func(e client.FieldError) bool { return e.LastChange == nil }
	faults := slices.DeleteFunc(slices.Clone(deref(p.Errors)), func(e client.FieldError) bool { return !ofReading(e) })
	var advice []string
	if slices.ContainsFunc(faults, absent) {
		advice = append(advice, `The file is of a version that was read under another name. To create this one, take "revision" and "etag" out of the file. To change that one, write its name.`)
	}
	if slices.ContainsFunc(faults, func(e client.FieldError) bool { return !absent(e) }) {
		advice = append(advice, `Run "fairlead get" for the present version and make the change in that. "fairlead apply --force" overwrites what others changed.`)
	}
	p.advice = strings.Join(advice, "\n")
	return err
}

// ofReading tells that a fault is about when a document was read.
func ofReading(e client.FieldError) bool {
	at := deref(e.Pointer)
	return strings.HasSuffix(at, "/revision") || strings.HasSuffix(at, "/etag")
}

// tell makes a dry run. A flag that is about a write says that one is wanted.
func (c *applyCommand) tell(ctx context.Context, s *session, parts []*bundle, m members) error {
	if err := c.Writing.dry(); err != nil {
		return err
	}
	_, err := s.tellPlans(ctx, parts, m, c.Writing.JSON)
	return err
}

// deleteCommand is "fairlead delete".
type deleteCommand struct {
	Connection connection `embed:""`
	Writing    writing    `embed:""`

	Type string   `arg:"" help:"The resources' type: ${types}."`
	Name []string `arg:"" help:"Their names. All are deleted as one revision, or none."`

	Variant string `placeholder:"VARIANT" help:"The variant; without it, the default one."`
}

// Run deletes the resources, as an apply, which can be repeated safely. What is not there
// is an error all the same - but not for a repeat under a given key, whose first
// attempt may have deleted it.
func (c *deleteCommand) Run(ctx context.Context, sh *shell) error {
	if err := checkType(c.Type); err != nil {
		return err
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	var gone []deletion
	for _, name := range c.Name {
		if c.Writing.IdempotencyKey == "" {
			if _, err := s.resource(ctx, c.Type, name, c.Variant); err != nil {
				return fmt.Errorf("%s/%s: %w", c.Type, name, err)
			}
		}
		gone = append(gone, deletion{Name: name, Type: c.Type, Variant: c.Variant})
	}
	body, err := json.Marshal(struct {
		Delete   []deletion `json:"delete"`
		Message  string     `json:"message,omitempty"`
		Expected *int64     `json:"expected_revision,omitempty"`
	}{gone, c.Writing.Message, c.Writing.ExpectedRevision})
	if err != nil {
		return err
	}
	return c.Writing.write(ctx, s, ofTheLine, func(ctx context.Context, key, confirm string) (*http.Response, error) {
		return s.apply(ctx, key, confirm, body)
	})
}
