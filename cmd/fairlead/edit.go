package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// editCommand is "fairlead edit".
type editCommand struct {
	Connection connection `embed:""`
	Writing    writing    `embed:""`

	Type    string `arg:"" help:"The resource's type: ${types}."`
	Name    string `arg:"" help:"The resource's name."`
	Variant string `placeholder:"VARIANT" help:"The variant; without it, the default one."`
}

// Help is printed with the command's own help.
func (*editCommand) Help() string {
	return `The editor is $VISUAL or $EDITOR, vi without both. Where somebody else has changed the resource meanwhile, or the API refuses it, the editor opens again and says why; to give up, leave the text as it is.`
}

// openEditor runs the person's editor on their terminal.
func openEditor(ctx context.Context, file string) error {
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if v := os.Getenv(name); v != "" {
			editor = v
		}
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file) //nolint:gosec // the caller's own editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the editor %q: %w", editor, err)
	}
	return nil
}

// Run lets a person edit the resource and writes it.
func (c *editCommand) Run(ctx context.Context, sh *shell) error {
	if err := checkType(c.Type); err != nil {
		return err
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	text, err := c.stored(ctx, s)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fairlead-edit-")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "resource.yaml")
	err = c.rounds(ctx, s, file, text)
	if err == nil || errors.Is(err, errAsItWas) {
		os.RemoveAll(dir)
	} else {
		fmt.Fprintf(sh.err, "the text is in %s\n", plain(file))
	}
	if errors.Is(err, errAsItWas) {
		if c.Writing.JSON {
			return s.printJSON([]byte(`{"changed": 0, "detail": "nothing was edited, nothing is written"}`))
		}
		fmt.Fprintln(sh.out, "nothing was edited, nothing is written")
		return nil
	}
	return err
}

func (c *editCommand) stored(ctx context.Context, s *session) ([]byte, error) {
	raw, err := s.resource(ctx, c.Type, c.Name, c.Variant)
	if err != nil {
		return nil, err
	}
	return documentYAML(raw, documentFields)
}

var errAsItWas = errors.New("nothing was edited")

// rounds opens the editor until the API takes the text, or the person leaves it as it is.
func (c *editCommand) rounds(ctx context.Context, s *session, file string, text []byte) error {
	var refused error
	shown := text
	for {
		if err := os.WriteFile(file, shown, 0o600); err != nil {
			return err
		}
		if err := s.edit(ctx, file); err != nil {
			return err
		}
		edited, err := os.ReadFile(file)
		switch {
		case err != nil:
			return err
		case bytes.Equal(edited, shown) && refused == nil:
			return errAsItWas
		case bytes.Equal(edited, shown):
			return refused
		}
		edited = withoutSaid(edited)
		if refused = c.write(ctx, s, edited); refused == nil || !fixable(refused) {
			return refused
		}
		if shown, err = c.again(ctx, s, edited, refused); err != nil {
			return err
		}
	}
}

// fixable reports whether another text could be taken.
func fixable(err error) bool {
	var p *problem
	var wrong faults
	return errors.As(err, &wrong) || errors.As(err, &p) &&
		(p.Status == http.StatusPreconditionFailed || p.Status == http.StatusUnprocessableEntity || p.Status == http.StatusBadRequest)
}

// write writes the text. What is wrong with it is told of the resource: the file ends with the command, and
// has other lines than were sent.
func (c *editCommand) write(ctx context.Context, s *session, text []byte) error {
	docs, wrong := source{c.Type + "/" + c.Name, text}.documents()
	if len(wrong) > 0 {
		return wrong
	}
	b, wrong := newBundle(docs)
	if len(wrong) > 0 {
		return wrong
	}
	body, err := b.body(members{message: c.Writing.Message, expected: c.Writing.ExpectedRevision})
	if err != nil {
		return err
	}
	return placed(c.Writing.write(ctx, s, b.place, func(ctx context.Context, key, confirm string) (*http.Response, error) {
		return s.apply(ctx, key, confirm, body)
	}), b)
}

const saidMark = "#! "

var revisionLine = regexp.MustCompile(`(?m)^revision: [0-9]+$`)

// again is the person's text below what the API said of it. Where somebody else has changed
// the resource, it says how that is now, and the text is of that revision.
func (c *editCommand) again(ctx context.Context, s *session, edited []byte, refused error) ([]byte, error) {
	said := []string{refused.Error()}
	var p *problem
	var wrong faults
	switch {
	case errors.As(refused, &p):
		said = append(said, p.lines()...)
	case errors.As(refused, &wrong):
		said = wrong
	}
	if p != nil && p.Status == http.StatusPreconditionFailed {
		now, err := c.stored(ctx, s)
		if err != nil {
			return nil, err
		}
		said = append(said, "it is now:", "")
		said = append(said, strings.Split(strings.TrimSuffix(string(now), "\n"), "\n")...)
		if line := revisionLine.Find(now); line != nil {
			edited = revisionLine.ReplaceAll(edited, line)
		}
	}
	var b bytes.Buffer
	for _, line := range said {
		fmt.Fprintf(&b, "%s%s\n", saidMark, plainLine(line))
	}
	b.Write(edited)
	return b.Bytes(), nil
}

// withoutSaid takes out what again wrote.
func withoutSaid(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte(saidMark)) {
			out = append(out, line...)
		}
	}
	return out
}
