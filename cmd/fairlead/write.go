package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	client "fairlead/clients/go"
)

// writing is what every command that changes a fleet takes.
type writing struct {
	Wait           waitFlag      `help:"Wait until every node that is connected has answered and print the receipt; at most 30s, or as long as --wait=TIME says."`
	Timeout        time.Duration `placeholder:"TIME" help:"How long --wait waits at most, such as 2m."`
	Message        string        `short:"m" placeholder:"TEXT" help:"Why, for the history."`
	IdempotencyKey string        `placeholder:"KEY" help:"A name for this change: repeated with the same one, it is made once."`
	JSON           bool          `name:"json" help:"Print the API's JSON."`
	Yes            bool          `help:"Confirm what is asked, such as whether most of a type is to be deleted. Without it a person is asked on a terminal, and nothing is written elsewhere."`

	ExpectedRevision *int64 `placeholder:"N" help:"Write only if the fleet is at this revision."`
}

// dry checks that nothing is asked for that is about a write.
func (w *writing) dry() error {
	if w.Wait.on || w.IdempotencyKey != "" {
		return usageError("a dry run writes nothing: --wait and --idempotency-key are about a write")
	}
	return nil
}

var keyForm = regexp.MustCompile(`^[\x21-\x7e]{1,255}$`)

// write sends a change under an Idempotency-Key, confirmed where that is asked for and meant, tells
// the revision, and waits for its receipt if that was asked for. Where a failure leaves open whether the change was
// stored, the error says how to repeat it.
func (w *writing) write(ctx context.Context, s *session, place places, send func(ctx context.Context, key, confirm string) (*http.Response, error)) error {
	_, err := w.made(ctx, s, place, send)
	return err
}

// made is write, and returns what was written: also where the wait for its receipt failed.
func (w *writing) made(ctx context.Context, s *session, place places, send func(ctx context.Context, key, confirm string) (*http.Response, error)) (result client.WriteResult, _ error) {
	key := orNew(w.IdempotencyKey)
	if !keyForm.MatchString(key) {
		return result, usageError("an idempotency key is 1 to 255 visible ASCII characters, without spaces")
	}
	wait, err := w.Wait.within(w.Timeout)
	if err != nil {
		return result, err
	}
	*s.doubt = false
	var raw []byte
	err = s.confirmed(w.Yes, func(confirm string) error {
		resp, err := send(ctx, key, confirm) //nolint:bodyclose // answer closes it
		result, raw, err = answer[client.WriteResult](s, resp, err)
		return err
	})
	if err != nil && s.unsure(err) {
		return result, &unsureError{err, key}
	}
	if err != nil {
		return result, err
	}
	d := s.tellDoubts(result.Warnings, result.Findings, place)
	if w.JSON && wait.on && result.Revision != 0 {
		return result, s.tellBoth(ctx, raw, result.Revision, wait)
	}
	if w.JSON {
		if err := s.printJSON(raw); err != nil {
			return result, err
		}
	} else {
		fmt.Fprintln(s.out, changeLine(result)+d.after())
	}
	if !wait.on || result.Revision == 0 {
		return result, nil
	}
	return result, s.tellReceipt(ctx, result.Revision, wait, w.JSON, d)
}

// places turns a pointer into what was sent into a place in the caller's files. It is
// nil where there are none; a place that is "" is not told.
type places func(pointer string) (string, bool)

// named are the places of a request that say what the command line says.
var named = regexp.MustCompile(`^/(revision|(delete|resources)/[0-9]+)$`)

// ofTheLine leaves them out: there is no file, and what is said there names the resource.
func ofTheLine(pointer string) (string, bool) { return "", named.MatchString(pointer) }

// doubts is how much is to be said against what was written.
type doubts struct{ errors, warnings int }

// after is what a line that tells of the write ends with.
func (d doubts) after() string {
	if d == (doubts{}) {
		return ""
	}
	return ", " + findingsPage{Errors: d.errors, Warnings: d.warnings}.counts()
}

// tellDoubts prints what the API warns of and finds, and counts it.
func (s *session) tellDoubts(warnings *[]client.FieldError, found *client.WriteFindings, place places) (d doubts) {
	for _, w := range deref(warnings) {
		d.warnings++
		fmt.Fprintf(s.err, "warning: %s\n", plain(faultLine(w, place)))
	}
	if found == nil {
		return d
	}
	d.errors += found.Errors
	d.warnings += found.Warnings
	for _, f := range found.Items {
		line := faultLine(client.FieldError{Pointer: f.At, Detail: f.Detail}, place)
		fmt.Fprintf(s.err, "%s: %s\n", plain(string(f.Severity)), plain(line))
	}
	if rest := found.Errors + found.Warnings + found.Infos - len(found.Items); rest > 0 || deref(found.More) {
		fmt.Fprintf(s.err, "and %d more: see fairlead findings\n", rest)
	}
	return d
}

// changeLine tells what a write did.
func changeLine(r client.WriteResult) string {
	switch {
	case r.Changed == 0 && r.Revision == 0:
		return "nothing changed; the fleet has no revision yet"
	case r.Changed == 0:
		return fmt.Sprintf("nothing changed; revision %d is current", r.Revision)
	case r.Changed == 1:
		return fmt.Sprintf("revision %d: 1 resource changed", r.Revision)
	}
	return fmt.Sprintf("revision %d: %d resources changed", r.Revision, r.Changed)
}

// apply sends an apply's body, with what confirms it beside the rest.
func (s *session) apply(ctx context.Context, key, confirm string, body []byte) (*http.Response, error) {
	if confirm != "" {
		body = fmt.Appendf(bytes.TrimSuffix(bytes.Clone(body), []byte("}")), `,"confirm":%q}`, confirm)
	}
	return s.api.ApplyWithBody(ctx, s.tenant, s.fleet, &client.ApplyParams{IdempotencyKey: &key}, "application/json", bytes.NewReader(body))
}

// planToken is --plan. Who gives it wants what was seen or nothing: a variable that is empty does not mean anything at all.
type planToken string

// Validate is called of a token that is given.
func (t planToken) Validate() error {
	if t == "" {
		return errors.New("the token is empty: give the last line of what showed the plan, or leave --plan out")
	}
	return nil
}

// rollbackCommand is "fairlead rollback".
type rollbackCommand struct {
	Connection connection `embed:""`
	Writing    writing    `embed:""`

	Revision string `arg:"" help:"The number of the revision whose content to restore."`
	Type     string `arg:"" optional:"" help:"With NAME: only this resource. One of ${types}."`
	Name     string `arg:"" optional:"" help:"The resource's name."`
	Variant  string `help:"The resource's variant; left out for the default one."`

	DryRun bool      `help:"Show what would change and the plan's token, and write nothing."`
	Plan   planToken `placeholder:"TOKEN" help:"Roll back what --dry-run showed, or nothing."`
}

// Run makes the new revision.
func (c *rollbackCommand) Run(ctx context.Context, sh *shell) error {
	to, err := revisionNumber(c.Revision)
	if err != nil {
		return err
	}
	if err := c.one(); err != nil {
		return err
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	body := client.RollbackRequest{Revision: to, ExpectedRevision: c.Writing.ExpectedRevision, Plan: given(string(c.Plan))}
	if c.Type != "" {
		body.Resources = &[]client.VariantRef{{Type: client.ResourceType(c.Type), Name: c.Name, Variant: given(c.Variant)}}
	}
	if c.Writing.Message != "" {
		body.Message = &c.Writing.Message
	}
	if c.DryRun {
		if err := c.Writing.dry(); err != nil {
			return err
		}
		resp, err := s.api.PlanRollback(ctx, s.tenant, s.fleet, nil, body) //nolint:bodyclose // tellPlanned closes it
		p, err := s.tellPlanned(resp, err, nil, ofTheLine, "nothing would change", c.Writing.JSON)
		if err == nil && p.differs() && !c.Writing.JSON {
			fmt.Fprintln(s.out, plain(p.Token))
		}
		return err
	}
	return c.Writing.write(ctx, s, ofTheLine, func(ctx context.Context, key, confirm string) (*http.Response, error) {
		body.Confirm = given(confirm)
		return s.api.Rollback(ctx, s.tenant, s.fleet, &client.RollbackParams{IdempotencyKey: &key}, body)
	})
}

// one checks which resource is meant.
func (c *rollbackCommand) one() error {
	switch {
	case c.Type == "" && c.Variant != "":
		return usageError("--variant is of a resource: give its type and name too")
	case c.Type == "":
		return nil
	case c.Name == "":
		return usageError(fmt.Sprintf("a rollback is of the whole fleet, or of one resource: give the name of %s too", c.Type))
	}
	return checkType(c.Type)
}

func revisionNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if _, wrong := time.ParseDuration(text); err != nil && wrong == nil {
		return 0, usageError(fmt.Sprintf("%q is not the number of a revision: a time stands at its flag, --wait=%s", text, text))
	}
	if err != nil || n < 1 {
		return 0, usageError(fmt.Sprintf("%q is not the number of a revision", text))
	}
	return n, nil
}
