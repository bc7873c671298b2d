package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// applyCommand is "fairlead apply".
type applyCommand struct {
	File []string `short:"f" required:"" sep:"none" placeholder:"FILE" help:"A YAML or JSON file, a directory of them, or - for the standard input. May be given several times: all of it becomes one revision."`

	Connection connection `embed:""`
	Writing    writing    `embed:""`
}

// Help is printed with the command's own help.
func (*applyCommand) Help() string {
	return `A YAML file may hold several documents, separated by lines of ---. A document is a resource ({type, name, body, ...}), Envoy's own message with its "@type", or a list of either: {resources: [...], delete: [{type, name, variant}], message}.

With --wait the exit status tells what the nodes said: 0 all of them took it, 3 one rejected it, 4 not all answered in time.`
}

// Run applies the files.
func (c *applyCommand) Run(ctx context.Context, sh *shell) error {
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	b, err := c.read(sh)
	if err != nil {
		return err
	}
	body, err := b.body(c.Writing.Message)
	if err != nil {
		return err
	}
	err = c.Writing.write(ctx, s, b.place, func(ctx context.Context, key string) (*http.Response, error) {
		return s.apply(ctx, key, body)
	})
	var p *problem
	if errors.As(err, &p) {
		p.place = b.place
	}
	return err
}

func (c *applyCommand) read(sh *shell) (*bundle, error) {
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

// deleteCommand is "fairlead delete".
type deleteCommand struct {
	Connection connection `embed:""`
	Writing    writing    `embed:""`

	Type string `arg:"" help:"The resource's type: ${types}."`
	Name string `arg:"" help:"The resource's name."`

	Variant string `placeholder:"VARIANT" help:"The variant; without it, the default one."`
}

// Run deletes the resource, as an apply, which can be repeated safely. What is not there
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
	if c.Writing.IdempotencyKey == "" {
		if _, err := s.resource(ctx, c.Type, c.Name, c.Variant); err != nil {
			return err
		}
	}
	type deletion struct {
		Name    string `json:"name"`
		Type    string `json:"type"`
		Variant string `json:"variant,omitempty"`
	}
	body, err := json.Marshal(struct {
		Delete  []deletion `json:"delete"`
		Message string     `json:"message,omitempty"`
	}{[]deletion{{c.Name, c.Type, c.Variant}}, c.Writing.Message})
	if err != nil {
		return err
	}
	return c.Writing.write(ctx, s, nil, func(ctx context.Context, key string) (*http.Response, error) {
		return s.apply(ctx, key, body)
	})
}
