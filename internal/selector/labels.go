package selector

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"fairlead/internal/fleet"
)

// Labels is what selectors ask of a node, decoded once. It is immutable; it takes some
// 64 bytes per scalar of the metadata besides the texts.
type Labels struct {
	fields   [plainFields]string
	metadata []member
}

// member is one member of an object of the metadata: a scalar, or an object.
type member struct {
	name    string
	text    string // of a scalar
	scalar  bool
	members []member // sorted by name, no two alike
}

// LabelsOf decodes a node's labels. Metadata that is no JSON object counts as none: the
// stream engine writes it, so it is one.
func LabelsOf(n fleet.Node) Labels {
	l := Labels{fields: [plainFields]string{
		nodeID: n.ID, nodeCluster: n.Cluster,
		localityRegion: n.Region, localityZone: n.Zone, localitySubZone: n.SubZone,
		clientName: n.UserAgent, clientVersion: n.Version,
	}}
	if len(n.MetadataJSON) == 0 {
		return l
	}
	d := json.NewDecoder(bytes.NewReader(n.MetadataJSON))
	d.UseNumber()
	if m, err := readMember(d, "", 0); err == nil {
		l.metadata = m.members
	}
	return l
}

// lookup returns the label's text, and whether the node has it.
func (l *Labels) lookup(k *key) (string, bool) {
	if k.field != metadata {
		text := l.fields[k.field]
		return text, text != ""
	}
	var at member
	in := l.metadata
	for _, name := range k.path {
		i, ok := slices.BinarySearchFunc(in, name, func(m member, name string) int { return strings.Compare(m.name, name) })
		if !ok {
			return "", false
		}
		at, in = in[i], in[i].members
	}
	return at.text, at.scalar
}

// readMember reads the value of a member that stands at the depth. What no path can
// name is read over.
func readMember(d *json.Decoder, name string, depth int) (member, error) {
	m := member{name: name}
	t, err := d.Token()
	if err != nil {
		return m, err
	}
	switch v := t.(type) {
	case string:
		m.text, m.scalar = v, true
	case bool:
		m.text, m.scalar = strconv.FormatBool(v), true
	case json.Number:
		m.text, m.scalar = numberText(v)
	case json.Delim:
		if v == '{' && depth < maxDepth {
			m.members, err = readObject(d, depth+1)
		} else {
			err = readOver(d)
		}
	}
	return m, err
}

// readObject reads the members of an object and its closing brace. Of two members of
// one name the last counts, as in encoding/json.
func readObject(d *json.Decoder, depth int) ([]member, error) {
	var ms []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string) // the decoder lets nothing else stand there
		m, err := readMember(d, name, depth)
		if err != nil {
			return nil, err
		}
		ms = append(ms, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	slices.Reverse(ms)
	slices.SortStableFunc(ms, func(a, b member) int { return strings.Compare(a.name, b.name) })
	ms = slices.CompactFunc(ms, func(a, b member) bool { return a.name == b.name })
	return slices.DeleteFunc(ms, func(m member) bool { return !m.scalar && m.members == nil }), nil
}

// readOver reads to the end of the list or object that has begun.
func readOver(d *json.Decoder) error {
	for open := 1; open > 0; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	return nil
}

// numberText is the number as JSON writes the double that it is: metadata knows no other
// numbers, and 5, 5.0 and 5e0 are one. A number that is no double is absent.
func numberText(n json.Number) (string, bool) {
	f, err := n.Float64()
	if err != nil {
		return "", false
	}
	text, err := json.Marshal(f)
	return string(text), err == nil
}
