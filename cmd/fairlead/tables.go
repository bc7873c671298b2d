package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/internal/client"
)

// table is lines of cells. Cells are made safe to print; columns are aligned.
type table [][]string

func (t table) String() string {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = plain(cell)
			if row[i] == "" {
				row[i] = "-"
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range t {
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// decode reads the items of a list.
func decode[T any](items []json.RawMessage) ([]T, error) {
	out := make([]T, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item, &out[i]); err != nil {
			return nil, fmt.Errorf("read item %d of the answer: %w", i, err)
		}
	}
	return out, nil
}

// revisionsCommand is "fairlead revisions".
type revisionsCommand struct {
	Connection connection `embed:""`

	Limit int  `short:"n" default:"20" help:"How many to list at most; 0 for all."`
	JSON  bool `name:"json" help:"Print the API's JSON."`
}

// Run prints the revisions.
func (c *revisionsCommand) Run(ctx context.Context, sh *shell) error {
	if c.Limit < 0 {
		return usageError("--limit must not be below 0")
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	items, err := pages(c.Limit, func(limit int, cursor *string) (page, error) {
		resp, err := s.api.ListRevisions(ctx, s.tenant, s.fleet, &client.ListRevisionsParams{Limit: &limit, Cursor: cursor})
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return s.printItems(items)
	}
	revisions, err := decode[client.Revision](items)
	if err != nil {
		return err
	}
	if len(revisions) == 0 {
		fmt.Fprintln(s.out, "the fleet has no revision yet")
		return nil
	}
	t := table{{"REVISION", "KIND", "CHANGED", "COMMITTED", "BY", "MESSAGE"}}
	for _, r := range revisions {
		t = append(t, []string{
			strconv.FormatInt(r.Revision, 10), r.Kind, strconv.Itoa(r.Changed), when(r.CommittedAt), deref(r.Actor), deref(r.Message),
		})
	}
	fmt.Fprint(s.out, t)
	return nil
}
