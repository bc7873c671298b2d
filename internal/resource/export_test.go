package resource

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
)

// ReferrersForTest returns the table of references: field -> its source's field.
func ReferrersForTest() map[protoreflect.FullName]protoreflect.Name {
	out := map[protoreflect.FullName]protoreflect.Name{}
	for name, r := range referrers {
		out[name] = r.source
	}
	return out
}

// MissingForTest returns what becomes of fields that name a cluster, or lead to where one is named.
func MissingForTest() map[protoreflect.FullName]Missing {
	out := maps.Clone(missing)
	maps.Copy(out, services)
	return out
}

// CheckedForTest returns the fields whose clusters Envoy checks in some routes.
func CheckedForTest() map[protoreflect.FullName]bool { return checked }

// SourcesForTest reports whether a source is of something that is served, and what else to write where it is not.
func SourcesForTest(field protoreflect.FullName) (served bool, instead string) {
	return servedSources[field], unservedInstead[field]
}

// UnservedForTest returns the fields of which it is said what else to write.
func UnservedForTest() map[protoreflect.FullName]string { return unservedInstead }

// ChoosersForTest returns the fields by which a cluster is chosen while the proxy serves.
func ChoosersForTest() map[protoreflect.FullName][]protoreflect.Name { return choosers }

// DecodeErrorForTest places an error of protobuf's decoder.
func DecodeErrorForTest(err error, body []byte, hide bool) error {
	root, scanErr := scan(body)
	if scanErr != nil {
		return scanErr
	}
	var at *path
	return decodeError(err, body, root, at.member("body"), hide)
}

// WithoutGuardForTest runs f once for each line of the rules' tables by which something is
// guarded, with that line taken out. It changes the tables: no other test may use them meanwhile.
// Of a message f is given its name, of all else "".
func WithoutGuardForTest(f func(line string, message protoreflect.FullName)) {
	t := judgements()
	guards := func(_ protoreflect.FullName, j judged) bool { return j.rule != "" && j.rule != RuleUnknown }
	withoutSome(t.packages, guards, f)
	withoutSome(t.messages, guards, func(line string, name protoreflect.FullName) { f(line, name) })
	withoutSome(t.fields, func(name protoreflect.FullName, j judgedField) bool {
		return j.class == classRule || j.class == classLogPath || j.class == classStateKey || j.class == classPort || j.class == classDialled && isText(name)
	}, func(line string, _ protoreflect.FullName) { f(line, "") })
	without(freeForm, func(line string) { f(line, "") })
	without(clusterNames, func(line string) { f(line, "") })
	without(askedClusters, func(line string) { f(line, "") })
}

// isText reports whether a line is of a text: an address of which nothing is said is dialled all the same.
func isText(name protoreflect.FullName) bool {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	fd, ok := d.(protoreflect.FieldDescriptor)
	return err == nil && ok && fd.Message() == nil
}

func withoutSome[V any](table map[protoreflect.FullName]V, which func(protoreflect.FullName, V) bool, f func(string, protoreflect.FullName)) {
	for k, v := range maps.Clone(table) {
		if which(k, v) {
			delete(table, k)
			f(fmt.Sprint(k), k)
			table[k] = v
		}
	}
}

func without[K comparable, V any](table map[K]V, f func(string)) {
	for k, v := range maps.Clone(table) {
		delete(table, k)
		f(fmt.Sprint(k))
		table[k] = v
	}
}

// GuardForTest finds what the rules name in a message, as if it stood in an extension.
func GuardForTest(m proto.Message) []Guarded {
	g := guard{logPaths: DefaultLogPaths(), at: pointers{room: 1 << 30}}
	_ = walk(m.ProtoReflect(), nil, nil, true, func(m protoreflect.Message, n *node, at *path, root bool) { g.message(m, place{n, at}, root) })
	return g.found
}

// JudgedForTest are the names of the tables, and what is said of a message and of a field;
// "" is nothing.
func JudgedForTest() (packages, messages, fields []protoreflect.FullName) {
	t := judgements()
	return slices.Collect(maps.Keys(t.packages)), slices.Collect(maps.Keys(t.messages)), slices.Collect(maps.Keys(t.fields))
}

// DataForTest reports whether no rule names the message as a whole.
func DataForTest(md protoreflect.MessageDescriptor) bool { return judgements().of(md).rule == "" }

// ReadTableForTest reads a text as guard_table.txt.
func ReadTableForTest(text string) error {
	_, err := readTable(text)
	return err
}

// WhereForTest is the rule of a host.
func WhereForTest(host string) Rule {
	return map[location]Rule{ownMachine: RuleLoopback, linkLocal: RuleLinkLocal}[whereIs(host)]
}

// KeysForTest checks the bytes of a resource, without the JSON that they came from.
func KeysForTest(t fleet.Type, value []byte) error {
	m := newMessage(t)
	if err := proto.Unmarshal(value, m.Interface()); err != nil {
		return err
	}
	var r report
	var at *path
	if err := walk(m, nil, at.member("body"), true, func(m protoreflect.Message, n *node, at *path, _ bool) { r.keys(t, m, place{n, at}) }); err != nil {
		return err
	}
	return r.err()
}

// GuardedForTest is what the rules name in a message that stands alone.
func GuardedForTest(m protoreflect.Message, private ...string) ([]Guarded, error) {
	g := guard{privateClusters: private, at: pointers{room: 1 << 30}}
	err := walk(m, nil, nil, true, func(m protoreflect.Message, n *node, at *path, root bool) { g.message(m, place{n, at}, root) })
	return g.found, err
}

// ClusterFieldsForTest tells of each field that names a cluster how: "names", "is called" or "asks".
func ClusterFieldsForTest() map[protoreflect.FullName]string {
	out := map[protoreflect.FullName]string{}
	for name, r := range referrers {
		if r.to == fleet.Cluster {
			out[name] = "names"
		}
	}
	for name := range clusterNames {
		out[name] = "is called"
	}
	for name := range askedClusters {
		out[name] = "asks"
	}
	return out
}

// RefersToForTest is the type of what a field of the table of references names.
func RefersToForTest(field protoreflect.FullName) fleet.Type { return referrers[field].to }

// GuardsMessageForTest reports whether a rule names a message by itself.
func GuardsMessageForTest(name protoreflect.FullName) bool {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	md, ok := d.(protoreflect.MessageDescriptor)
	return err == nil && ok && judgements().of(md).rule != ""
}

// OldFieldsForTest are the full names of the fields that the tables of old ones tell of: those that the API had, and those that it has.
func OldFieldsForTest() (removed, deprecated map[protoreflect.FullName]string) {
	return removedFields, deprecatedFields
}

// NeedsTypeForTest reports whether an extension that is named in such a message needs a typed_config.
func NeedsTypeForTest(name protoreflect.FullName) bool {
	_, needs := untyped[name]
	return needs
}
