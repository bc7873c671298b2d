package bootstrap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// SetMetadata sets a field of the node's metadata, of KEY=VALUE. The value is a text, unless it is JSON.
func (c *Config) SetMetadata(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return invalid("Metadata", "must be KEY=VALUE")
	}
	if !c.set([]string{key}, jsonOrText(value)) {
		return invalid("Metadata", key+" is there twice")
	}
	return nil
}

// SetLabel sets a label of the node, of KEY=VALUE with the key as a selector names it.
func (c *Config) SetLabel(text string) error {
	l, err := selector.ParseLabel(text)
	if err != nil {
		if _, inMetadata := selector.ParseLabel("metadata." + text); inMetadata == nil {
			return invalid("Label", "a label is named as in a selector: write metadata."+text)
		}
		return invalid("Label", fleet.Sentence(err))
	}
	if l.Names[0] == "metadata" {
		if !c.set(l.Names[1:], l.Text) {
			return invalid("Label", strings.Join(l.Names, ".")+", or a part of it, is there twice")
		}
		return nil
	}
	key := strings.Join(l.Names, ".")
	field, settable := map[string]*string{
		"node.cluster": &c.NodeCluster, "locality.region": &c.Region, "locality.zone": &c.Zone, "locality.sub_zone": &c.SubZone,
	}[key]
	switch {
	case key == "node.id":
		return invalid("NodeID", "is no label: give "+l.Text+" as the node's id")
	case !settable:
		return invalid("Label", "the client says "+key+" by itself")
	case *field != "" && *field != l.Text:
		return invalid("Label", fmt.Sprintf("%s is %s already", key, *field))
	}
	*field = l.Text
	return nil
}

// jsonOrText is the JSON value that the text is, or the text: also where the value would not
// be written as the text is, as with 1.10, of which a number would make 1.1.
func jsonOrText(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil || v == nil {
		return text
	}
	if _, number := v.(float64); number {
		if written, err := json.Marshal(v); err != nil || !bytes.Equal(written, []byte(text)) {
			return text
		}
	}
	return v
}

// set sets a value of the metadata at a path of names, and reports whether there was room for it.
func (c *Config) set(path []string, value any) bool {
	if c.Metadata == nil {
		c.Metadata = map[string]any{}
	}
	m, last := c.Metadata, len(path)-1
	for _, name := range path[:last] {
		if _, there := m[name]; !there {
			m[name] = map[string]any{}
		}
		next, object := m[name].(map[string]any)
		if !object {
			return false
		}
		m = next
	}
	if _, there := m[path[last]]; there {
		return false
	}
	m[path[last]] = value
	return true
}
