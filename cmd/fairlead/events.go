package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/client"
)

// eventsCommand is "fairlead events".
type eventsCommand struct {
	Connection connection `embed:""`

	Node  string `placeholder:"NODE" help:"Only of this node."`
	Limit int    `short:"n" default:"50" help:"How many to list at most; 0 for all."`
	JSON  bool   `name:"json" help:"Print the API's JSON."`
}

// Run prints the events.
func (c *eventsCommand) Run(ctx context.Context, sh *shell) error {
	if c.Limit < 0 {
		return usageError("--limit must not be below 0")
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	var node *string
	if c.Node != "" {
		node = &c.Node
	}
	items, err := pages(c.Limit, func(limit int, cursor *string) (page, error) {
		resp, err := s.api.ListEvents(ctx, s.tenant, s.fleet, &client.ListEventsParams{Node: node, Limit: &limit, Cursor: cursor})
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return s.printItems(items)
	}
	events, err := decode[client.Event](items)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		fmt.Fprintln(s.out, "nothing has happened")
		return nil
	}
	fmt.Fprint(s.out, eventTable(events))
	return nil
}

func eventTable(events []client.Event) table {
	t := table{{"AT", "NODE", "EVENT", "RESOURCE", "REVISION", "WORDS"}}
	for _, e := range events {
		resource, revision := "", ""
		if e.Resource != nil {
			resource = refName(*e.Resource)
		}
		if e.Revision != nil {
			revision = strconv.FormatInt(*e.Revision, 10)
		}
		words := deref(e.Detail)
		if action := deref(e.Action); action != "" {
			words = strings.TrimSpace(words + " (" + action + ")")
		}
		t = append(t, []string{when(e.At), e.Node, string(e.Kind), resource, revision, words})
	}
	return t
}

// whenever is a time that may not be there.
func whenever(t *time.Time) string {
	if t == nil {
		return ""
	}
	return when(*t)
}
