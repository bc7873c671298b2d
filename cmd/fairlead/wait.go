package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	client "fairlead/clients/go"
)

const (
	defaultWait = 30 * time.Second
	longestAsk  = 60 * time.Second // the most that the API holds one answer back
	askAgain    = time.Second
)

// waitFlag is --wait, or --wait=1m for another time than the default.
type waitFlag struct {
	on   bool
	max  time.Duration
	said bool // max stands at the flag
}

// Decode implements kong's MapperValue.
func (w *waitFlag) Decode(ctx *kong.DecodeContext) error {
	*w = waitFlag{on: true, max: defaultWait}
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	s := ctx.Scan.Pop().String()
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a time such as 30s or 2m", s)
	}
	w.max, w.said = d, true
	return nil
}

// IsBool lets the flag stand without a value.
func (*waitFlag) IsBool() bool { return true }

// receiptAfter asks for a revision's receipt and waits until it is more than pending, at
// most for limit. The API answers at the first refusal, and when nothing is pending any
// more; it may also answer early, when it stops or when waiting longer is for nothing.
func (s *session) receiptAfter(ctx context.Context, revision int64, limit time.Duration) (r client.Receipt, raw []byte, err error) {
	end := s.now().Add(limit)
	longest := longestAsk
	if s.bar && limit > 0 {
		longest = askAgain // so often it moves
		defer fmt.Fprint(s.err, barGone)
	}
	if limit > 0 {
		defer func() {
			if err != nil && ctx.Err() != nil {
				err = &waitError{err, revision}
			}
		}()
	}
	var committed time.Time
	for {
		asked := s.now()
		ask := max(0, min(end.Sub(asked), longest))
		r, raw, err = s.receipt(ctx, revision, ask)
		if err == nil && !committed.IsZero() && !r.CommittedAt.Equal(committed) {
			return r, raw, fmt.Errorf("revision %d is another one now: the database has failed over and lost the one that was waited for. Apply it again", revision)
		}
		committed = r.CommittedAt
		if s.bar && limit > 0 && err == nil {
			fmt.Fprint(s.err, barGone+bar(r))
		}
		if err != nil || receiptStatus(r) != exitPending || blocked(r) || !s.now().Before(end) {
			return r, raw, err
		}
		if early := ask - s.now().Sub(asked); early > 0 {
			if err := s.pause(ctx, min(early, askAgain)); err != nil {
				return r, raw, err
			}
		}
	}
}

func (s *session) receipt(ctx context.Context, revision int64, wait time.Duration) (client.Receipt, []byte, error) {
	params := &client.GetReceiptParams{}
	if ms := wait.Milliseconds(); ms > 0 {
		text := fmt.Sprintf("%dms", ms)
		params.Wait = &text
	}
	resp, err := s.api.GetReceipt(ctx, s.tenant, s.fleet, revision, params)
	return answer[client.Receipt](s, resp, err)
}

// tellReceipt prints what became of a revision and ends with the status of that.
func (s *session) tellReceipt(ctx context.Context, revision int64, w waitFlag, asJSON bool, d doubts) error {
	limit := time.Duration(0)
	if w.on {
		limit = w.max
	}
	r, raw, err := s.receiptAfter(ctx, revision, limit)
	if err != nil {
		return err
	}
	if asJSON {
		if err := s.printJSON(raw); err != nil {
			return err
		}
	} else {
		lines := receiptLines(r, limit)
		lines[0] += d.after()
		fmt.Fprintln(s.out, strings.Join(lines, "\n"))
	}
	if status := receiptStatus(r); status != exitOK {
		return verdict(status)
	}
	return nil
}

// within is the flag with the time that --timeout says.
func (w waitFlag) within(timeout time.Duration) (waitFlag, error) {
	switch {
	case timeout == 0:
		return w, nil
	case !w.on:
		return w, usageError("--timeout says how long --wait waits: give that too")
	case timeout < 0:
		return w, usageError("--timeout must be above 0")
	case w.said:
		return w, usageError("--wait=TIME and --timeout say the same: give one of them")
	}
	w.max = timeout
	return w, nil
}

// tellBoth prints a write and what became of it as one JSON document.
func (s *session) tellBoth(ctx context.Context, written []byte, revision int64, w waitFlag) error {
	r, raw, err := s.receiptAfter(ctx, revision, w.max)
	if err != nil {
		return errors.Join(err, s.printJSON(written))
	}
	var both map[string]json.RawMessage
	if err := json.Unmarshal(written, &both); err != nil {
		return err
	}
	both["receipt"] = raw
	out, err := json.Marshal(both)
	if err == nil {
		err = s.printJSON(out)
	}
	if status := receiptStatus(r); err == nil && status != exitOK {
		err = verdict(status)
	}
	return err
}

// barGone empties the line of a terminal.
const barGone = "\r\x1b[K"

const barWidth = 30

// bar shows how many of the nodes have ACKed.
func bar(r client.Receipt) string {
	all := counted(r)
	full := 0
	if all > 0 {
		full = barWidth * took(r) / all
	}
	return fmt.Sprintf("revision %d [%s%s] %d/%d ACKed", r.Revision, strings.Repeat("#", full), strings.Repeat("-", barWidth-full), took(r), all)
}

// receiptCommand is "fairlead receipt".
type receiptCommand struct {
	Connection connection `embed:""`

	Revision string        `arg:"" optional:"" default:"latest" help:"The revision's number, or latest."`
	Wait     waitFlag      `help:"Wait until every node that is connected has answered; at most 30s, or as long as --wait=TIME says."`
	Timeout  time.Duration `placeholder:"TIME" help:"How long --wait waits at most, such as 2m."`
	State    string        `placeholder:"STATE" help:"List the nodes of this state instead: acked, nacked, pending, offline, late."`
	JSON     bool          `name:"json" help:"Print the API's JSON."`
}

// Run prints the receipt.
func (c *receiptCommand) Run(ctx context.Context, sh *shell) error {
	if c.State != "" && !client.GetReceiptParamsState(c.State).Valid() {
		return usageError(fmt.Sprintf("%q is not a state of a node: the states are acked, nacked, pending, offline, late", c.State))
	}
	if c.State != "" && c.Wait.on {
		return usageError("--state lists what is known now: leave out --wait, or --state")
	}
	wait, err := c.Wait.within(c.Timeout)
	if err != nil {
		return err
	}
	var revision int64
	if c.Revision != "latest" {
		if revision, err = revisionNumber(c.Revision); err != nil {
			return err
		}
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	if c.Revision == "latest" {
		if revision, err = s.latest(ctx); err != nil {
			return err
		}
	}
	if c.State != "" {
		return c.list(ctx, s, revision)
	}
	return s.tellReceipt(ctx, revision, wait, c.JSON, doubts{})
}

// latest is the newest revision of the fleet.
func (s *session) latest(ctx context.Context) (int64, error) {
	resp, err := s.api.GetFleet(ctx, s.tenant, s.fleet)
	f, _, err := answer[client.Fleet](s, resp, err)
	if err == nil && f.Revision == 0 {
		err = errors.New("the fleet has no revision yet")
	}
	return f.Revision, err
}
