package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	client "fairlead/clients/go"
)

// codeConfirm is of a 428 after which nothing was done: somebody is to say yes first.
const codeConfirm = "confirmation_required"

// errNotMeant ends a command to which somebody said no.
var errNotMeant = errors.New("nothing was done")

// confirmed makes a call, and makes it again with what confirms it where the API asks for that and
// somebody says yes: by --yes, or on the terminal.
func (sh *shell) confirmed(yes bool, call func(confirm string) error) error {
	err := call("")
	var p *problem
	if !errors.As(err, &p) || p.Code != codeConfirm || p.Token == nil {
		return err
	}
	if !yes && !sh.asks {
		return &unconfirmedError{p}
	}
	sh.tellReasons(deref(p.Confirm))
	if yes {
		return call(*p.Token)
	}
	switch said, err := sh.ask("Type yes if that is meant: "); {
	case errors.Is(err, io.EOF) && said == "":
		return &unconfirmedError{p} // nobody is there
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("read the answer: %w", err)
	case said != "yes":
		return errNotMeant
	}
	return call(*p.Token)
}

// tellReasons says why something is to be confirmed.
func (sh *shell) tellReasons(why []client.ConfirmReason) {
	for _, r := range why {
		fmt.Fprintf(sh.err, "to confirm: %s\n", plain(r.Detail))
	}
}

// ask reads the line that somebody types.
func (sh *shell) ask(question string) (string, error) {
	fmt.Fprint(sh.err, question)
	line, err := bufio.NewReader(sh.in).ReadString('\n')
	return strings.TrimSpace(line), err
}

// unconfirmedError is what was not done because there was nobody to confirm it.
type unconfirmedError struct{ *problem }

func (e *unconfirmedError) Error() string {
	var why []string
	for _, r := range deref(e.Confirm) {
		why = append(why, r.Detail)
	}
	return "nothing was done: " + strings.Join(why, "; ") + ": add --yes if that is meant"
}

// Unwrap returns what the API answered.
func (e *unconfirmedError) Unwrap() error { return e.problem }
