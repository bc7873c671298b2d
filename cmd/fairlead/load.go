package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	client "fairlead/clients/go"
)

// loadCommand is "fairlead load".
type loadCommand struct {
	listing
	Cluster string `arg:"" optional:"" help:"By minute, of this cluster alone. Else one line for each cluster."`
}

// Run prints them.
func (c *loadCommand) Run(ctx context.Context, sh *shell) error {
	head, first := []string{"CLUSTER", "ISSUED", "SUCCESSFUL", "ERRORS", "DROPPED", "NEWEST"}, func(l client.Load) []string { return []string{l.Cluster} }
	last, none := func(l client.Load) string { return when(l.Minute) }, "no proxy has reported requests in the last hour"
	if c.Cluster != "" {
		head, first = []string{"MINUTE", "ISSUED", "SUCCESSFUL", "ERRORS", "DROPPED", "IN PROGRESS"}, func(l client.Load) []string { return []string{when(l.Minute)} }
		last, none = func(l client.Load) string { return strconv.FormatFloat(deref(l.InProgress), 'f', 1, 64) }, "no proxy has reported requests to the cluster in the last hour"
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	row := func(l client.Load) []string {
		return append(first(l), number(l.Issued), number(l.Successful), number(l.Errors), number(l.Dropped), last(l))
	}
	p, err := listAll(c.listing, sh, ofFleet, none, head, row, func(s *session, limit *int, cursor *string) (*http.Response, error) {
		return s.api.ListLoad(ctx, s.tenant, s.fleet, &client.ListLoadParams{Cluster: given(c.Cluster), Limit: limit, Cursor: cursor})
	})
	if err == nil && p.LeftOut > 0 && !c.JSON {
		fmt.Fprintf(sh.err, "warning: parts of the last hour's reports that were left out, as they are over the limits: %d; numbers may be too low\n", p.LeftOut)
	}
	return err
}
