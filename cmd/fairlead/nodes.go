package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
)

// nodesCommand is "fairlead nodes".
type nodesCommand struct {
	Connection connection `embed:""`

	Node   string `arg:"" optional:"" help:"A node's id; without it, all nodes."`
	Config bool   `help:"Tell what the node should hold, and why: what it refused, and what stands in for it."`
	Type   string `placeholder:"TYPE" help:"With --config, only resources of this type."`
	State  string `placeholder:"STATE" help:"With --config, only resources in this state: synced, pending, refused, absent, unreferenced, not_subscribed, on_demand."`
	Output string `short:"o" enum:"table,json,yaml," default:"" placeholder:"FORM" help:"table, json, or with --config yaml: each resource with its body, as this node has it; secrets are sealed."`
	JSON   bool   `name:"json" help:"Print the API's JSON: -o json."`

	Selector string `placeholder:"SELECTOR" help:"Only nodes that it matches by the labels that they had last: what a variant with it would be for."`
}

// Run prints the nodes, and below them what they refuse.
func (c *nodesCommand) Run(ctx context.Context, sh *shell) error {
	if err := c.check(); err != nil {
		return err
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	switch {
	case c.Config:
		return c.config(ctx, s)
	case c.Node != "":
		return c.one(ctx, s)
	}
	return c.list(ctx, s)
}

func (c *nodesCommand) check() error {
	if c.JSON && c.Output == "" {
		c.Output = "json"
	}
	c.JSON = c.JSON || c.Output == "json"
	switch {
	case c.JSON && c.Output != "json":
		return usageError("--json is -o json: give one of them")
	case c.Output == "yaml" && !c.Config:
		return usageError("-o yaml goes with --config: fairlead nodes NODE --config -o yaml")
	case c.Config && c.Node == "":
		return usageError("--config is about one node: give its id, fairlead nodes NODE --config")
	case c.Selector != "" && c.Node != "":
		return usageError("--selector is about all nodes: leave the node's id out")
	case !c.Config && (c.Type != "" || c.State != ""):
		return usageError("--type and --state go with --config")
	case c.State != "" && !client.NodeResourceState(c.State).Valid():
		return usageError(fmt.Sprintf("%q is not a state of a resource: the states are synced, pending, refused, absent, unreferenced, not_subscribed, on_demand", c.State))
	case c.Type != "":
		return checkType(c.Type)
	}
	return nil
}

func (c *nodesCommand) one(ctx context.Context, s *session) error {
	resp, err := s.api.GetNode(ctx, s.tenant, s.fleet, c.Node, s.exactPath("nodes", c.Node))
	n, raw, err := answer[client.Node](s, resp, err)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.printJSON(raw)
	}
	fmt.Fprint(s.out, nodePage(n))
	for _, line := range nodeTroubles([]client.Node{n}, s.now()) {
		fmt.Fprintln(s.out, line)
	}
	return nil
}

func (c *nodesCommand) list(ctx context.Context, s *session) error {
	unknown := 0
	items, err := pages(0, func(limit int, cursor *string) (page, error) {
		params := &client.ListNodesParams{Limit: &limit, Cursor: cursor}
		if c.Selector != "" {
			params.Selector = &c.Selector
		}
		resp, err := s.api.ListNodes(ctx, s.tenant, s.fleet, params)
		p, _, err := answer[nodesPage](s, resp, err)
		unknown += p.Unknown
		return p.page, err
	})
	if err != nil {
		return err
	}
	if unknown > 0 {
		fmt.Fprintf(s.err, "warning: of %d nodes the labels are not known: their metadata takes more than 16 KiB, or they have not connected for long\n", unknown)
	}
	if c.JSON {
		return s.printItems(items)
	}
	nodes, err := decode[client.Node](items)
	if err != nil {
		return err
	}
	if len(nodes) == 0 && c.Selector != "" {
		fmt.Fprintln(s.out, "no node that has connected matches the selector")
		return nil
	}
	if len(nodes) == 0 {
		fmt.Fprintln(s.out, "no node has connected yet")
		return nil
	}
	s.printNodes(nodes)
	return nil
}

// nodesPage is a page of nodes, and how many were passed over.
type nodesPage struct {
	page
	Unknown int `json:"labels_unknown"`
}

func (s *session) printNodes(nodes []client.Node) {
	fmt.Fprint(s.out, nodeTable(nodes))
	for _, line := range nodeTroubles(nodes, s.now()) {
		fmt.Fprintln(s.out, line)
	}
}

func nodeTable(nodes []client.Node) table {
	t := table{{"NODE", "STATE", "SETTLED", "CLIENT", "PROTOCOL", "ADDRESS", "LAST SEEN"}}
	for _, n := range nodes {
		settled := ""
		if n.Settled > 0 {
			settled = strconv.FormatInt(n.Settled, 10)
		}
		t = append(t, []string{n.Id, string(n.State), settled, clientName(n.UserAgent, n.Version), deref(n.Protocol), deref(n.RemoteAddr), when(n.LastSeen)})
	}
	return t
}

// nodeTroubles tells of credentials that end, of node ids that are used twice and of what is refused at present.
func nodeTroubles(nodes []client.Node, now time.Time) (out []string) {
	for _, n := range nodes {
		out = append(out, credentialLines(n, now)...)
		if n.Duplicates != nil && (n.Connections == nil || *n.Connections < *n.Duplicates) {
			out = append(out, plain(fmt.Sprintf("%s: %d clients have this node id: give each its own", n.Id, *n.Duplicates)))
		} else if n.Connections != nil && *n.Connections > 1 {
			out = append(out, plain(fmt.Sprintf("%s is connected to %d servers: is its node id used twice?", n.Id, *n.Connections)))
		}
		out = append(out, frozenLines(n.Id, n.Frozen)...)
		if deref(n.UserAgent) == fleet.AgentNoEnvoy && n.State != client.NodeStateOffline {
			out = append(out, plain(n.Id+": "+noEnvoy))
		}
		if n.Waits != nil {
			var lines []string
			for _, line := range waitsOf(&n.Waits.Withheld, &n.Waits.Warming) {
				if line = plain(n.Id + ": " + line); !slices.Contains(lines, line) { // of several revisions
					lines = append(lines, line)
				}
			}
			out = append(out, lines...)
		}
		for _, r := range n.Refusals {
			if r.ResolvedAt != nil {
				continue
			}
			line := fmt.Sprintf("%s refuses %s/%s of revision %d since %s: %s", n.Id, r.Type, r.Name, r.Revision, when(r.At), r.Detail)
			var done []string
			if action := deref(r.Action); action != "" {
				done = append(done, action)
			}
			if lifted := deref(r.LiftedBy); lifted != "" {
				done = append(done, "lifted by "+lifted)
			}
			if len(done) > 0 {
				line += " (" + strings.Join(done, "; ") + ")"
			}
			out = append(out, plain(line))
		}
	}
	return out
}

// credentialSoon is how long before its end a node credential is spoken of.
const credentialSoon = 14 * 24 * time.Hour

// credentialLines tell of a credential that ends: before, and of a node that is not connected with one that has ended.
func credentialLines(n client.Node, now time.Time) []string {
	at := n.CredentialExpiresAt
	if at == nil || at.Sub(now) > credentialSoon {
		return nil
	}
	if at.After(now) {
		return []string{plain(fmt.Sprintf("%s: its node credential expires at %s: renew it before (fairlead credential renew %s), and give the node the new token", n.Id, when(*at), deref(n.Credential)))}
	}
	if n.State != client.NodeStateOffline {
		return nil
	}
	return []string{plain(fmt.Sprintf("%s: the node credential %s with which it came last ended at %s: make a new one, and give the node its token", n.Id, deref(n.Credential), when(*at)))}
}

// frozenLines tells of types of which a node refuses too much.
func frozenLines(node string, types *[]client.ResourceType) (out []string) {
	if types == nil {
		return nil
	}
	for _, t := range *types {
		out = append(out, plain(fmt.Sprintf("%s refuses more than a thousand %s: while it does it settles no revision, and each one stays pending for it; what is over is offered again on its next stream: fix what it refuses", node, t)))
	}
	return out
}

// clientName is what a client says of itself.
func clientName(agent, version *string) string {
	return strings.TrimSpace(deref(agent) + " " + deref(version))
}
