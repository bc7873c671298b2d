package filesync

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"fairlead/internal/fleet"
)

// The files of the types of which Envoy reads all from one file, and the folders of those that it reads one by one.
var (
	wholes  = map[fleet.Type]string{fleet.Cluster: "cds.json", fleet.Listener: "lds.json"}
	folders = map[fleet.Type]string{
		fleet.Route: "rds", fleet.Endpoint: "eds", fleet.Secret: "sds", fleet.Runtime: "rtds", fleet.Extension: "ecds",
	}
)

// suffix has Envoy read JSON. As YAML, which JSON is too, it takes a number that is not whole for a text, in metadata and wherever else a value may be anything, and
// reads nothing of a file with a key above 1,022 bytes (seen with 1.40).
const suffix = ".json"

// asYAML are the files of all of a type as they were called when Envoy read them as YAML.
var asYAML = map[string]fleet.Type{"cds.yaml": fleet.Cluster, "lds.yaml": fleet.Listener}

// longestName is what a file's name may take before a hash stands in for its end. File systems take 255 bytes.
const longestName = 180

// fileOf is where a resource stands, relative to the folder.
func fileOf(ref fleet.Ref) string {
	if whole := wholes[ref.Type]; whole != "" {
		return whole
	}
	return path.Join(folders[ref.Type], encoded(ref.Name)+suffix)
}

// encoded makes a file's name of a resource's. No two names have the same, on file systems that do not tell capitals from small letters
// either; none has a slash, begins with a dot or is longer than longestName.
func encoded(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteString(strings.ToLower(hex.EncodeToString([]byte{c})))
		}
	}
	if b.Len() <= longestName {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	return b.String()[:longestName-66] + "~" + hex.EncodeToString(sum[:]) // "~" is in no other
}
