package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	client "fairlead/clients/go"
)

// loadCommand is "fairlead load".
type loadCommand struct {
	listing
	Cluster   string `arg:"" optional:"" help:"By minute, of this cluster alone. Else one line for each cluster."`
	Endpoints bool   `help:"Of the cluster, one line for each endpoint, of the last hour. The fleet has to ask for them: fairlead fleet --load-report-endpoints=on."`
}

// Run prints them.
func (c *loadCommand) Run(ctx context.Context, sh *shell) error {
	switch {
	case c.Endpoints && c.Cluster == "":
		return usageError("--endpoints: of which cluster? Give its name: fairlead load CLUSTER --endpoints")
	case c.Endpoints && !c.JSON:
		return c.endpoints(ctx, sh)
	}
	head, first := []string{"CLUSTER", "ISSUED", "SUCCESSFUL", "ERRORS", "DROPPED", "NEWEST"}, func(l client.Load) []string { return []string{l.Cluster} }
	last, none := func(l client.Load) string { return when(l.Minute) }, "no proxy has reported requests in the last hour"
	if c.Cluster != "" {
		head, first = []string{"MINUTE", "ISSUED", "SUCCESSFUL", "ERRORS", "DROPPED", "IN PROGRESS"}, func(l client.Load) []string { return []string{when(l.Minute)} }
		last, none = func(l client.Load) string { return strconv.FormatFloat(deref(l.InProgress), 'f', 1, 64) }, "no proxy has reported requests to the cluster in the last hour"
	}
	row := func(l client.Load) []string {
		return append(first(l), count(l.Issued), count(l.Successful), count(l.Errors), count(l.Dropped), last(l))
	}
	p, err := listAll(c.listing, sh, ofFleet, none, head, row, c.ask(ctx))
	if err == nil && p.LeftOut > 0 && !c.JSON {
		fmt.Fprintf(sh.err, "warning: parts of the last hour's reports that were left out, as they are over the limits: %d; numbers may be too low\n", p.LeftOut)
	}
	return err
}

func (c *loadCommand) ask(ctx context.Context) func(s *session, limit *int, cursor *string) (*http.Response, error) {
	return func(s *session, limit *int, cursor *string) (*http.Response, error) {
		return s.api.ListLoad(ctx, s.tenant, s.fleet, &client.ListLoadParams{Cluster: given(c.Cluster), Limit: limit, Cursor: cursor})
	}
}

// endpointSum is what went to one endpoint in the last hour.
type endpointSum struct {
	address, locality          string
	issued, successful, errors int64
	newest                     string
}

// endpoints adds up the minutes, and prints a row for each endpoint.
func (c *loadCommand) endpoints(ctx context.Context, sh *shell) error {
	s, err := c.Connection.openFor(sh, ofFleet)
	if err != nil {
		return err
	}
	ask := c.ask(ctx)
	raw, err := pages(0, func(limit int, cursor *string) (page, error) {
		resp, err := ask(s, &limit, cursor) //nolint:bodyclose // answer closes it
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	if err != nil {
		return err
	}
	minutes, err := decode[client.Load](raw)
	if err != nil {
		return err
	}
	sums := endpointSums(minutes)
	if len(sums) == 0 {
		fmt.Fprintln(sh.out, "no proxy has reported requests to an endpoint of the cluster in the last hour: has the fleet asked for them? (fairlead fleet --load-report-endpoints=on)")
		return nil
	}
	t := table{{"ENDPOINT", "LOCALITY", "ISSUED", "SUCCESSFUL", "ERRORS", "NEWEST"}}
	for _, e := range sums {
		t = append(t, []string{e.address, e.locality, count(e.issued), count(e.successful), count(e.errors), e.newest})
	}
	fmt.Fprint(sh.out, t)
	return nil
}

// endpointSums are by locality and address; minutes come the oldest first.
func endpointSums(minutes []client.Load) (sums []endpointSum) {
	type endpoint struct{ locality, address string }
	at := map[endpoint]int{}
	for _, m := range minutes {
		for _, e := range deref(m.Endpoints) {
			l := deref(e.Locality)
			of := endpoint{strings.TrimRight(strings.Join([]string{deref(l.Region), deref(l.Zone), deref(l.SubZone)}, "/"), "/"), e.Address}
			i, ok := at[of]
			if !ok {
				i = len(sums)
				at[of], sums = i, append(sums, endpointSum{address: of.address, locality: of.locality})
			}
			x := &sums[i]
			x.issued, x.successful, x.errors, x.newest = x.issued+e.Issued, x.successful+e.Successful, x.errors+e.Errors, when(m.Minute)
		}
	}
	slices.SortFunc(sums, func(a, b endpointSum) int {
		return cmp.Or(strings.Compare(a.locality, b.locality), strings.Compare(a.address, b.address))
	})
	return sums
}

func count(n int64) string { return strconv.FormatInt(n, 10) }
