package resource

import "go.yaml.in/yaml/v3"

// yamlMembers writes the members of one object.
type yamlMembers struct {
	t      *yamlToJSON
	seen   map[string]struct{}
	merges []*yaml.Node // values of merge keys, whose fields come after the object's own
	at     *path
	depth  int
}

func (w *yamlMembers) own(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if dropped(k) {
			continue
		}
		if mergeKey(k) {
			w.merges = append(w.merges, v)
			continue
		}
		key, err := w.key(k)
		if err != nil {
			return err
		}
		if _, twice := w.seen[key]; twice {
			return yamlFail(k, w.at.member(key), codeDuplicateKey, "the key stands twice in one object")
		}
		if err := w.write(key, v); err != nil {
			return err
		}
	}
	return nil
}

func (w *yamlMembers) write(key string, v *yaml.Node) error {
	if len(w.seen) > 0 {
		w.t.out.WriteByte(',')
	}
	w.seen[key] = struct{}{}
	w.t.text(key)
	w.t.out.WriteByte(':')
	return w.t.node(v, w.at.member(key), w.depth+1)
}

// merge writes those fields of an object that are not there yet, of the first of several objects first.
func (w *yamlMembers) merge(v *yaml.Node) error {
	if v.Kind == yaml.AliasNode {
		if err := w.t.enter(v, w.at); err != nil {
			return err
		}
		defer w.t.leave()
		v = v.Alias
	}
	if err := w.t.count(v, w.at); err != nil {
		return err
	}
	switch v.Kind {
	case yaml.SequenceNode:
		for _, item := range v.Content {
			if target(item).Kind != yaml.MappingNode {
				return yamlFail(item, w.at, codeYAML, notMerged)
			}
			if err := w.merge(item); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		return w.rest(v)
	}
	return yamlFail(v, w.at, codeYAML, notMerged)
}

const notMerged = "a merge key (<<) takes an object, or a list of objects; the text << stands in quotes"

func (w *yamlMembers) rest(n *yaml.Node) error {
	var more []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case dropped(k), mergeKey(k):
			if err := w.t.count(k, w.at); err != nil {
				return err
			}
			if !dropped(k) {
				more = append(more, v)
			}
			continue
		}
		key, err := w.key(k) // also of what is there already
		if err != nil {
			return err
		}
		if _, there := w.seen[key]; there {
			continue
		}
		if err := w.write(key, v); err != nil {
			return err
		}
	}
	for _, v := range more {
		if err := w.merge(v); err != nil {
			return err
		}
	}
	return nil
}

func tagged(n *yaml.Node) bool { return n.Style&yaml.TaggedStyle != 0 }

func dropped(key *yaml.Node) bool { return tagged(key) && key.Tag == ignored }

func mergeKey(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && !quoted(key) && !tagged(key) && key.Value == "<<"
}

// target is what an alias names, and else the node.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// key is the text of a key, which may be an alias, and then repeats what it names.
func (w *yamlMembers) key(k *yaml.Node) (string, error) {
	if k.Kind == yaml.AliasNode {
		if err := w.t.enter(k, w.at); err != nil {
			return "", err
		}
		defer w.t.leave()
		k = k.Alias
	}
	if err := w.t.count(k, w.at); err != nil {
		return "", err
	}
	return yamlKey(k, w.at)
}

// yamlKey is the text of a key: whatever stands there without quotes is one, as to Envoy.
func yamlKey(k *yaml.Node, at *path) (string, error) {
	switch {
	case k.Kind != yaml.ScalarNode:
		return "", yamlFail(k, at, codeYAML, "a key must be a text")
	case !quoted(k) && nullWord(k.Value):
		return "", yamlFail(k, at, codeAmbiguous, "a key that is not a text: write it in quotes")
	}
	return k.Value, nil
}
