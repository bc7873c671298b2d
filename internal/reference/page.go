package reference

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// page is what the layout shows.
type page struct {
	Title, Version string
	Intro          template.HTML
	Groups         []group
	Schemas        []schema
}

// group are the operations of a tag.
type group struct {
	Name        string
	Description template.HTML
	Operations  []operation
}

type operation struct {
	ID, Method, Summary, Curl string
	Path, Description         template.HTML
	Parameters                []field
	Bodies                    []content
	Answers                   []answer
}

// content is a body in one media type.
type content struct {
	Media   string
	Type    template.HTML
	Example string // JSON; none if empty
}

type answer struct {
	Status      string
	Description template.HTML
	Contents    []content
}

type schema struct {
	Name        string
	Type        template.HTML // of what is no object with fields
	Description template.HTML
	Fields      []field
}

// methods are in the order of the page.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// newPage reads the contract: tags in its own order, the operations of each by path, schemas by name.
func newPage(spec *openapi3.T) (page, error) {
	p := page{Title: spec.Info.Title, Version: spec.Info.Version, Intro: prose(spec.Info.Description)}
	byTag := map[string][]operation{}
	for _, path := range slices.Sorted(maps.Keys(spec.Paths.Map())) {
		item := spec.Paths.Value(path)
		ops := item.Operations()
		for _, method := range methods {
			op := ops[method]
			if op == nil {
				continue
			}
			if len(op.Tags) != 1 {
				return page{}, fmt.Errorf("operation %s has %d tags, want 1", op.OperationID, len(op.Tags))
			}
			byTag[op.Tags[0]] = append(byTag[op.Tags[0]], newOperation(path, method, item, op))
			delete(ops, method)
		}
		for method := range ops {
			return page{}, fmt.Errorf("%s %s: the page has no place for this method", method, path)
		}
	}
	for _, tag := range spec.Tags {
		p.Groups = append(p.Groups, group{tag.Name, line(tag.Description), byTag[tag.Name]})
		delete(byTag, tag.Name)
	}
	for tag := range byTag {
		return page{}, fmt.Errorf("the tag %s of an operation is not among the contract's tags", tag)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Components.Schemas)) {
		p.Schemas = append(p.Schemas, newSchema(name, spec.Components.Schemas[name]))
	}
	return p, nil
}

func newSchema(name string, ref *openapi3.SchemaRef) schema {
	s := schema{Name: name, Description: prose(ref.Value.Description), Fields: fieldsOf(ref.Value)}
	if len(s.Fields) == 0 {
		s.Type = typeOf(ref) + facts(ref.Value)
	}
	return s
}

func newOperation(path, method string, item *openapi3.PathItem, op *openapi3.Operation) operation {
	o := operation{ID: op.OperationID, Method: method, Summary: op.Summary, Path: pathOf(path), Description: prose(op.Description)}
	parameters := slices.Concat(item.Parameters, op.Parameters)
	for _, ref := range parameters {
		o.Parameters = append(o.Parameters, newParameter(ref.Value))
	}
	if op.RequestBody != nil {
		o.Bodies = contentsOf(op.RequestBody.Value.Content)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) { // "default" is the last
		o.Answers = append(o.Answers, newAnswer(status, op.Responses.Value(status).Value))
	}
	o.Curl = curl(method, path, parameters, len(o.Bodies) > 0)
	return o
}

func newAnswer(status string, r *openapi3.Response) answer {
	a := answer{Status: status, Contents: contentsOf(r.Content)}
	if r.Description != nil {
		a.Description = line(*r.Description)
	}
	return a
}

func contentsOf(in openapi3.Content) (out []content) {
	for _, media := range slices.Sorted(maps.Keys(in)) {
		c := content{Media: media}
		if ref := in[media].Schema; ref != nil {
			c.Type = typeOf(ref)
		}
		if example := in[media].Example; example != nil {
			if text, err := json.MarshalIndent(example, "", "  "); err == nil {
				c.Example = string(text)
			}
		}
		out = append(out, c)
	}
	return out
}

// curl is a request to be pasted, with the examples of what must be said.
func curl(method, path string, parameters openapi3.Parameters, body bool) string {
	var query []string
	for _, ref := range parameters {
		p := ref.Value
		example, there := exampleOf(p)
		switch {
		case !there || !p.Required:
		case p.In == openapi3.ParameterInPath:
			path = strings.ReplaceAll(path, "{"+p.Name+"}", example)
		case p.In == openapi3.ParameterInQuery:
			query = append(query, p.Name+"="+example)
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	words := []string{"curl", `-H "Authorization: Bearer $FAIRLEAD_TOKEN"`}
	if method != http.MethodGet {
		words = append(words, "-X "+method)
	}
	if body {
		words = append(words, `-H "Content-Type: application/json" -d @body.json`)
	}
	return strings.Join(append(words, `"$FAIRLEAD_URL`+path+`"`), " ")
}

func exampleOf(p *openapi3.Parameter) (text string, there bool) {
	example := p.Example
	if example == nil && p.Schema != nil {
		example = p.Schema.Value.Example
	}
	return fmt.Sprint(example), example != nil
}
