package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	client "fairlead/clients/go"
)

// historyCommand is "fairlead history".
type historyCommand struct {
	List historyListCommand `cmd:"" default:"withargs" help:"List the revisions, newest first, or what became of one resource."`
	Show historyShowCommand `cmd:"" help:"Print what a revision changed, as a difference."`
}

type historyListCommand struct {
	Connection connection `embed:""`

	Type    string `arg:"" optional:"" help:"With NAME: what became of this resource. One of ${types}."`
	Name    string `arg:"" optional:"" help:"The resource's name."`
	Variant string `placeholder:"VARIANT" help:"The resource's variant; left out for the default one."`

	Kind  string `placeholder:"KIND" help:"Only revisions of this kind: put, delete, apply, rollback or endpoints."`
	Actor string `placeholder:"TOKEN" help:"Only revisions of tokens of this name."`
	Since string `placeholder:"TIME" help:"Only revisions of this time or later: so long ago, such as 12h or 30d, or a time such as 2026-01-02T03:04:05Z."`
	Until string `placeholder:"TIME" help:"Only revisions of before this time, in the same forms."`
	Limit int    `short:"n" default:"20" help:"How many to list at most; 0 for all."`

	Receipts *int `placeholder:"N" help:"Of how many revisions, the newest, to tell how the receipt stands: 20 at most, 1 where it is left out. Each is counted when you ask."`

	Output string `short:"o" enum:"table,json" default:"table" placeholder:"table|json" help:"How to print it: table or json."`
	JSON   bool   `name:"json" help:"Print the API's JSON: -o json."`
}

// Run prints the revisions.
func (c *historyListCommand) Run(ctx context.Context, sh *shell) error {
	switch {
	case c.Limit < 0:
		return usageError("--limit must not be below 0")
	case c.Type != "" && c.Name == "":
		return usageError(fmt.Sprintf("the history is of the fleet, or of one resource: give the name of %s too", c.Type))
	case c.Type != "" && (c.Kind != "" || c.Actor != "" || c.Since != "" || c.Until != "" || c.Receipts != nil):
		return usageError("--kind, --actor, --since, --until and --receipts are of the fleet's history: leave the resource out")
	case c.Type == "" && c.Variant != "":
		return usageError("--variant is of a resource: give its type and name too")
	case c.Type != "":
		if err := checkType(c.Type); err != nil {
			return err
		}
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	items, err := pages(c.Limit, func(limit int, cursor *string) (page, error) { return c.page(ctx, s, limit, cursor) })
	if err != nil {
		return err
	}
	if c.JSON || c.Output == "json" {
		return s.printItems(items)
	}
	t, err := c.table(items)
	if err != nil {
		return err
	}
	if len(t) == 1 {
		fmt.Fprintln(s.out, "there is no such revision")
		return nil
	}
	fmt.Fprint(s.out, t)
	return nil
}

func (c *historyListCommand) page(ctx context.Context, s *session, limit int, cursor *string) (page, error) {
	if c.Type != "" {
		resp, err := s.api.ListResourceHistory(ctx, s.tenant, s.fleet, client.ResourceType(c.Type), c.Name,
			&client.ListResourceHistoryParams{Variant: given(c.Variant), Limit: &limit, Cursor: cursor}, s.exactPath("resources", c.Type, c.Name, "history"))
		p, _, err := answer[page](s, resp, err)
		return p, err
	}
	receipts := c.Receipts
	if receipts != nil && cursor != nil { // the newest are on the first page
		receipts = new(int)
	}
	from, err := since(s.shell, "since", c.Since)
	if err != nil {
		return page{}, err
	}
	to, err := since(s.shell, "until", c.Until)
	if err != nil {
		return page{}, err
	}
	resp, err := s.api.ListRevisions(ctx, s.tenant, s.fleet, &client.ListRevisionsParams{
		Kind: (*client.RevisionKind)(given(c.Kind)), Actor: given(c.Actor), Since: from, Until: to, Limit: &limit, Cursor: cursor, Receipts: receipts,
	})
	p, _, err := answer[page](s, resp, err)
	return p, err
}

func (c *historyListCommand) table(items []json.RawMessage) (table, error) {
	if c.Type != "" {
		changes, err := decode[client.ResourceChange](items)
		t := table{{"REVISION", "ACTION", "KIND", "AT", "BY", "MESSAGE"}}
		for _, r := range changes {
			t = append(t, []string{strconv.FormatInt(r.Revision, 10), string(r.Action), deref(r.Kind), when(r.At), deref(r.Actor), deref(r.Message)})
		}
		return t, err
	}
	revisions, err := decode[client.Revision](items)
	t := table{{"REVISION", "KIND", "NEW", "CHANGED", "GONE", "COMMITTED", "BY", "RECEIPT", "MESSAGE"}}
	for _, r := range revisions {
		receipt := ""
		if r.Receipt != nil {
			receipt = string(*r.Receipt)
		}
		kind := r.Kind
		if run := deref(r.Run); run > 1 {
			kind = fmt.Sprintf("%s (%d)", kind, run)
		}
		t = append(t, []string{
			strconv.FormatInt(r.Revision, 10), kind, strconv.Itoa(r.Created), strconv.Itoa(r.Updated), strconv.Itoa(r.Deleted), when(r.CommittedAt),
			deref(r.Actor), receipt, deref(r.Message),
		})
	}
	return t, err
}

type historyShowCommand struct {
	Connection connection `embed:""`

	Revision string `arg:"" help:"The number of the revision, or latest."`
	From     *int64 `placeholder:"N" help:"Compare it with this revision, and not with the one before it; 0 is the empty fleet."`
	Output   string `short:"o" enum:"diff,json" default:"diff" placeholder:"diff|json" help:"How to print it: diff or json."`
	JSON     bool   `name:"json" help:"Print the API's JSON: -o json."`
}

// Run prints the differences.
func (c *historyShowCommand) Run(ctx context.Context, sh *shell) error {
	var to *int64
	if c.Revision != "latest" {
		n, err := revisionNumber(c.Revision)
		if err != nil {
			return err
		}
		to = &n
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	items, err := pages(0, func(limit int, cursor *string) (page, error) {
		var resp *http.Response
		var err error
		if c.From != nil {
			resp, err = s.api.CompareRevisions(ctx, s.tenant, s.fleet, &client.CompareRevisionsParams{From: *c.From, To: to, Limit: &limit, Cursor: cursor}) //nolint:bodyclose // answer closes it
		} else {
			resp, err = s.api.ListRevisionChanges(ctx, s.tenant, s.fleet, 0, &client.ListRevisionChangesParams{Limit: &limit, Cursor: cursor}, s.exactPath("revisions", c.Revision, "changes")) //nolint:bodyclose // as above
		}
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	if err != nil {
		return err
	}
	if c.JSON || c.Output == "json" {
		return s.printItems(items)
	}
	differences, err := decode[client.Difference](items)
	if err != nil {
		return err
	}
	for _, d := range differences {
		s.printDiff(client.PlannedResource{Type: d.Type, Name: d.Name, Variant: d.Variant, Action: d.Action, Diff: d.Diff, Hidden: d.Hidden, Omitted: d.Omitted})
	}
	if len(differences) == 0 {
		fmt.Fprintln(s.out, "there is no difference")
	}
	return nil
}
