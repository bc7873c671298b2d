package reference

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// field is a member of an object, or a parameter.
type field struct {
	Name, In          string // In: path, query or header; none of a member
	Required          bool
	Type, Description template.HTML
	Fields            []field // of an object that has no name of its own
}

func newParameter(p *openapi3.Parameter) field {
	f := field{Name: p.Name, In: p.In, Required: p.Required, Description: line(p.Description)}
	if p.Schema == nil {
		return f
	}
	f.Type = typeOf(p.Schema)
	s := *p.Schema.Value
	if p.Example != nil {
		s.Example = p.Example
	}
	if p.Schema.Ref != "" { // what else is to be said of it stands where the type leads
		s = openapi3.Schema{Default: s.Default, Example: s.Example}
	}
	f.Description += facts(&s)
	return f
}

// fieldsOf lists the members: those that must be there in the contract's order, then the others by name.
func fieldsOf(s *openapi3.Schema) (out []field) {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Properties)), func(name string) bool { return slices.Contains(s.Required, name) })
	for _, name := range slices.Concat(s.Required, others) {
		ref := s.Properties[name]
		if ref == nil {
			continue
		}
		f := field{Name: name, Required: slices.Contains(s.Required, name), Type: typeOf(ref)}
		if ref.Ref == "" {
			f.Description = line(ref.Value.Description) + facts(ref.Value)
			f.Fields = fieldsOf(inner(ref.Value))
		}
		out = append(out, f)
	}
	return out
}

// inner is the object that a list or a map is of, if that has no name of its own.
func inner(s *openapi3.Schema) *openapi3.Schema {
	for _, ref := range []*openapi3.SchemaRef{s.Items, s.AdditionalProperties.Schema} {
		if ref != nil && ref.Ref == "" {
			return inner(ref.Value)
		}
	}
	return s
}

// typeOf names a type; one of the contract's own leads to where it is told.
func typeOf(ref *openapi3.SchemaRef) template.HTML {
	if name, ok := strings.CutPrefix(ref.Ref, "#/components/schemas/"); ok {
		name = template.HTMLEscapeString(name)
		return template.HTML(`<a href="#schema-` + name + `">` + name + `</a>`)
	}
	s := ref.Value
	switch {
	case s.Type.Is(openapi3.TypeArray) && s.Items != nil:
		return "list of " + typeOf(s.Items)
	case s.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(s.AdditionalProperties.Schema)
	case s.Type.IsEmpty():
		return "anything"
	}
	words := strings.Join(s.Type.Slice(), " or ")
	if s.Nullable {
		words += " or null"
	}
	if s.Format != "" {
		words += " (" + s.Format + ")"
	}
	return template.HTML(template.HTMLEscapeString(words))
}

// facts are what of a schema is no words: bounds, values, an example.
func facts(s *openapi3.Schema) template.HTML {
	var parts []string
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = code(v)
		}
		parts = append(parts, "One of "+strings.Join(values, ", "))
	}
	if s.Min != nil {
		parts = append(parts, "At least "+number(*s.Min))
	}
	if s.Max != nil {
		parts = append(parts, "At most "+number(*s.Max))
	}
	if s.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("At most %d characters", *s.MaxLength))
	}
	if s.MaxItems != nil {
		parts = append(parts, fmt.Sprintf("At most %d of them", *s.MaxItems))
	}
	if s.Pattern != "" {
		parts = append(parts, "Of the form "+code(s.Pattern))
	}
	if s.Default != nil {
		parts = append(parts, "By default "+code(s.Default))
	}
	if s.Example != nil {
		parts = append(parts, "Such as "+code(s.Example))
	}
	if len(parts) == 0 {
		return ""
	}
	return template.HTML(` <span class="facts">` + strings.Join(parts, ". ") + `.</span>`)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// code shows a value: a text as it is, everything else as JSON.
func code(v any) string {
	text, isText := v.(string)
	if !isText {
		raw, err := json.Marshal(v)
		if err != nil {
			raw = []byte(fmt.Sprint(v))
		}
		text = string(raw)
	}
	return "<code>" + template.HTMLEscapeString(text) + "</code>"
}
