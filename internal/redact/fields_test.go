package redact

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// allFields calls f for every field of every message that is linked in, entries of maps
// apart.
func allFields(f func(fd protoreflect.FieldDescriptor)) {
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		for i := range mt.Descriptor().Fields().Len() {
			if !mt.Descriptor().IsMapEntry() {
				f(mt.Descriptor().Fields().Get(i))
			}
		}
		return true
	})
}

var suspicious = regexp.MustCompile(`passw|secret|token|private|api_?key|hmac|credential|auth|pkcs|cookie|session|bearer|signature|jwks|pem$|seed|login|access_key|(^|_)keys?$`)

// suspect reports whether a field may hold a key by its type or by its name.
func suspect(fd protoreflect.FieldDescriptor) bool {
	value := fd
	if fd.IsMap() {
		value = fd.MapValue()
	}
	switch value.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind:
		return suspicious.MatchString(string(fd.Name()))
	case protoreflect.MessageKind:
		switch value.Message().FullName() {
		case dataSource, "envoy.config.core.v3.AsyncDataSource":
			return true
		case "google.protobuf.StringValue", "google.protobuf.BytesValue":
			return suspicious.MatchString(string(fd.Name()))
		}
	}
	return false
}

// TestT27_EveryFieldThatLooksLikeAKeyIsDecided: a new version of Envoy's API cannot
// bring a field for a key, a password or a token that nobody looked at. One that is none
// goes into testdata/no_keys.txt.
func TestT27_EveryFieldThatLooksLikeAKeyIsDecided(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/no_keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	none := strings.Fields(string(text))
	if !slices.IsSorted(none) {
		t.Error("testdata/no_keys.txt is not sorted")
	}
	known := map[protoreflect.FullName]bool{}
	var found []string
	allFields(func(fd protoreflect.FieldDescriptor) {
		known[fd.FullName()] = true
		if suspect(fd) && !Secret(fd) && !noKeys[fd.FullName()] && !keySets[fd.FullName()] && !templates[fd.FullName()] && !places[fd.FullName()] {
			found = append(found, string(fd.FullName()))
		}
	})
	slices.Sort(found)
	for _, name := range found {
		if _, ok := slices.BinarySearch(none, name); !ok {
			t.Errorf("%s: may it hold a key? put it into keyFields, or into testdata/no_keys.txt", name)
		}
	}
	for _, name := range none {
		if _, ok := slices.BinarySearch(found, name); !ok {
			t.Errorf("testdata/no_keys.txt: %s is decided otherwise, or is no such field", name)
		}
	}
	for _, list := range []map[protoreflect.FullName]bool{keyFields, noKeys, keySets, templates, places} {
		for name := range list {
			if !known[name] {
				t.Errorf("%s is no field of Envoy's API any more", name)
			}
		}
	}
	if n := len(marked()) - len(keyFields); n < 25 {
		t.Errorf("Envoy marks %d fields as sensitive: the annotation is not read", n)
	}
}
