package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	client "fairlead/clients/go"
)

// whyCommand is "fairlead why".
type whyCommand struct {
	Connection connection `embed:""`

	Node string `arg:"" help:"A node's id."`
	Type string `arg:"" optional:"" help:"Only resources of this type: ${types}."`
	Name string `arg:"" optional:"" help:"Only the resource of this name."`
	JSON bool   `name:"json" help:"Print the API's JSON."`
}

// Run prints the node's labels, and of each resource why the node has it.
func (c *whyCommand) Run(ctx context.Context, sh *shell) error {
	params := client.GetNodeWhyParams{}
	if c.Type != "" {
		if err := checkType(c.Type); err != nil {
			return err
		}
		params.Type = (*client.ResourceType)(&c.Type)
	}
	if c.Name != "" {
		params.Name = &c.Name
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	var raw json.RawMessage // of the last page, for what stands beside the items
	items, err := pages(0, func(limit int, cursor *string) (page, error) {
		params.Limit, params.Cursor = &limit, cursor
		resp, err := s.api.GetNodeWhy(ctx, s.tenant, s.fleet, c.Node, &params, s.exactPath("nodes", c.Node, "why"))
		p, last, err := answer[page](s, resp, err)
		raw = last
		return p, err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return s.printWhole(raw, items)
	}
	var head client.NodeReasons
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("read the node's reasons: %w", err)
	}
	reasons, err := decode[client.NodeReason](items)
	if err != nil {
		return err
	}
	for _, line := range whyHead(head) {
		fmt.Fprintln(s.out, plain(line))
	}
	if len(reasons) == 0 {
		fmt.Fprintln(s.out, "no such resource in the fleet")
		return nil
	}
	fmt.Fprint(s.out, whyTable(reasons))
	for _, r := range reasons {
		for _, line := range whyLines(r) {
			fmt.Fprintln(s.out, plain(line))
		}
	}
	return nil
}

func whyHead(n client.NodeReasons) []string {
	line := fmt.Sprintf("%s: %s, %s", n.Node, n.State, settledOf(n.Settled, n.Revision))
	var has []string
	for _, l := range []struct {
		key   string
		value *string
	}{
		{"node.cluster", n.Labels.Cluster}, {"locality.region", n.Labels.Region}, {"locality.zone", n.Labels.Zone}, {"locality.sub_zone", n.Labels.SubZone},
		{"client.name", n.Labels.ClientName}, {"client.version", n.Labels.ClientVersion},
	} {
		if l.value != nil {
			has = append(has, l.key+"="+*l.value)
		}
	}
	if n.Labels.Metadata != nil {
		if text, err := json.Marshal(*n.Labels.Metadata); err == nil {
			has = append(has, "metadata="+string(text))
		}
	}
	if n.LabelsUnknown != nil {
		has = append(has, "and some that are not known")
	}
	if len(has) == 0 {
		return []string{line}
	}
	return []string{line, "labels: " + strings.Join(has, ", ")}
}

func whyTable(reasons []client.NodeReason) table {
	t := table{{"TYPE", "NAME", "STATE", "REVISION", "WHY"}}
	for _, r := range reasons {
		revision := ""
		if r.Resource.Revision != nil {
			revision = fmt.Sprint(*r.Resource.Revision)
		}
		t = append(t, []string{string(r.Resource.Type), variantName(r.Resource), string(r.Resource.State), revision, r.Because})
	}
	return t
}

// whyLines tell of the variants that were skipped, with the requirement that does not hold.
func whyLines(r client.NodeReason) (out []string) {
	for _, v := range r.Why.PassedOver {
		why := "it matches too, and another one goes before it"
		for _, q := range v.Requirements {
			if q.Holds {
				continue
			}
			if why = q.Requirement + " does not hold: the node has nothing there"; q.Has != nil {
				why = fmt.Sprintf("%s does not hold: the node has %q", q.Requirement, *q.Has)
			}
			break
		}
		out = append(out, fmt.Sprintf("%s/%s: not the variant %s (priority %d): %s", r.Resource.Type, r.Resource.Name, v.Variant, v.Priority, why))
	}
	if more := r.Why.MorePassedOver; more != nil {
		out = append(out, fmt.Sprintf("%s/%s: and %d more variants were skipped", r.Resource.Type, r.Resource.Name, *more))
	}
	return out
}
