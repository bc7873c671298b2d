package main

import (
	"context"
	"fmt"

	client "fairlead/clients/go"
)

// auditCommand is "fairlead audit".
type auditCommand struct {
	Connection connection `embed:""`

	Kind   string `placeholder:"KIND" help:"Only events of this kind, such as token.create."`
	Actor  string `placeholder:"TOKEN" help:"Only what tokens of this name did."`
	Of     string `placeholder:"FLEET" help:"Only what was done to this fleet."`
	Since  string `placeholder:"TIME" help:"Only events of this time or later: so long ago, such as 12h or 30d, or a time such as 2026-01-02T03:04:05Z."`
	Until  string `placeholder:"TIME" help:"Only events of before this time, in the same forms."`
	Limit  int    `short:"n" default:"50" help:"How many to list at most; 0 for all."`
	Output string `short:"o" enum:"table,json" default:"table" placeholder:"table|json" help:"How to print it: table or json."`
	JSON   bool   `name:"json" help:"Print the API's JSON: -o json."`
	Verify bool   `help:"Verify the whole chain instead: compute all hashes again. The exit status is 1 where something is not as it was written."`
	Heads  string `type:"existingfile" placeholder:"FILE" help:"With --verify: compare with heads that were exported before: the API servers' log, or what a collector was sent."`
}

// Run prints the events.
func (c *auditCommand) Run(ctx context.Context, sh *shell) error {
	if c.Limit < 0 {
		return usageError("--limit must not be below 0")
	}
	if c.Heads != "" && !c.Verify {
		return usageError("--heads is for --verify")
	}
	if c.Verify && (c.Kind+c.Actor+c.Of+c.Since+c.Until != "" || c.JSON || c.Output == "json") {
		return usageError("--verify is of the whole audit, in words: it takes --heads alone")
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	if c.Verify {
		return c.verify(ctx, s)
	}
	from, err := since(sh, "since", c.Since)
	if err != nil {
		return err
	}
	to, err := since(sh, "until", c.Until)
	if err != nil {
		return err
	}
	items, err := pages(c.Limit, func(limit int, cursor *string) (page, error) {
		resp, err := s.api.ListAudit(ctx, s.tenant, &client.ListAuditParams{
			Kind: given(c.Kind), Actor: given(c.Actor), Fleet: given(c.Of), Since: from, Until: to, Limit: &limit, Cursor: cursor,
		})
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	if err != nil {
		return err
	}
	if c.JSON || c.Output == "json" {
		return s.printItems(items)
	}
	events, err := decode[client.AuditEvent](items)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		fmt.Fprintln(s.out, "there is no such event")
		return nil
	}
	t := table{{"AT", "BY", "FROM", "KIND", "OBJECT", "REQUEST"}}
	for _, e := range events {
		t = append(t, []string{when(e.At), e.By.Name, deref(e.Address), e.Kind, auditObject(e), deref(e.RequestId)})
	}
	fmt.Fprint(s.out, t)
	return nil
}

// auditObject is what an event is about, and how often it was denied or read, or compared with what came of it.
func auditObject(e client.AuditEvent) string {
	detail := deref(e.Detail)
	if contents, compared := detail["contents"].(float64); compared {
		return fmt.Sprintf("%s (%v, x%.0f)", e.Object, detail["result"], contents)
	}
	if requests, read := detail["requests"].(float64); read {
		return fmt.Sprintf("%s (x%.0f)", e.Object, requests)
	}
	attempts, denied := detail["attempts"].(float64)
	if !denied {
		return e.Object
	}
	return fmt.Sprintf("%s (%v, x%.0f)", e.Object, detail["code"], attempts)
}
