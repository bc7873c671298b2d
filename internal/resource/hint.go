package resource

import (
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "fairlead/internal/envoytypes" // every message that an Any may hold
	"fairlead/internal/fleet"
)

// maxHints bounds how many suggestions one document gets.
const maxHints = 8

// knownMessages is the full name of every v3 message, by its last part in lower case.
var knownMessages = sync.OnceValue(func() map[string][]string {
	byShort := map[string][]string{}
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		full := mt.Descriptor().FullName()
		if strings.HasPrefix(string(full), "envoy.") {
			short := strings.ToLower(string(full.Name()))
			byShort[short] = append(byShort[short], string(full))
		}
		return true
	})
	return byShort
})

// typeHint suggests the known message whose last part is most like that of the given
// type URL.
func (s *shape) typeHint(url string) string {
	if s.hints++; s.hide || s.hints > maxHints || len(url) > 256 {
		return ""
	}
	name := url[strings.LastIndexByte(url, '/')+1:]
	short := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	known := knownMessages()
	full, ok := known[short]
	// A message of another's package is likely to be theirs, whatever it is called.
	if !ok && (strings.HasPrefix(name, "envoy.") || !strings.Contains(name, ".")) {
		shorts := make([]string, 0, len(known))
		for k := range known {
			shorts = append(shorts, k)
		}
		slices.Sort(shorts)
		full = known[Closest(short, shorts)]
	}
	if len(full) == 0 {
		return ""
	}
	best := slices.MinFunc(slices.Sorted(slices.Values(full)), func(a, b string) int { return distance(name, a) - distance(name, b) })
	return ": is " + fleet.URLPrefix + best + " meant?"
}

// Closest returns the candidate that differs from s in at most a third of its letters,
// or "".
func Closest(s string, candidates []string) string {
	const longest = 64
	if len(s) > longest {
		return ""
	}
	best, least := "", max(1, len(s)/3)+1
	for _, c := range candidates {
		if diff := len(c) - len(s); diff >= least || -diff >= least {
			continue
		}
		if d := distance(s, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete or change (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func fieldList(fields protoreflect.FieldDescriptors) []string {
	names := make([]string, fields.Len())
	for i := range names {
		names[i] = fields.Get(i).TextName()
	}
	return names
}

func fieldNames(fields protoreflect.FieldDescriptors) string {
	return strings.Join(fieldList(fields), ", ")
}

func typeMessages() string {
	var s []string
	for _, t := range fleet.Types() {
		s = append(s, t.Message())
	}
	return strings.Join(s, ", ")
}
