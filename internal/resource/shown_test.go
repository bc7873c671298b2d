package resource_test

import (
	"slices"
	"strings"
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
	"fairlead/internal/redact"
	"fairlead/internal/resource"
)

// TestWhatIsTakenIsShown: whatever field a text stands in, in a message or in one that it holds, what is accepted can be read back, edited and copied. What is not
// shown is refused.
func TestWhatIsTakenIsShown(t *testing.T) {
	t.Parallel()
	taken, refused := 0, 0
	check := func(m protoreflect.Message, path string) {
		config := new(anypb.Any)
		if err := anypb.MarshalFrom(config, m.Interface(), proto.MarshalOptions{AllowPartial: true}); err != nil {
			t.Fatal(err)
		}
		value, err := proto.Marshal(&core.TypedExtensionConfig{Name: "a", TypedConfig: config})
		if err != nil {
			t.Fatal(err)
		}
		if resource.KeysForTest(fleet.Extension, value) != nil {
			refused++
			return
		}
		taken++
		shown, err := resource.Render(fleet.Extension, value)
		if err == nil && strings.Contains(string(shown), redact.Mark) && !slices.Contains(halves, path) {
			t.Errorf("%s is accepted, and shown as %s", path, shown)
		}
	}
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		fields := mt.Descriptor().Fields()
		for i := range fields.Len() {
			fd := fields.Get(i)
			if texts(fd) {
				m := mt.New()
				setText(m, fd)
				check(m, string(fd.FullName()))
			}
			for in, path := range textsIn(mt, fd) {
				check(in, path)
			}
		}
		return true
	})
	if taken < 3000 || refused < 40 {
		t.Errorf("%d texts were taken, %d refused", taken, refused)
	}
}

// halves are not taken as they stand here: Envoy's constraints ask for the key beside it.
var halves = []string{
	"envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth.credentials.client",
	"envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute.credentials.client",
}

// texts reports whether the values of a field are texts or bytes.
func texts(fd protoreflect.FieldDescriptor) bool {
	if fd.IsMap() {
		fd = fd.MapValue()
	}
	return fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind
}

const plainText = "a text"

func setText(m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	value := func(fd protoreflect.FieldDescriptor) protoreflect.Value {
		if fd.Kind() == protoreflect.BytesKind {
			return protoreflect.ValueOfBytes([]byte(plainText))
		}
		return protoreflect.ValueOfString(plainText)
	}
	switch {
	case fd.IsMap():
		entries := m.Mutable(fd).Map()
		key := protoreflect.ValueOfString("x").MapKey()
		if fd.MapKey().Kind() != protoreflect.StringKind {
			key = fd.MapKey().Default().MapKey()
		}
		entries.Set(key, value(fd.MapValue()))
	case fd.IsList():
		m.Mutable(fd).List().Append(value(fd))
	default:
		m.Set(fd, value(fd))
	}
}

// textsIn yields messages with a text in each field of the message that a field holds.
func textsIn(mt protoreflect.MessageType, fd protoreflect.FieldDescriptor) func(func(protoreflect.Message, string) bool) {
	return func(yield func(protoreflect.Message, string) bool) {
		held := fd.Message()
		if fd.IsMap() {
			held = fd.MapValue().Message()
		}
		if held == nil || held.FullName() == "google.protobuf.Any" {
			return
		}
		for i := range held.Fields().Len() {
			inner := held.Fields().Get(i)
			if !texts(inner) {
				continue
			}
			m := mt.New()
			var in protoreflect.Message
			switch {
			case fd.IsMap() && fd.MapKey().Kind() == protoreflect.StringKind:
				in = m.Mutable(fd).Map().Mutable(protoreflect.ValueOfString("x").MapKey()).Message()
			case fd.IsMap():
				in = m.Mutable(fd).Map().Mutable(fd.MapKey().Default().MapKey()).Message()
			case fd.IsList():
				in = m.Mutable(fd).List().AppendMutable().Message()
			default:
				in = m.Mutable(fd).Message()
			}
			setText(in, inner)
			if !yield(m, string(fd.FullName())+"."+string(inner.Name())) {
				return
			}
		}
	}
}
