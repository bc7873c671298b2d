package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	client "fairlead/clients/go"
)

// eventsCommand is "fairlead events".
type eventsCommand struct {
	Connection connection `embed:""`

	Node   string `placeholder:"NODE" help:"Only of this node."`
	Since  string `placeholder:"TIME" help:"Only what happened since then: so long ago, such as 1h, or a time such as 2026-05-01T12:00:00Z."`
	Follow bool   `short:"f" help:"Go on with what happens, until Ctrl-C; with --since begin there, oldest first."`
	Each   bool   `help:"A line for each node, also where many say the same."`
	Limit  int    `short:"n" default:"50" help:"How many lines to list at most; 0 for all."`
	JSON   bool   `name:"json" help:"Print the API's JSON; with --follow a line for each event."`
}

// followWait is for how long the API holds one answer back.
const followWait = "55s"

// Run prints the events.
func (c *eventsCommand) Run(ctx context.Context, sh *shell) error {
	if c.Limit < 0 {
		return usageError("--limit must not be below 0")
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	if c.Follow {
		return c.follow(ctx, s)
	}
	items, err := pages(c.Limit, func(limit int, cursor *string) (page, error) {
		params := c.params()
		params.Limit, params.Cursor = &limit, cursor
		resp, err := s.api.ListEvents(ctx, s.tenant, s.fleet, params)
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

func (c *eventsCommand) params() *client.ListEventsParams {
	p := &client.ListEventsParams{}
	if c.Node != "" {
		p.Node = &c.Node
	}
	if c.Since != "" {
		p.Since = &c.Since
	}
	if !c.Each {
		grouped := true
		p.Grouped = &grouped
	}
	return p
}

// followedEvents is an answer from a place on.
type followedEvents struct {
	Items    []json.RawMessage `json:"items"`
	Position string            `json:"position"`
}

// follow prints what happens as it does. Who stops it has had all that there was; an API that is
// away for a while is asked again where it was left.
func (c *eventsCommand) follow(ctx context.Context, s *session) error {
	params, wait := c.params(), "0s"
	header := false
	for {
		params.Wait = &wait
		resp, err := s.api.ListEvents(ctx, s.tenant, s.fleet, params)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // Ctrl-C is how it ends
		}
		p, _, err := answer[followedEvents](s, resp, err)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the same
		}
		if err != nil {
			return err
		}
		if wait = followWait; len(p.Items) > 0 {
			wait = "0s" // there may be more already
		}
		if c.JSON {
			for _, item := range p.Items {
				fmt.Fprintln(s.out, string(plainJSON(item)))
			}
		} else if err := s.printFollowed(p.Items, &header); err != nil {
			return err
		}
		params.After, params.Since = &p.Position, nil
	}
}

// followFormat has the columns of a list that does not know what comes.
const followFormat = "%-20s  %-24s  %-10s  %-28s  %-8s  %s\n"

func (s *session) printFollowed(items []json.RawMessage, header *bool) error {
	events, err := decode[client.Event](items)
	if err != nil {
		return err
	}
	rows := eventTable(events)
	if *header {
		rows = rows[1:]
	}
	*header = true
	for _, r := range rows {
		fmt.Fprintf(s.out, followFormat, plain(r[0]), plain(r[1]), plain(r[2]), plain(r[3]), plain(r[4]), plain(r[5]))
	}
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
		t = append(t, []string{when(e.At), eventNodes(e), string(e.Kind), resource, revision, words})
	}
	return t
}

// eventNodes are the nodes of an event or of a group of them.
func eventNodes(e client.Event) string {
	if e.Nodes != nil && *e.Nodes > 1 {
		return fmt.Sprintf("%d nodes", *e.Nodes)
	}
	return e.Node
}

// whenever is a time that may not be there.
func whenever(t *time.Time) string {
	if t == nil {
		return ""
	}
	return when(*t)
}
