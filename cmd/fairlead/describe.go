package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	client "fairlead/clients/go"
)

// describeCommand is "fairlead describe".
type describeCommand struct {
	Connection connection `embed:""`

	Type string `arg:"" help:"The resource's type: ${types}."`
	Name string `arg:"" help:"The resource's name."`
	JSON bool   `name:"json" help:"Print JSON: {variants, findings}."`
}

// Run tells of all variants, and what is wrong with them.
func (c *describeCommand) Run(ctx context.Context, sh *shell) error {
	if err := checkType(c.Type); err != nil {
		return err
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	items, err := pages(0, func(limit int, cursor *string) (page, error) {
		resp, err := s.api.ListResourcesOfType(ctx, s.tenant, s.fleet, client.ResourceType(c.Type), &client.ListResourcesOfTypeParams{Limit: &limit, Cursor: cursor})
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	if err != nil {
		return err
	}
	var variants []json.RawMessage
	for _, item := range items {
		var r struct{ Name string }
		if err := json.Unmarshal(item, &r); err != nil {
			return err
		}
		if r.Name == c.Name {
			variants = append(variants, item)
		}
	}
	if len(variants) == 0 { // the API says best what is missing
		_, err := s.resource(ctx, c.Type, c.Name, "")
		return err
	}
	found, err := c.findings(ctx, s)
	if err != nil {
		return err
	}
	if c.JSON {
		raw, err := json.Marshal(map[string]any{"variants": variants, "findings": append([]json.RawMessage{}, found...)})
		if err != nil {
			return err
		}
		return s.printJSON(raw)
	}
	return c.print(s, variants, found)
}

// findings are those of the resource.
func (c *describeCommand) findings(ctx context.Context, s *session) (out []json.RawMessage, err error) {
	items, err := pages(0, func(limit int, cursor *string) (page, error) {
		resp, err := s.api.ListFindings(ctx, s.tenant, s.fleet, &client.ListFindingsParams{Limit: &limit, Cursor: cursor})
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	for _, item := range items {
		var f struct{ Type, Name string }
		if err := json.Unmarshal(item, &f); err != nil {
			return nil, err
		}
		if f.Type == c.Type && f.Name == c.Name {
			out = append(out, item)
		}
	}
	return out, err
}

func (c *describeCommand) print(s *session, variants, found []json.RawMessage) error {
	rows, err := decode[client.Resource](variants)
	if err != nil {
		return err
	}
	wrong, err := decode[client.Finding](found)
	if err != nil {
		return err
	}
	for i, r := range rows {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		labels := ""
		if r.Labels != nil {
			labels = labelText(*r.Labels)
		}
		t := table{
			{"resource", string(r.Type) + "/" + r.Name}, {"variant", deref(r.Variant)}, {"selector", deref(r.Selector)}, {"labels", labels}, {"description", deref(r.Description)},
			{"revision", fmt.Sprint(r.Revision)}, {"created", when(r.CreatedAt)}, {"updated", when(r.UpdatedAt)}, {"by", deref(r.UpdatedBy)}, {"version", r.Version},
		}
		if x := r.Secret; x != nil {
			t = append(t, []string{"secret", x.Kind}, []string{"subject", deref(x.Subject)}, []string{"not after", until(x.NotAfter)}, []string{"fingerprint", deref(x.Fingerprint)})
		}
		for _, name := range slices.Sorted(maps.Keys(deref(r.Values))) {
			t = append(t, []string{"value " + name, (*r.Values)[name]})
		}
		fmt.Fprint(s.out, t)
	}
	for _, f := range wrong {
		fmt.Fprintf(s.out, "%s: %s: %s\n", plain(string(f.Severity)), plain(f.Pointer), plain(f.Detail))
	}
	if len(rows) == 1 && rows[0].Body != nil {
		text, err := documentYAML(variants[0], []string{"body"})
		if err != nil {
			return err
		}
		_, err = s.out.Write(text)
		return err
	}
	return nil
}
