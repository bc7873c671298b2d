package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// nodeLabels are the flags by which a bootstrap says what selectors ask of its node.
type nodeLabels struct {
	Metadata []string `name:"metadata" sep:"none" placeholder:"KEY=VALUE" help:"A field of the node's metadata, any number of them. The value is a text, unless it is JSON: true, 5, {...}, [...]."`
	Label    []string `name:"label" sep:"none" placeholder:"KEY=VALUE" help:"A label as a selector names it, any number of them: metadata.canary=true, locality.region=eu."`
}

// into writes them into a bootstrap.
func (l *nodeLabels) into(conf *bootstrap.Config) error {
	conf.Metadata = map[string]any{}
	for _, text := range l.Metadata {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return usageError(fmt.Sprintf("--metadata %s: write KEY=VALUE", text))
		}
		if !setIn(conf.Metadata, []string{key}, jsonOrText(value)) {
			return usageError(fmt.Sprintf("--metadata %s: %s is there twice", text, key))
		}
	}
	for _, text := range l.Label {
		if err := label(conf, text); err != nil {
			return usageError(fmt.Sprintf("--label %s: %v", text, err))
		}
	}
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

// label sets one label of the node.
func label(conf *bootstrap.Config, text string) error {
	l, err := selector.ParseLabel(text)
	if err != nil {
		if _, inMetadata := selector.ParseLabel("metadata." + text); inMetadata == nil {
			return fmt.Errorf("a label is named as in a selector: write metadata.%s", text)
		}
		return fmt.Errorf("%s", fleet.Sentence(err))
	}
	if l.Names[0] == "metadata" {
		if !setIn(conf.Metadata, l.Names[1:], l.Text) {
			return fmt.Errorf("%s, or a part of it, is there twice", strings.Join(l.Names, "."))
		}
		return nil
	}
	key := strings.Join(l.Names, ".")
	field, settable := map[string]*string{
		"node.cluster": &conf.NodeCluster, "locality.region": &conf.Region, "locality.zone": &conf.Zone, "locality.sub_zone": &conf.SubZone,
	}[key]
	switch {
	case key == "node.id":
		return fmt.Errorf("write --node-id %s", l.Text)
	case !settable:
		return fmt.Errorf("the client says %s by itself", key)
	case *field != "" && *field != l.Text:
		return fmt.Errorf("%s is %s already", key, *field)
	}
	*field = l.Text
	return nil
}

// setIn sets a value at a path of names, and reports whether there was room for it.
func setIn(m map[string]any, path []string, value any) bool {
	last := len(path) - 1
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
