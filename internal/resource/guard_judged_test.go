package resource_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/resource"
)

// TestGuardJudgesEveryField walks all of Envoy's API for fields that may name a file, the
// environment, or a peer. A new version of the API that brings one fails here: put it into
// the rules' tables, or into testdata/guard_fields.txt, with the reason.
func TestGuardJudgesEveryField(t *testing.T) {
	t.Parallel()
	judged := reasonsIn(t, "guard_fields.txt")
	fields, dialled, notDialled := resource.GuardTablesForTest()
	seen := map[string]bool{}
	eachField(func(md protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
		name := string(fd.FullName())
		seen[name] = true
		_, ruled := fields[fd.FullName()]
		if !suspicious(fd) || ruled || dialled[fd.FullName()] {
			return
		}
		if judged[name] == "" {
			t.Errorf("%s may name a file, the environment or a peer: is it guarded?", name)
		}
	})
	for _, table := range []map[protoreflect.FullName]bool{dialled, notDialled} {
		for name := range table {
			if !seen[string(name)] {
				t.Errorf("%s is in a table of the rules and does not exist", name)
			}
		}
	}
	for name := range fields {
		if !seen[string(name)] {
			t.Errorf("%s is in a table of the rules and does not exist", name)
		}
	}
	for name := range judged {
		if !seen[name] {
			t.Errorf("%s is in guard_fields.txt and does not exist", name)
		}
	}
}

// TestGuardJudgesEveryPackage: a package of extensions that nobody has looked at may run
// code. Look at it, guard it if need be, and add its line.
func TestGuardJudgesEveryPackage(t *testing.T) {
	t.Parallel()
	judged, seen := reasonsIn(t, "guard_packages.txt"), map[string]bool{}
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		name := string(f.Package())
		if !strings.HasPrefix(name, "envoy.extensions.") || f.Messages().Len() == 0 {
			return true
		}
		seen[name] = true
		word := "free"
		if resource.GuardsMessageForTest(f.Messages().Get(0).FullName()) {
			word = "guarded"
		}
		if judged[name] != word {
			t.Errorf("%s is %s, guard_packages.txt has it as %q", name, word, judged[name])
		}
		return true
	})
	for name := range judged {
		if !seen[name] {
			t.Errorf("%s is in guard_packages.txt and does not exist", name)
		}
	}
}

// reasonsIn reads a file of lines "name reason".
func reasonsIn(t *testing.T, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(testdata(t, file)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		out[name] = strings.TrimSpace(reason)
	}
	return out
}

// eachField calls f for the fields of all messages that a resource can hold and no rule
// names as a whole.
func eachField(f func(protoreflect.MessageDescriptor, protoreflect.FieldDescriptor)) {
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		md := mt.Descriptor()
		for _, p := range []string{"envoy.config.bootstrap.", "envoy.admin.", "envoy.data.", "envoy.service."} {
			if strings.HasPrefix(string(md.FullName()), p) {
				return true
			}
		}
		for i := range md.Fields().Len() {
			f(md, md.Fields().Get(i))
		}
		return true
	})
}

// suspicious is wide on purpose: a reason in a file costs a line.
func suspicious(fd protoreflect.FieldDescriptor) bool {
	if !strings.HasPrefix(string(fd.FullName()), "envoy.") && !strings.HasPrefix(string(fd.FullName()), "xds.") {
		return false
	}
	if fd.Kind() != protoreflect.StringKind && (fd.Message() == nil || fd.Message().FullName() != "google.protobuf.StringValue") {
		return false
	}
	name := string(fd.Name())
	return slices.ContainsFunc([]string{
		"file", "path", "dir", "folder", "disk", "mount", "pipe", "socket", "unix", "env", "program", "command", "library", "module", "plugin",
		"descriptor", "script", "code", "dump", "uri", "url", "target", "address", "endpoint", "server",
	}, func(word string) bool { return strings.Contains(name, word) })
}
