package selector

import "strings"

// maxDepth is the most names that a path into metadata may have.
const maxDepth = 16

// field is one of the closed set of keys. All paths into metadata are one field.
type field uint8

const (
	nodeID field = iota
	nodeCluster
	localityRegion
	localityZone
	localitySubZone
	clientName
	clientVersion
	metadata

	plainFields = metadata // how many are not metadata
)

var fieldNames = [plainFields]string{
	nodeID: "node.id", nodeCluster: "node.cluster",
	localityRegion: "locality.region", localityZone: "locality.zone", localitySubZone: "locality.sub_zone",
	clientName: "client.name", clientVersion: "client.version",
}

// keyHelp is what an error says of keys.
const keyHelp = "the keys are node.id, node.cluster, locality.region, locality.zone, locality.sub_zone, client.name, client.version and metadata.<path>"

type key struct {
	field field
	path  []string // of metadata alone
	text  string   // canonical
}

// keyOf says which key the names are, if they are one.
func keyOf(names []string) (key, bool) {
	if names[0] == "metadata" && len(names) > 1 {
		var b strings.Builder
		b.WriteString("metadata")
		for _, n := range names[1:] {
			b.WriteByte('.')
			b.WriteString(written(n, plainName))
		}
		return key{field: metadata, path: names[1:], text: b.String()}, true
	}
	text := strings.Join(names, ".")
	for f, name := range fieldNames {
		if name == text && len(names) == 2 {
			return key{field: field(f), text: text}, true //nolint:gosec // one of seven
		}
	}
	return key{}, false
}
