package resource

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// SecretFieldsForTest returns every field that is classified as a use of a Secret, or as one that lets others choose it.
func SecretFieldsForTest() map[protoreflect.FullName]bool {
	out := map[protoreflect.FullName]bool{}
	for f := range secretFields {
		out[f] = true
	}
	for f := range secretChoosers {
		out[f] = true
	}
	return out
}

// IsTLSForTest reports whether a field is classified as one that secures connections.
func IsTLSForTest(f protoreflect.FullName) bool { return secretFields[f] == UseTLS }

// NamesSecretForTest reports whether a field of the table of references names a Secret.
func NamesSecretForTest(f protoreflect.FullName) bool { return referrers[f].to == fleet.Secret }
