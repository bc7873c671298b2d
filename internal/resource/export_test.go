package resource

import (
	"fmt"
	"maps"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

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

// WithoutGuardForTest runs f once for each line of the rules' tables, with that line taken
// out. It changes the tables: no other test may use them meanwhile.
func WithoutGuardForTest(f func(line string)) {
	without(guardedMessages, f)
	without(guardedPackages, f)
	without(guardedWords, f)
	without(guardedFields, f)
	without(dialledTexts, f)
	without(freeForm, f)
	without(ownNames, f)
	without(askedClusters, f)
}

func without[K comparable, V any](table map[K]V, f func(string)) {
	for k, v := range maps.Clone(table) {
		delete(table, k)
		f(fmt.Sprint(k))
		table[k] = v
	}
}

// GuardTablesForTest are the fields that the guard rules judge: by what they hold, and as
// texts that are dialled.
func GuardTablesForTest() (fields map[protoreflect.FullName]Rule, dialled, notDialledAddresses map[protoreflect.FullName]bool) {
	return guardedFields, dialledTexts, notDialled
}

// GuardsMessageForTest reports whether a rule names a message by itself.
func GuardsMessageForTest(name protoreflect.FullName) bool {
	_, ok := ruleOf(name)
	return ok
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
	g := guard{privateClusters: private}
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
	for name := range ownNames {
		out[name] = "is called"
	}
	for name := range askedClusters {
		out[name] = "asks"
	}
	return out
}

// RefersToForTest is the type of what a field of the table of references names.
func RefersToForTest(field protoreflect.FullName) fleet.Type { return referrers[field].to }
