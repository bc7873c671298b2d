package resource

import (
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

// DecodeErrorForTest places an error of protobuf's decoder.
func DecodeErrorForTest(err error, body []byte, hide bool) error {
	root, scanErr := scan(body)
	if scanErr != nil {
		return scanErr
	}
	var at *path
	return decodeError(err, body, root, at.member("body"), hide)
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
