package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
)

// getCommand is "fairlead get".
type getCommand struct {
	Connection connection `embed:""`

	Type     string `arg:"" optional:"" help:"The type: ${types}. Without it, all."`
	Name     string `arg:"" optional:"" help:"The resource's name; without it, all of the type."`
	Output   string `short:"o" enum:"table,wide,name,json,yaml," default:"" placeholder:"FORM" help:"table, wide, name, json, or yaml, which is what apply takes. Default: yaml."`
	Selector string `short:"l" placeholder:"KEY=VALUE,..." help:"Only what carries these labels."`
	JSON     bool   `name:"json" help:"Print the API's JSON: -o json."`

	Variant string `placeholder:"VARIANT" help:"With a name, the variant; without it, the default one."`
}

// Run prints the resources.
func (c *getCommand) Run(ctx context.Context, sh *shell) error {
	if c.Type != "" {
		if err := checkType(c.Type); err != nil {
			return err
		}
	}
	switch {
	case c.Variant != "" && c.Name == "":
		return usageError("--variant is about one resource: give its name, or leave it out to list all variants")
	case c.Selector != "" && c.Name != "":
		return usageError("-l is about a list: leave the name out")
	case c.JSON && c.Output != "" && c.Output != "json":
		return usageError("--json is -o json: give one of them")
	case c.JSON:
		c.Output = "json"
	}
	scope, err := parseLabels(c.Selector)
	if err != nil {
		return err
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	if c.Name == "" {
		return c.list(ctx, s, scope)
	}
	raw, err := s.resource(ctx, c.Type, c.Name, c.Variant)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return s.printJSON(raw)
	}
	return c.print(s, []json.RawMessage{raw})
}

func (c *getCommand) list(ctx context.Context, s *session, scope map[string]string) error {
	items, err := pages(0, func(limit int, cursor *string) (page, error) {
		ask := func() (*http.Response, error) {
			return s.api.ListResources(ctx, s.tenant, s.fleet, &client.ListResourcesParams{Limit: &limit, Cursor: cursor})
		}
		if c.Type != "" {
			ask = func() (*http.Response, error) {
				return s.api.ListResourcesOfType(ctx, s.tenant, s.fleet, client.ResourceType(c.Type), &client.ListResourcesOfTypeParams{Limit: &limit, Cursor: cursor})
			}
		}
		resp, err := ask() //nolint:bodyclose // answer closes it
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	if err != nil {
		return err
	}
	if items, err = labelled(items, scope); err != nil {
		return err
	}
	if c.Output == "json" {
		return s.printItems(items)
	}
	return c.print(s, items)
}

// labelled leaves out what does not carry the labels.
func labelled(items []json.RawMessage, scope map[string]string) (out []json.RawMessage, err error) {
	for _, item := range items {
		var r struct{ Labels map[string]string }
		if err := json.Unmarshal(item, &r); err != nil {
			return nil, err
		}
		if carries(r.Labels, scope) {
			out = append(out, item)
		}
	}
	return out, nil
}

func (c *getCommand) print(s *session, items []json.RawMessage) error {
	if c.Output == "" || c.Output == "yaml" {
		return s.printYAML(items)
	}
	rows, err := decode[client.Resource](items)
	if err != nil {
		return err
	}
	if c.Output == "name" {
		for _, r := range rows {
			fmt.Fprintln(s.out, plain(deletion{Type: string(r.Type), Name: r.Name, Variant: deref(r.Variant)}.String()))
		}
		return nil
	}
	if len(rows) == 0 {
		fmt.Fprintln(s.out, "there is nothing")
		return nil
	}
	t := table{{"TYPE", "NAME", "VARIANT", "REVISION", "LABELS"}}
	if c.Output == "wide" {
		t[0] = append(t[0], "SELECTOR", "UPDATED", "BY", "VERSION", "DESCRIPTION")
	}
	for _, r := range rows {
		labels := ""
		if r.Labels != nil {
			labels = labelText(*r.Labels)
		}
		row := []string{string(r.Type), r.Name, deref(r.Variant), strconv.FormatInt(r.Revision, 10), labels}
		if c.Output == "wide" {
			row = append(row, deref(r.Selector), when(r.UpdatedAt), deref(r.UpdatedBy), r.Version, deref(r.Description))
		}
		t = append(t, row)
	}
	fmt.Fprint(s.out, t)
	return nil
}

// resource reads one variant of a resource; "" is the default one.
func (s *session) resource(ctx context.Context, kind, name, variant string) (json.RawMessage, error) {
	if name == "" {
		return nil, usageError("the name of the resource is empty")
	}
	params := &client.GetResourceParams{}
	if variant != "" {
		params.Variant = &variant
	}
	resp, err := s.api.GetResource(ctx, s.tenant, s.fleet, client.ResourceType(kind), name, params, s.exactPath("resources", kind, name))
	_, raw, err := answer[client.Resource](s, resp, err)
	return raw, err
}

// typeList is every type of resource, for help and errors.
func typeList() string {
	var slugs []string
	for _, t := range fleet.Types() {
		slugs = append(slugs, t.Slug())
	}
	slices.Sort(slugs)
	return strings.Join(slugs, ", ")
}

func checkType(slug string) error {
	if _, ok := fleet.TypeFromSlug(slug); !ok {
		return usageError(fmt.Sprintf("%q is not a type of resource: the types are %s", slug, typeList()))
	}
	return nil
}

// page is one page of any list. The items stay as the API wrote them.
type page struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next_cursor,omitempty"`
	// LeftOut is of the load: how many parts of reports the items lack.
	LeftOut int64 `json:"left_out,omitempty"`
}

const pageSize = 500

// pages reads a list to its end, or the first most items of it.
func pages(most int, read func(limit int, cursor *string) (page, error)) (items []json.RawMessage, err error) {
	var cursor *string
	for {
		limit := pageSize
		if most > 0 {
			limit = min(limit, most-len(items))
		}
		p, err := read(limit, cursor)
		if err != nil {
			return nil, err
		}
		items = append(items, p.Items...)
		if p.Next == "" || most > 0 && len(items) >= most {
			return items, nil
		}
		cursor = &p.Next
	}
}

// printJSON prints an answer of the API, indented.
func (s *session) printJSON(raw []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.out, "%s\n", plainJSON(b.Bytes()))
	return err
}

// printItems prints a list in the API's form, all pages as one.
func (s *session) printItems(items []json.RawMessage) error {
	raw, err := json.Marshal(page{Items: append([]json.RawMessage{}, items...)})
	if err != nil {
		return err
	}
	return s.printJSON(raw)
}

func (s *session) printYAML(items []json.RawMessage) error {
	return s.printDocuments(items, documentFields)
}

// printDocuments prints a YAML document for each item, with the fields that are named.
func (s *session) printDocuments(items []json.RawMessage, fields []string) error {
	for i, item := range items {
		text, err := documentYAML(item, fields)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(s.out, "---")
		}
		if _, err := s.out.Write(text); err != nil {
			return err
		}
	}
	return nil
}
