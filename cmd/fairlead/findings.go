package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	client "fairlead/clients/go"
)

// findingsCommand is "fairlead findings".
type findingsCommand struct {
	Connection connection `embed:""`

	Severity string `enum:"error,warning,info," default:"" placeholder:"error|warning|info" help:"Only findings of this severity."`
	Limit    int    `short:"n" default:"100" help:"How many to list at most; 0 for all."`
	JSON     bool   `name:"json" help:"Print the API's JSON."`
}

// findingsPage is a page of findings, and how many there are of all.
type findingsPage struct {
	page
	Revision int64 `json:"revision"`
	Errors   int   `json:"errors"`
	Warnings int   `json:"warnings"`
	Infos    int   `json:"infos"`
}

// Run prints the findings, and how many there are of each severity.
func (c *findingsCommand) Run(ctx context.Context, sh *shell) error {
	if c.Limit < 0 {
		return usageError("--limit must not be below 0")
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	var last findingsPage
	items, err := pages(c.Limit, func(limit int, cursor *string) (page, error) {
		params := &client.ListFindingsParams{Severity: (*client.FindingSeverity)(given(c.Severity)), Limit: &limit, Cursor: cursor}
		resp, err := s.api.ListFindings(ctx, s.tenant, s.fleet, params)
		last, _, err = answer[findingsPage](s, resp, err)
		return last.page, err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		last.page = page{Items: append([]json.RawMessage{}, items...)}
		raw, err := json.Marshal(last)
		if err != nil {
			return err
		}
		return s.printJSON(raw)
	}
	found, err := decode[client.Finding](items)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		fmt.Fprint(s.out, findingTable(found))
	}
	fmt.Fprintf(s.out, "revision %d: %s\n", last.Revision, last.counts())
	return nil
}

func (p findingsPage) counts() string {
	var parts []string
	for _, n := range []struct {
		count int
		word  string
	}{{p.Errors, "error"}, {p.Warnings, "warning"}, {p.Infos, "info"}} {
		switch {
		case n.count == 1:
			parts = append(parts, "1 "+n.word)
		case n.count > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n.count, n.word))
		}
	}
	if parts == nil {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

func findingTable(fs []client.Finding) table {
	t := table{{"SEVERITY", "RESOURCE", "AT", "FINDING", "WHAT TO DO"}}
	for _, f := range fs {
		resource := string(f.Type) + "/" + f.Name
		if v := deref(f.Variant); v != "" {
			resource += " (" + v + ")"
		}
		t = append(t, []string{string(f.Severity), resource, f.Pointer, string(f.Code), f.Detail})
	}
	return t
}
