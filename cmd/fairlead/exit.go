package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
)

// The exit statuses. Scripts rely on them.
const (
	exitOK       = 0
	exitDiffers  = 1 // of diff: there is a difference
	exitFailed   = 1 // refused by the API, or failed
	exitUsage    = 2 // called wrongly, or a setting or a confirmation is missing
	exitTrouble  = 2 // of diff: refused or failed
	exitRejected = 3 // a node rejected the revision
	exitPending  = 4 // the revision was not delivered in time

	exitInterrupted = 130 // by the caller, as shells have it
)

// usageError is a wrong command line or a missing setting, as a sentence.
type usageError string

func (e usageError) Error() string { return string(e) }

// verdict ends a command with a status when all that is to be said has been said.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit status %d", int(v)) }

// problem is an error that the API answered.
type problem struct {
	client.Problem
	place  places
	advice string // what to do about it; "" if that is plain
	asked  string // what it says is not there, `fleet "edge": `; "" if its words say that
}

func (p *problem) Error() string {
	title := p.Title
	if title == "" {
		title = http.StatusText(int(p.Status))
	}
	if p.Detail == nil || *p.Detail == "" || p.toldBelow() {
		return title
	}
	return title + ": " + p.asked + *p.Detail
}

// toldBelow reports whether the one fault says what the whole problem would.
func (p *problem) toldBelow() bool {
	return p.Errors != nil && len(*p.Errors) == 1 && strings.HasSuffix(*p.Detail, (*p.Errors)[0].Detail)
}

// lines are what follows the first line: one per fault, then the request's id.
func (p *problem) lines() (out []string) {
	if p.Errors != nil {
		for _, e := range *p.Errors {
			out = append(out, "  "+plain(faultLine(e, p.place)))
		}
	}
	if p.advice != "" {
		out = append(out, p.advice)
	}
	if p.RequestId != "" {
		out = append(out, "request id "+plain(p.RequestId))
	}
	return out
}

// members are those of the problem's JSON.
func (p *problem) members() map[string]any {
	out := map[string]any{}
	raw, err := json.Marshal(p.Problem)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil { // it was read from JSON
		return map[string]any{"detail": p.Error()}
	}
	return out
}

// faultLine tells of one fault where it is and what it is.
func faultLine(e client.FieldError, place places) string {
	switch {
	case e.Parameter != nil:
		return "parameter " + *e.Parameter + ": " + e.Detail
	case e.Pointer == nil:
		return e.Detail
	case place != nil:
		if where, ok := place(*e.Pointer); ok && where == "" {
			return e.Detail
		} else if ok {
			return where + ": " + e.Detail
		}
	}
	if *e.Pointer == "" {
		return e.Detail
	}
	return *e.Pointer + ": " + e.Detail
}

// faults are what is wrong with the caller's files, each with its place.
type faults []string

func (f faults) Error() string {
	if len(f) == 1 {
		return f[0]
	}
	return fmt.Sprintf("%d things in the files are wrong, nothing was sent", len(f))
}

// unsureError is a failed write of which nobody knows whether it was stored.
type unsureError struct {
	err error
	key string // the Idempotency-Key that makes a repeat safe
}

// words say what is not known. Where the last attempt did nothing, as its answer says, that is about the attempts before it.
func (e *unsureError) words() string {
	const repeat = "Repeat the command with --idempotency-key %s: it is then made once, not twice."
	open := "It is not known whether the change was stored. "
	var p *problem
	if errors.As(e.err, &p) && didNothing(p.Code, int(p.Status)) {
		open = "That is of the last attempt. It is not known whether an earlier one stored the change. "
	}
	return open + fmt.Sprintf(repeat, plain(e.key))
}

func (e *unsureError) Error() string { return e.err.Error() }

func (e *unsureError) Unwrap() error { return e.err }

// fail prints what err has to say and returns the exit status that belongs to it.
func (sh *shell) fail(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	var done verdict
	if errors.As(err, &done) {
		return int(done)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = &interrupted{err}
	}
	sh.failJSON(err)
	fmt.Fprintf(sh.err, "fairlead: %s\n", plain(fleet.Sentence(err)))
	var p *problem
	if errors.As(err, &p) {
		for _, line := range p.lines() {
			fmt.Fprintln(sh.err, line)
		}
	}
	var wrong faults
	if errors.As(err, &wrong) && len(wrong) > 1 {
		for _, line := range wrong {
			fmt.Fprintf(sh.err, "  %s\n", plain(line))
		}
	}
	var unsure *unsureError
	if errors.As(err, &unsure) {
		fmt.Fprintln(sh.err, unsure.words())
	}
	var waiting *waitError
	if errors.As(err, &waiting) {
		fmt.Fprintf(sh.err, "Revision %d is stored and on its way. To go on waiting: fairlead receipt %d --wait\n", waiting.revision, waiting.revision)
	}
	var wrongly usageError
	var untold *trouble
	var unconfirmed *unconfirmedError
	var stopped *interrupted
	switch {
	case errors.As(err, &stopped):
		return exitInterrupted
	case errors.As(err, &wrongly), errors.As(err, &unconfirmed):
		return exitUsage
	case errors.As(err, &untold):
		return exitTrouble
	}
	return exitFailed
}

// interrupted is what the caller stopped.
type interrupted struct{ err error }

func (e *interrupted) Error() string { return "interrupted" }

func (e *interrupted) Unwrap() error { return e.err }

// waitError is what ended the wait for a revision that is stored.
type waitError struct {
	err      error
	revision int64
}

func (e *waitError) Error() string { return e.err.Error() }

func (e *waitError) Unwrap() error { return e.err }

// noting notes that something was written.
type noting struct {
	io.Writer
	done *bool
}

func (n noting) Write(p []byte) (int, error) {
	*n.done = *n.done || len(p) > 0
	return n.Writer.Write(p)
}

// failJSON prints the error as the one document of a command that was asked for JSON, unless
// that has printed what it is about.
func (sh *shell) failJSON(err error) {
	if !sh.json || sh.printed {
		return
	}
	told := map[string]any{"detail": fleet.Sentence(err)}
	var p *problem
	var wrong faults
	var unsure *unsureError
	switch {
	case errors.As(err, &p):
		told = p.members()
	case errors.As(err, &wrong):
		list := make([]map[string]string, len(wrong))
		for i, line := range wrong {
			list[i] = map[string]string{"detail": line}
		}
		told["errors"] = list
	}
	if errors.As(err, &unsure) {
		told["idempotency_key"] = unsure.key
	}
	raw, err := json.Marshal(map[string]any{"error": told})
	if err == nil {
		err = (&session{shell: sh}).printJSON(raw)
	}
	if err != nil {
		fmt.Fprintf(sh.err, "fairlead: print the error: %v\n", err)
	}
}
