package resource_test

import (
	"strings"
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/resource"
)

// TestWhatIsStoredAndNotServedIsAFact: content that would be refused today, and that an older server stored. Its place is the one that a write of it names.
func TestWhatIsStoredAndNotServedIsAFact(t *testing.T) {
	t.Parallel()
	const elsewhere = "{path_config_source: {path: /etc/envoy/r.yaml}}"
	for name, c := range unserved {
		r, err := compile("{" + strings.Replace(c.doc, "SOURCE", elsewhere, 1) + "}")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		facts, err := resource.FactsOf(r.Type, r.Value)
		if err != nil || len(facts.Unserved) > 0 {
			t.Errorf("%s from a file: %+v, %v", name, facts.Unserved, err)
		}
		mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(r.Type.Message()))
		if err != nil {
			t.Fatal(err)
		}
		m := mt.New().Interface()
		if err := proto.Unmarshal(r.Value, m); err != nil {
			t.Fatal(err)
		}
		fromHere(t, m.ProtoReflect())
		value, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		facts, err = resource.FactsOf(r.Type, value)
		if err != nil || len(facts.Unserved) != 1 || facts.Unserved[0].Pointer != c.at || !strings.Contains(facts.Unserved[0].Detail, "does not serve: ") {
			t.Errorf("%s: %+v, %v, want one at %s", name, facts.Unserved, err, c.at)
		}
	}
}

// fromHere has all that comes from a file come from this control plane, in what is nested too.
func fromHere(t *testing.T, m protoreflect.Message) {
	t.Helper()
	switch v := m.Interface().(type) {
	case *core.ConfigSource:
		v.ConfigSourceSpecifier = &core.ConfigSource_Ads{Ads: &core.AggregatedConfigSource{}}
		return
	case *anypb.Any:
		inner, err := v.UnmarshalNew()
		if err != nil {
			t.Fatal(err)
		}
		fromHere(t, inner.ProtoReflect())
		if err := v.MarshalFrom(inner); err != nil {
			t.Fatal(err)
		}
		return
	case *structpb.Struct:
		if _, ok := v.Fields["path_config_source"]; ok {
			v.Fields = map[string]*structpb.Value{"ads": structpb.NewStructValue(&structpb.Struct{})}
			return
		}
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() && fd.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { fromHere(t, v.Message()); return true })
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				fromHere(t, v.List().Get(i).Message())
			}
		case !fd.IsMap() && !fd.IsList() && fd.Message() != nil:
			fromHere(t, v.Message())
		}
		return true
	})
}
