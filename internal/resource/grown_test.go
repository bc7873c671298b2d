package resource_test

import (
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/resource"
)

// mostGrowth is by how many bytes a resource may be longer when it is told than as it was sent.
const mostGrowth = 1 << 20

// enumLists are the fields of Envoy's messages that hold many values of an enum, each a byte as it is stored.
func enumLists() (out []protoreflect.FieldDescriptor) {
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		fields := mt.Descriptor().Fields()
		for i := range fields.Len() {
			fd := fields.Get(i)
			if value := fd; strings.HasPrefix(string(mt.Descriptor().FullName()), "envoy.") && fd.Cardinality() == protoreflect.Repeated {
				if fd.IsMap() {
					value = fd.MapValue()
				}
				if value.Enum() != nil && !mt.Descriptor().IsMapEntry() {
					out = append(out, fd)
				}
			}
		}
		return true
	})
	return out
}

// longest is the number of the value with the longest name.
func longest(fd protoreflect.FieldDescriptor) string {
	values, best := fd.Enum().Values(), 0
	for i := range values.Len() {
		if len(values.Get(i).Name()) > len(values.Get(best).Name()) {
			best = i
		}
	}
	return strconv.Itoa(int(values.Get(best).Number()))
}

// TestT19_EnumsThatAreNumbersGrowNoAnswer: an enum is sent as a number of one digit, stored as a byte, and told by its name. What is taken is told in little more
// than it was sent, whichever field has them.
func TestT19_EnumsThatAreNumbersGrowNoAnswer(t *testing.T) {
	t.Parallel()
	lists := enumLists()
	if len(lists) < 4 {
		t.Fatalf("%d lists of enums are known", len(lists))
	}
	refused := 0
	for _, fd := range lists {
		var value string
		if fd.IsMap() {
			value = `{` + repeat(1_000_000, `"k%d":`+longest(fd.MapValue())) + `}`
		} else {
			value = `[` + repeat(200_000, longest(fd)) + `]`
		}
		in := wideCluster(`"typed_extension_protocol_options":{"x":{"@type":"type.googleapis.com/` + string(fd.Parent().FullName()) + `","` + fd.TextName() + `":` + value + `}}`)
		d, err := resource.ParseDocument([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		c, err := newCompiler().Compile(testKey, d)
		if err != nil {
			if refused++; strings.Contains(err.Error(), "names of the values") && !strings.Contains(err.Error(), "/"+fd.TextName()) {
				t.Errorf("%s: %v", fd.FullName(), err)
			}
			continue
		}
		out, err := resource.RenderWritten(c.Type, c.Value, c.Placeholders)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > len(in)+mostGrowth {
			t.Errorf("%s: %d bytes are told as %d", fd.FullName(), len(in), len(out))
		}
	}
	t.Logf("%d lists of enums, %d are refused", len(lists), refused)
	if refused == 0 {
		t.Error("none is refused")
	}
}

// TestT19_SomeEnumsAreTakenAsNumbers, as Envoy takes them.
func TestT19_SomeEnumsAreTakenAsNumbers(t *testing.T) {
	t.Parallel()
	c := mustCompile(t, "type: clusters\nname: a\nbody: {name: a, type: 3, lb_policy: 1}\n")
	out, err := resource.RenderWritten(c.Type, c.Value, c.Placeholders)
	if err != nil || !strings.Contains(string(out), `"EDS"`) {
		t.Errorf("%s, %v", out, err)
	}
}
