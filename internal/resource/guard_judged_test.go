package resource_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"fairlead/internal/resource"
)

// TestT22_EveryMessageIsJudged walks all of Envoy's API, and the messages that it holds: each one,
// and each field that may be dialled, read or run, is in guard_table.txt, and nothing else is. A new version of the API
// that brings one fails here. Look at it: with this, can who writes it run code in the proxy, read or write its files or
// environment, use the machine's identity, make it connect to its own machine or to where a request says, end it, set its
// sockets, or turn to another control plane? Then write its line: the rule, or data and why.
func TestT22_EveryMessageIsJudged(t *testing.T) {
	t.Parallel()
	packages, messages, fields := resource.JudgedForTest()
	api, seen := apiMessages(), map[protoreflect.FullName]bool{}
	for _, md := range api {
		seen[md.FullName()], seen[md.ParentFile().Package()] = true, true
		whole := slices.Contains(packages, md.ParentFile().Package())
		if !whole && !slices.Contains(messages, md.FullName()) {
			t.Errorf("%s: nobody has judged it: write its line into guard_table.txt", md.FullName())
		}
		for i := range md.Fields().Len() {
			fd := md.Fields().Get(i)
			seen[fd.FullName()] = true
			if suspicious(fd) && resource.DataForTest(md) && !slices.Contains(fields, fd.FullName()) {
				t.Errorf("%s may name a file, the environment, an identity or a peer, or hold an extension: write its line into guard_table.txt", fd.FullName())
			}
		}
	}
	for _, name := range slices.Concat(packages, messages, fields) {
		if !seen[name] {
			t.Errorf("%s is in guard_table.txt and does not exist", name)
		}
	}
	if len(api) < 1400 {
		t.Errorf("only %d messages", len(api))
	}
}

// TestT22_WhatNobodyHasJudgedIsUnknown: a message that is no part of the API that was judged needs an admin.
func TestT22_WhatNobodyHasJudgedIsUnknown(t *testing.T) {
	t.Parallel()
	got, err := resource.GuardedForTest((&descriptorpb.FileDescriptorProto{Name: proto.String("x")}).ProtoReflect(), "x")
	if err != nil || !slices.Contains(got, resource.Guarded{Rule: resource.RuleUnknown}) {
		t.Errorf("%v, %v", got, err)
	}
}

// apiMessages are the messages of Envoy's API and those that they hold, in the order of their names.
func apiMessages() (out []protoreflect.MessageDescriptor) {
	seen := map[protoreflect.FullName]bool{}
	var add func(md protoreflect.MessageDescriptor)
	add = func(md protoreflect.MessageDescriptor) {
		if md == nil || md.IsMapEntry() || seen[md.FullName()] {
			return
		}
		seen[md.FullName()] = true
		out = append(out, md)
		if notHeld(string(md.FullName())) {
			return
		}
		for i := range md.Fields().Len() {
			fd := md.Fields().Get(i)
			if fd.IsMap() {
				fd = fd.MapValue()
			}
			add(fd.Message())
		}
	}
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		if name := string(mt.Descriptor().FullName()); strings.HasPrefix(name, "envoy.") || strings.HasPrefix(name, "xds.") || strings.HasPrefix(name, "udpa.") || resource.IsContrib(mt.Descriptor()) {
			add(mt.Descriptor())
		}
		return true
	})
	for _, n := range []protoreflect.FullName{"Bool", "Bytes", "Double", "Float", "Int32", "Int64", "UInt32", "UInt64", "String"} {
		mt, err := protoregistry.GlobalTypes.FindMessageByName("google.protobuf." + n + "Value")
		if err != nil {
			panic(err)
		}
		add(mt.Descriptor()) // every Any may hold them
	}
	slices.SortFunc(out, func(a, b protoreflect.MessageDescriptor) int {
		return strings.Compare(string(a.FullName()), string(b.FullName()))
	})
	return out
}

// notHeld are messages whose parts no configuration holds.
func notHeld(name string) bool {
	return name != "envoy.service.runtime.v3.Runtime" && !strings.HasPrefix(name, "envoy.data.dns.") &&
		slices.ContainsFunc([]string{"envoy.service.", "envoy.data.", "envoy.admin.", "envoy.annotations.", "xds.annotations.", "udpa.annotations."}, func(p string) bool { return strings.HasPrefix(name, p) })
}

const tlsv3 = "envoy.extensions.transport_sockets.tls.v3."

// suspicious is wide on purpose: a reason costs a line.
func suspicious(fd protoreflect.FieldDescriptor) bool {
	if name := string(fd.FullName()); !strings.HasPrefix(name, "envoy.") && !strings.HasPrefix(name, "xds.") && !strings.HasPrefix(name, "udpa.") && !resource.IsContrib(fd.ContainingMessage()) {
		return false
	}
	value := fd
	if fd.IsMap() {
		value = fd.MapValue()
	}
	if m := value.Message(); m != nil {
		switch m.FullName() {
		case "google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue", "google.protobuf.Empty",
			"envoy.config.core.v3.Address", "envoy.config.core.v3.SocketAddress",
			tlsv3 + "CertificateProviderPluginInstance", tlsv3 + "CommonTlsContext.CertificateProvider", tlsv3 + "CommonTlsContext.CertificateProviderInstance":
			return true
		case "google.protobuf.UInt32Value":
			return namesPort(fd)
		case "google.protobuf.StringValue", "google.protobuf.BytesValue":
		default:
			return false
		}
	} else if k := value.Kind(); k == protoreflect.Uint32Kind || k == protoreflect.Int32Kind {
		return namesPort(fd)
	} else if k != protoreflect.StringKind && k != protoreflect.BytesKind {
		return false
	}
	return slices.ContainsFunc([]string{
		"file", "path", "dir", "folder", "disk", "mount", "pipe", "socket", "unix", "env", "program", "command", "library", "module", "plugin",
		"descriptor", "script", "code", "dump", "uri", "url", "target", "address", "endpoint", "server", "host", "credential", "token", "identity",
		"access_log", "destination", "upstream", "resolver", "interface",
	}, func(word string) bool { return strings.Contains(string(fd.Name()), word) })
}

// namesPort reports whether a number is a port by its name.
func namesPort(fd protoreflect.FieldDescriptor) bool {
	words := strings.Split(string(fd.Name()), "_")
	return slices.Contains(words, "port") || slices.Contains(words, "ports")
}

// TestT22_GuardReportListsEveryMessage: the report has one line for each message of Envoy's API, with the class by which a
// resource that holds it is judged, and its fields below it.
func TestT22_GuardReportListsEveryMessage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := resource.WriteGuardReport(&b); err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(b.String()) {
		if line[0] == '#' || line[0] == ' ' {
			continue
		}
		words := strings.Fields(line)
		if lines[words[1]] != "" {
			t.Errorf("%s is there twice", words[1])
		}
		lines[words[1]] = words[0]
	}
	for _, md := range apiMessages() {
		class, found := lines[string(md.FullName())], resource.GuardForTest(dynamicpb.NewMessage(md))
		judged := slices.ContainsFunc(found, func(g resource.Guarded) bool { return string(g.Rule) == class })
		if (class != "data" || !resource.DataForTest(md)) && !judged {
			t.Errorf("%s is %q in the report, and %v is found", md.FullName(), class, found)
		}
		delete(lines, string(md.FullName()))
	}
	if len(lines) > 0 {
		t.Errorf("%v are there too", lines)
	}
	for _, want := range []string{
		"\ncode                 envoy.extensions.filters.http.lua.v3.Lua  # Lua in the proxy\n  files                .package_paths\n",
		"\n  request_destination=ORIGINAL_DST .type\n", "\n  dialled              .target_uri\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestGuardTableIsRead: what is not understood in the table is no class.
func TestGuardTableIsRead(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"a.v3\n  M data\n    f files why\n": true, "# c\na.v3 code why\n  M data\n": true, "a.v3\n  M data\n    f request_destination=X\n": true,
		"a.v3 data\n": false, "a.v3\n  M\n": false, "a.v3\n  M dta\n": false, "a.v3\n  M data\n  M data\n": false, "a.v3\n   M data\n": false,
		"a.v3\n  M data\n    f dail\n": false, "a.v3\n  M data\n    f data\n    f data\n": false, "a.v3\n  M extension\n": false,
	} {
		if err := resource.ReadTableForTest(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
