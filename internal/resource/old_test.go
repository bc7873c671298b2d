package resource_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/resource"
)

// TestOldFieldsAreOld: the tables name messages that there are; of a field that was removed the message knows no more, and one that is
// deprecated it has.
func TestOldFieldsAreOld(t *testing.T) {
	t.Parallel()
	removed, deprecated := resource.OldFieldsForTest()
	for table, gone := range map[*map[protoreflect.FullName]string]bool{&removed: true, &deprecated: false} {
		for name, say := range *table {
			mt, err := protoregistry.GlobalTypes.FindMessageByName(name.Parent())
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if there := mt.Descriptor().Fields().ByName(name.Name()) != nil; there == gone || say == "" {
				t.Errorf("%s: the message has it: %t", name, there)
			}
			if told, ok := resource.OldField(string(name.Parent()), string(name.Name())); !ok || !strings.HasSuffix(told, ": write "+say) {
				t.Errorf("%s: %q", name, told)
			}
		}
	}
}

// TestABootstrapIsSentToImport: who applies an Envoy's own file is told which command reads it.
func TestABootstrapIsSentToImport(t *testing.T) {
	t.Parallel()
	for field, sent := range map[string]bool{"static_resources": true, "staticResources": true, "dynamicResources": true, "admin": true, "configs": true, "statics": false} {
		_, err := resource.ParseDocument([]byte(`{"type": "clusters", "name": "a", "body": {}, "` + field + `": {}}`))
		if err == nil || strings.Contains(err.Error(), `"fairlead import" makes documents of it`) != sent {
			t.Errorf("%s: %v", field, err)
		}
	}
}
