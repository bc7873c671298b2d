package resource_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// guardCase is one entry of testdata/guard.yaml.
type guardCase struct {
	Rule resource.Rule
	At   string
	Type string
	Name string
	Body json.RawMessage
	Any  json.RawMessage
}

func (c guardCase) String() string { return fmt.Sprintf("%s %s %s: %s", c.Rule, c.Type, c.At, c.Body) }

func guardCases(t testing.TB) []guardCase {
	t.Helper()
	j, err := resource.ToJSON(resource.YAML, []byte(testdata(t, "guard.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"@type", "type_url"} {
		for _, pkg := range []string{"envoy.", "xds.", "udpa.", "google."} {
			j = bytes.ReplaceAll(j, []byte(`"`+key+`":"`+pkg), []byte(`"`+key+`":"`+fleet.URLPrefix+pkg))
		}
	}
	var cases []guardCase
	if err := json.Unmarshal(j, &cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		if c := &cases[i]; c.Name == "" {
			c.Name = "x"
		}
		if c := &cases[i]; c.Any != nil {
			c.Type, c.Body = "extensions", fmt.Appendf(nil, `{"name": "x", "typed_config": %s}`, c.Any)
		}
	}
	return cases
}

// finds reports whether the rules find the case at its place, as a document and as stored
// bytes.
func (c guardCase) finds(t testing.TB) (sent, stored bool) {
	t.Helper()
	text := fmt.Sprintf(`{"type": %q, "name": %q, "body": %s}`, c.Type, c.Name, c.Body)
	out, err := compile(text)
	if err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	sent = has(out.Guarded, c.Rule, "/body"+c.At)
	again, err := newCompiler().CheckStored(out.Type, out.Name, "", out.Value, nil)
	if err != nil {
		t.Fatalf("%s: stored: %v", c, err)
	}
	return sent, has(again, c.Rule, snake(c.At))
}

func has(found []resource.Guarded, rule resource.Rule, at string) bool {
	return slices.ContainsFunc(found, func(g resource.Guarded) bool { return g.Rule == rule && g.Pointer == at })
}

// snake is a pointer in the names of the proto files.
func snake(at string) string {
	for _, n := range []string{"virtual_hosts", "direct_response"} {
		parts := strings.Split(n, "_")
		at = strings.ReplaceAll(at, parts[0]+strings.ToUpper(parts[1][:1])+parts[1][1:], n)
	}
	return at
}

// TestGuardFindsEveryCase: the corpus, one entry after another, sent and stored.
func TestGuardFindsEveryCase(t *testing.T) {
	cases := guardCases(t)
	byRule := map[resource.Rule]int{}
	for _, c := range cases {
		byRule[c.Rule]++
		if sent, stored := c.finds(t); !sent || !stored {
			t.Errorf("%s: found when sent: %t, when stored: %t", c, sent, stored)
		}
	}
	for _, r := range resource.Rules() {
		if byRule[r] == 0 {
			t.Errorf("no case of the rule %s", r)
		}
		if r.Reason() == "" {
			t.Errorf("the rule %s has no reason", r)
		}
	}
	if len(cases) < 60 {
		t.Errorf("only %d cases", len(cases))
	}
}

// TestGuardNeedsEveryLine takes the lines of the rules' tables out one by one: each time
// some case must be missed. It is not parallel, as it changes the tables.
func TestGuardNeedsEveryLine(t *testing.T) {
	cases := guardCases(t)
	judgedAs := map[protoreflect.FullName]ruled{}
	for _, md := range apiMessages() {
		judgedAs[md.FullName()] = ruled{resource.GuardForTest(dynamicpb.NewMessage(md))}
	}
	lines := 0
	api := apiMessages()
	resource.WithoutGuardForTest(func(line string, name protoreflect.FullName) {
		lines++
		if name != "" { // of a message, or of a package: what is in it is another rule's then, or nobody's
			if !slices.ContainsFunc(api, func(md protoreflect.MessageDescriptor) bool {
				return (md.FullName() == name || md.ParentFile().Package() == name) && !judgedAs[md.FullName()].is(resource.GuardForTest(dynamicpb.NewMessage(md)))
			}) {
				t.Errorf("without %s all is judged as before", line)
			}
			return
		}
		word := []byte(line[strings.LastIndexByte(line, '.')+1:])
		if !slices.ContainsFunc(cases, func(c guardCase) bool {
			if !bytes.Contains(c.Body, word) {
				return false
			}
			sent, stored := c.finds(t)
			return !sent || !stored
		}) {
			t.Errorf("without %s every case is found all the same: add one that needs it, or take it out", line)
		}
	})
	if lines < 50 {
		t.Errorf("only %d lines were taken out", lines)
	}
}

// ruled is what the rules name of an empty message.
type ruled struct{ found []resource.Guarded }

func (r ruled) is(found []resource.Guarded) bool { return slices.Equal(r.found, found) }

// TestGuardLeavesTheOrdinaryAlone: what everybody writes is no business of the rules, but
// for the proxy's own machine, which is told and which everybody may write by default.
func TestGuardLeavesTheOrdinaryAlone(t *testing.T) {
	t.Parallel()
	endpoints := func(address string) string {
		return "{type: endpoints, name: x, body: {cluster_name: x, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: '" + address + "', port_value: 1}}}}]}]}}"
	}
	named := func(address string) string {
		return "{type: clusters, name: x, body: {name: x, type: STRICT_DNS, load_assignment: {cluster_name: x, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: '" + address + "', port_value: 1}}}}]}]}}}"
	}
	grpc := func(target string) string {
		return "{type: extensions, name: x, body: {name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz, grpc_service: {google_grpc: {target_uri: '" + target + "', stat_prefix: s}}}}}"
	}
	log := func(file string) string {
		return "{type: extensions, name: x, body: {name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog, path: '" + file + "'}}}"
	}
	for text, want := range map[string]resource.Rule{
		"{type: clusters, name: x, body: {name: x, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}}":                                                                                                                             "",
		"{type: listeners, name: x, body: {name: x, address: {socket_address: {address: 127.0.0.1, port_value: 1}}}}":                                                                                                                    "",
		"{type: secrets, name: x, body: {name: x, generic_secret: {secret: {inline_string: s}}}}":                                                                                                                                        "",
		"{type: clusters, name: x, body: {name: x, type: EDS, eds_cluster_config: {eds_config: {self: {}}}, metadata: {filter_metadata: {a: {b: c}}}}}":                                                                                  "",
		"{type: clusters, name: x, body: {name: x, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}, metadata: {typed_filter_metadata: {a: {'@type': type.googleapis.com/google.protobuf.Struct, value: {b: c}}}}}}":               "",
		"{type: extensions, name: x, body: {name: x, typed_config: {'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, value: {dynamic_stats: true}}}}": "",
		endpoints("10.0.0.1"): "", endpoints("168.63.129.17"): "", named("backend.example.com"): "", named("my-localhost.com"): "",
		named("1.2.3.4.5"): "", named("a.1"): "", named("256.1"): "", named("1.16777216"): "",
		endpoints("127.0.0.1"): resource.RuleLoopback, endpoints("::1"): resource.RuleLoopback, endpoints("0.0.0.0"): resource.RuleLoopback, endpoints("::ffff:127.8.0.1"): resource.RuleLoopback,
		named("localhost"): resource.RuleLoopback, named("A.localhost."): resource.RuleLoopback, named("ip6-localhost"): resource.RuleLoopback, named("ip6-loopback"): resource.RuleLoopback,
		named("127.1"): resource.RuleLoopback, named("0x7f.1"): resource.RuleLoopback, named("2130706433"): resource.RuleLoopback, named("0177.0.0.1"): resource.RuleLoopback,
		named("metadata"): resource.RuleLinkLocal, named("instance-data"): resource.RuleLinkLocal, named("instance-data.ec2.internal"): resource.RuleLinkLocal,
		endpoints("168.63.129.16"): resource.RuleLinkLocal, endpoints("100.100.100.200"): resource.RuleLinkLocal, endpoints("192.0.0.192"): resource.RuleLinkLocal, endpoints("fe80::1%eth0"): resource.RuleLinkLocal,
		grpc("example.com:443"): "", grpc("dns:///example.com"): "", grpc("localhost:1"): resource.RuleLoopback, grpc("dns://8.8.8.8/localhost:1"): resource.RuleLoopback,
		grpc("ipv4:10.0.0.1:80,127.0.0.1:80"): resource.RuleLoopback, grpc("ipv6:[::1]:80"): resource.RuleLoopback, grpc("[::1]"): resource.RuleLoopback, grpc("::1"): resource.RuleLoopback,
		grpc("ipv4:10.0.0.1:80%2C127.0.0.1:80"): resource.RuleLoopback, grpc("ipv6:[2001:db8::1]:80%2c[::1]:80"): resource.RuleLoopback, grpc("ipv4:10.0.0.1:80%2C127.0.0.1:80%zz"): resource.RuleLoopback,
		grpc("dns:///a:9901"): resource.RuleAdminPorts, grpc("dns:///a:75437"): resource.RuleAdminPorts, grpc("dns:///a:4294977197"): resource.RuleAdminPorts, grpc("a:-55635"): resource.RuleAdminPorts,
		grpc("ipv4:10.0.0.1:9901x"): resource.RuleAdminPorts, grpc("dns:///a:+9901"): resource.RuleAdminPorts, grpc("ipv4:10.0.0.1:%209901"): resource.RuleAdminPorts, grpc("[2001:db8::1]:009901"): resource.RuleAdminPorts,
		grpc("a:99010"): "", grpc("a:-9901"): "", grpc("a:https"): "", grpc("dns:a%zz:1"): "",
		grpc("unix-abstract:x"): resource.RulePipes, grpc("vsock:1:2"): resource.RulePipes, grpc("UNIX:/x"): resource.RulePipes,
		log("/var/log/envoy/access.log"): "", log("/var/log/envoy//a//b"): "", log("/dev/stdout"): "", log("/dev/stderr"): "", log("/dev/null"): "", log("//dev/./null"): "",
		log("/var/log/envoy"): resource.RuleFileLogs, log("/dev/tty"): resource.RuleFileLogs,
	} {
		out, err := compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got resource.Rule
		if len(out.Guarded) > 0 {
			got = out.Guarded[0].Rule
		}
		if len(out.Guarded) > 1 || got != want {
			t.Errorf("%s: %v, want %q", text, out.Guarded, want)
		}
	}
}

// TestGuardTellsOfEachRule: many places of one rule do not hide another, and neither the
// number of places nor what a place holds multiplies what is told.
func TestGuardTellsOfEachRule(t *testing.T) {
	t.Parallel()
	var hosts strings.Builder
	for range 200 {
		hosts.WriteString("{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 1}}}},")
	}
	out := mustCompile(t, "{type: endpoints, name: x, body: {cluster_name: x, endpoints: [{lb_endpoints: ["+hosts.String()+"{endpoint: {address: {pipe: {path: /a}}}}]}]}}")
	byRule := map[resource.Rule]int{}
	for _, g := range out.Guarded {
		byRule[g.Rule]++
	}
	if want := map[resource.Rule]int{resource.RuleLoopback: 20, resource.RulePipes: 1}; !maps.Equal(byRule, want) {
		t.Errorf("%v, want %v", byRule, want)
	}
	out = mustCompile(t, "{type: extensions, name: x, body: {name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm, config: {vm_config: {runtime: r, code: {local: {inline_string: x}}}}}}}")
	if len(out.Guarded) != 1 {
		t.Errorf("a Wasm filter is told %d times: %v", len(out.Guarded), out.Guarded)
	}
	hosts.Reset()
	for port := range 300 {
		fmt.Fprintf(&hosts, "{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}},", 1+port)
	}
	out = mustCompile(t, "{type: endpoints, name: x, body: {cluster_name: x, endpoints: [{lb_endpoints: ["+hosts.String()+"]}]}}")
	if len(out.Guarded) != resource.MaxLocalPorts+1 { // no fleet opens so many: one of them is told that is not open
		t.Errorf("%d of 300 ports are told", len(out.Guarded))
	}
}

// TestGuardLogPathsAreTheOperators: the paths can be set.
func TestGuardLogPathsAreTheOperators(t *testing.T) {
	t.Parallel()
	j, err := resource.ToJSON(resource.YAML, []byte("{type: extensions, name: x, body: {name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog, path: /logs/a}}}"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := resource.ParseDocument(j)
	if err != nil {
		t.Fatal(err)
	}
	for path, free := range map[string]bool{"/logs/": true, "/logs/a": true, "/log": false, "/logs": false} {
		out, err := resource.NewCompiler(resource.Config{LogPaths: []string{path}}).Compile(testKey, d)
		if err != nil || (len(out.Guarded) == 0) != free {
			t.Errorf("%s: %v, %v", path, out.Guarded, err)
		}
	}
	// Where a path leads that goes up depends on links that only the proxy's machine knows.
	up := d
	up.Body = bytes.ReplaceAll(d.Body, []byte("/logs/a"), []byte("/logs/x/../a"))
	if out, err := resource.NewCompiler(resource.Config{LogPaths: []string{"/logs/"}}).Compile(testKey, up); err != nil || len(out.Guarded) != 1 {
		t.Errorf("a path that goes up: %v, %v", out.Guarded, err)
	}
	for _, bad := range []string{"", "logs/", "/logs/../", "/logs/./", "/a//"} {
		if err := resource.CheckLogPaths([]string{"/logs/", bad}); !errorsIs(err, fleet.ErrInvalid) {
			t.Errorf("the log path %q is taken: %v", bad, err)
		}
	}
	if err := resource.CheckLogPaths(resource.DefaultLogPaths()); err != nil {
		t.Error(err)
	}
}
