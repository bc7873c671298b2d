package main

import (
	"context"
	"fmt"

	client "fairlead/clients/go"
)

// retryCommand is "fairlead retry".
type retryCommand struct {
	Connection connection `embed:""`

	Node string `arg:"" help:"A node's id."`
	JSON bool   `name:"json" help:"Print the API's JSON."`
}

// Run offers the node again what it refuses. Repeated, it finds nothing more to do.
func (c *retryCommand) Run(ctx context.Context, sh *shell) error {
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	resp, err := s.api.RetryNode(ctx, s.tenant, s.fleet, c.Node, s.exactPath("nodes", c.Node, "retry"))
	r, raw, err := answer[client.Retry](s, resp, err)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.printJSON(raw)
	}
	for _, line := range retryLines(r) {
		fmt.Fprintln(s.out, plain(line))
	}
	return nil
}

func retryLines(r client.Retry) []string {
	what := fmt.Sprintf("%d resources are", r.Retried)
	if r.Retried == 1 {
		what = "1 resource is"
	}
	when := "now"
	if r.State == client.NodeStateOffline {
		when = "when it comes back"
	}
	lines := []string{fmt.Sprintf("%s: %s offered again %s", r.Node, what, when)}
	for _, ref := range r.Resources {
		lines = append(lines, fmt.Sprintf("%s/%s", ref.Type, ref.Name))
	}
	if more := r.Retried - len(r.Resources); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}
