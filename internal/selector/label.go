package selector

import "strings"

// Label is one label of a node with its text: what a requirement "key=value" asks for.
type Label struct {
	Names []string // of the key: "locality", "region"; or "metadata" and the path into it
	Text  string
}

// ParseLabel reads "key=value" by the grammar of a selector. An error is fleet.ErrInvalid, as
// of Parse.
func ParseLabel(text string) (Label, error) {
	s, err := Parse(text)
	if err != nil {
		return Label{}, err
	}
	r := s.requirements[0]
	if len(s.requirements) > 1 || r.op != opIn || len(r.values) > 1 {
		p := &parser{text: text}
		return Label{}, p.fail(0, "a label is one key and one value: write %s=value", r.key.text)
	}
	names := strings.Split(r.key.text, ".")
	if r.key.field == metadata {
		names = append([]string{"metadata"}, r.key.path...)
	}
	return Label{Names: names, Text: r.values[0]}, nil
}
