package resource

import "google.golang.org/protobuf/reflect/protoreflect"

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
