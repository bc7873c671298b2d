package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	client "fairlead/clients/go"
)

// config prints what one node should hold.
func (c *nodesCommand) config(ctx context.Context, s *session) error {
	params := client.GetNodeConfigParams{}
	if c.Type != "" {
		params.Type = (*client.ResourceType)(&c.Type)
	}
	if c.State != "" {
		params.State = (*client.NodeResourceState)(&c.State)
	}
	if c.Output == "yaml" {
		yes := true
		params.Bodies = &yes
	}
	var raw json.RawMessage // of the last page, for what stands beside the items
	moved := movement{}
	items, err := pages(0, func(limit int, cursor *string) (page, error) {
		params.Limit, params.Cursor = &limit, cursor
		resp, err := s.api.GetNodeConfig(ctx, s.tenant, s.fleet, c.Node, &params, s.exactPath("nodes", c.Node, "config"))
		p, last, err := answer[configPage](s, resp, err)
		raw = last
		moved.see(p.Revision)
		return p.page, err
	})
	if err != nil {
		return err
	}
	if moved.from != moved.to {
		fmt.Fprintf(s.err, "warning: the fleet went from revision %d to %d while this was read: read it again\n", moved.from, moved.to)
	}
	switch {
	case c.JSON:
		return s.printWhole(raw, items)
	case c.Output == "yaml":
		return s.printDocuments(items, heldFields)
	}
	var head client.NodeConfig
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("read the node's configuration: %w", err)
	}
	resources, err := decode[client.NodeResource](items)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, plain(nodeHeadline(head)))
	if len(resources) == 0 {
		if c.State != "" {
			fmt.Fprintf(s.out, "no resource is %s for this node\n", c.State)
			return nil
		}
		fmt.Fprintln(s.out, "no such resource in the fleet")
		return nil
	}
	fmt.Fprint(s.out, resourceTable(resources))
	if head.LabelsUnknown != nil {
		fmt.Fprintln(s.err, "warning: not all labels of the node are known: where variants are told apart by its metadata, it may hold another one")
	}
	for _, line := range frozenLines(head.Node, head.Frozen) {
		fmt.Fprintln(s.out, line)
	}
	for _, line := range append(resourceTroubles(head.Node, resources), ttlNotes(resources)...) {
		fmt.Fprintln(s.out, plain(line))
	}
	return nil
}

// heldFields are what is told of a resource as a node has it, in the order in which it is printed.
var heldFields = []string{"type", "name", "variant", "state", "version", "revision", "ttl", "refused_version", "refused_revision", "detail", "action", "since", "keeps", "body", "secret"}

// configPage is a page of a node's configuration. Each is of one revision.
type configPage struct {
	page
	Revision int64 `json:"revision"`
}

// movement is the fleet's revision on the first and on the last page.
type movement struct {
	from, to int64
	seen     bool
}

func (m *movement) see(revision int64) {
	if !m.seen {
		m.from, m.seen = revision, true
	}
	m.to = revision
}

// printWhole prints a page with the items of all pages in it.
func (s *session) printWhole(raw json.RawMessage, items []json.RawMessage) error {
	var whole map[string]json.RawMessage
	err := json.Unmarshal(raw, &whole)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	delete(whole, "next_cursor")
	if whole["items"], err = json.Marshal(append([]json.RawMessage{}, items...)); err != nil {
		return err
	}
	if raw, err = json.Marshal(whole); err != nil {
		return err
	}
	return s.printJSON(raw)
}

func nodeHeadline(n client.NodeConfig) string {
	line := fmt.Sprintf("%s: %s", n.Node, n.State)
	if agent := clientName(n.UserAgent, n.Version); agent != "" {
		line += ", " + agent
	}
	if n.Protocol != nil {
		line += ", " + *n.Protocol
	}
	return line + ", " + settledOf(n.Settled, n.Revision)
}

// settledOf is how far a node has come.
func settledOf(settled, newest int64) string {
	if settled == 0 {
		return fmt.Sprintf("nothing confirmed yet of revision %d", newest)
	}
	return fmt.Sprintf("settled at revision %d of %d", settled, newest)
}

func resourceTable(resources []client.NodeResource) table {
	t := table{{"TYPE", "NAME", "STATE", "VERSION", "REVISION", "TTL"}}
	for _, r := range resources {
		revision := ""
		if r.Revision != nil {
			revision = strconv.FormatInt(*r.Revision, 10)
		}
		ttl := deref(r.Ttl)
		switch {
		case r.Ttl == nil:
		case r.TtlSent == nil:
			ttl += ", perhaps sent"
		case !*r.TtlSent:
			ttl += ", not sent"
		}
		t = append(t, []string{string(r.Type), variantName(r), string(r.State), deref(r.Version), revision, ttl})
	}
	return t
}

// variantName is a resource's name and, if it is not the default one, its variant.
func variantName(r client.NodeResource) string {
	if r.Variant == nil {
		return r.Name
	}
	return r.Name + " (variant " + *r.Variant + ")"
}

// resourceTroubles tells of what is refused, in the client's words, and what follows.
func resourceTroubles(node string, resources []client.NodeResource) (out []string) {
	for _, r := range resources {
		ref := fmt.Sprintf("%s/%s", r.Type, r.Name)
		if r.RefusedVersion != nil {
			line := fmt.Sprintf("%s refuses %s", node, ref)
			if r.RefusedRevision != nil {
				line += fmt.Sprintf(" of revision %d", *r.RefusedRevision)
			}
			if r.Since != nil {
				line += " since " + when(*r.Since)
			}
			line += ": " + deref(r.Detail)
			if action := deref(r.Action); action != "" {
				line += " (" + action + ")"
			}
			out = append(out, line)
		}
		if r.Keeps == nil {
			continue
		}
		for _, kept := range *r.Keeps {
			out = append(out, fmt.Sprintf("%s keeps %s/%s, which the fleet has deleted: the version of %s that stands in names it", node, kept.Type, kept.Name, ref))
		}
	}
	return out
}

// ttlNotes are the reasons why TTLs are not sent, each once.
func ttlNotes(resources []client.NodeResource) (out []string) {
	for _, r := range resources {
		if r.Ttl == nil || r.TtlDetail == nil || r.TtlSent != nil && *r.TtlSent {
			continue
		}
		if note := "ttl: " + *r.TtlDetail; !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	return out
}
