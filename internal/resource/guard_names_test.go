package resource_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// TestT46_EveryFieldThatNamesAClusterIsGuarded sets each field of Envoy's API that names a cluster,
// one after another, to the names that lend the proxy's identity and to others.
func TestT46_EveryFieldThatNamesAClusterIsGuarded(t *testing.T) {
	t.Parallel()
	fields := resource.ClusterFieldsForTest()
	if len(fields) < 40 {
		t.Fatalf("only %d fields", len(fields))
	}
	for field, how := range fields {
		mt, err := protoregistry.GlobalTypes.FindMessageByName(field.Parent())
		if err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		fd := mt.Descriptor().Fields().ByName(field.Name())
		for name, want := range map[string]bool{"fairlead_xds": true, "fairlead_": true, "vault": true, "Fairlead_xds": false, "vault2": false, "my_fairlead_xds": false} {
			m := mt.New()
			at := setName(m, fd, name)
			got, err := resource.GuardedForTest(m, "other", "vault")
			if err != nil {
				t.Fatalf("%s: %v", field, err)
			}
			rule := resource.RuleBootstrapNames
			if how == "asks" {
				rule, want = resource.RuleClusterByRequest, true
			}
			if found := slices.Contains(got, resource.Guarded{Rule: rule, Pointer: at}); found != want {
				t.Errorf("%s = %q (it %s a cluster): found at %s: %t, want %t: %v", field, name, how, at, found, want, got)
			}
		}
	}
}

// setName sets a field to a name and tells where that is.
func setName(m protoreflect.Message, fd protoreflect.FieldDescriptor, name string) (at string) {
	at = "/" + string(fd.Name())
	v := protoreflect.ValueOfString(name)
	switch {
	case fd.IsMap():
		m.Mutable(fd).Map().Set(v.MapKey(), m.NewField(fd).Map().NewValue())
		return at + "/" + name
	case fd.IsList():
		l := m.Mutable(fd).List()
		l.Append(protoreflect.ValueOfString("a"))
		l.Append(v)
		return at + "/1"
	}
	m.Set(fd, v)
	return at
}

// notClusters are the fields that are called after clusters and neither name one nor let a
// request do so, each with the reason. A field that a new version of the API brings fails below.
var notClusters = map[protoreflect.FullName]string{
	"envoy.config.core.v3.Node.cluster":                                                      "a label of the proxy",
	"envoy.config.endpoint.v3.ClusterStats.cluster_name":                                     "a load report",
	"envoy.config.endpoint.v3.ClusterStats.cluster_service_name":                             "a load report",
	"envoy.config.route.v3.RouteAction.cluster_specifier_plugin":                             "names a plugin of the same route: its own message is judged",
	"envoy.config.endpoint.v3.LedsClusterLocalityConfig.leds_collection_name":                "not of a cluster",
	"envoy.extensions.clusters.dynamic_modules.v3.ClusterConfig.cluster_name":                "names code in a module, which the rule code names",
	"envoy.extensions.filters.http.fault.v3.HTTPFault.upstream_cluster":                      "a condition on the cluster that a route chose",
	"envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel.required_cluster_name": "a condition on the peer's node.cluster",
	"envoy.extensions.filters.network.reverse_tunnel.v3.Validation.cluster_id_format":        "a format of the peer's identity",

	"envoy.extensions.filters.network.kafka_mesh.v3alpha.ForwardingRule.target_cluster":                        "one of Kafka's, in the same message",
	"envoy.extensions.filters.network.kafka_mesh.v3alpha.KafkaClusterDefinition.cluster_name":                  "one of Kafka's, in the same message",
	"envoy.extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client.TunnelInitiatorIdentity.cluster_id": "a label of a node, in a report",
	"istio.workload.Workload.cluster_id": "a label of a workload",
}

// TestT46_EveryClusterFieldIsJudged walks the API for texts that are called after clusters, in
// every package.
func TestT46_EveryClusterFieldIsJudged(t *testing.T) {
	t.Parallel()
	fields, seen := resource.ClusterFieldsForTest(), map[protoreflect.FullName]bool{}
	eachField(func(md protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
		seen[fd.FullName()] = true
		text := fd.Kind() == protoreflect.StringKind || fd.IsMap() || fd.Message() != nil && fd.Message().FullName() == "google.protobuf.StringValue"
		if text && strings.Contains(string(fd.Name()), "cluster") && fields[fd.FullName()] == "" && notClusters[fd.FullName()] == "" {
			t.Errorf("%s: does it name a cluster? put it into referrers or askedClusters, or into notClusters", fd.FullName())
		}
	})
	for name := range notClusters {
		if !seen[name] {
			t.Errorf("%s is in notClusters and does not exist", name)
		}
	}
}

// TestT46_EveryClusterSpecifierIsJudged: a plugin names the cluster of a request by its own rules. A new
// one fails here: see what it lets a request decide.
func TestT46_EveryClusterSpecifierIsJudged(t *testing.T) {
	t.Parallel()
	judged := map[string]string{
		"dynamic_modules": "code", "lua": "code", "matcher": "names clusters", "priority_group": "names clusters, and a request's metadata may", "golang": "code",
	}
	seen := 0
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if name, ok := strings.CutPrefix(string(f.Package()), "envoy.extensions.router.cluster_specifier"); ok { // with an s or, in contrib, without
			seen++
			kind := strings.Split(name, ".")[1]
			code := resource.GuardsMessageForTest(f.Messages().Get(0).FullName())
			if judged[kind] == "" || code != (judged[kind] == "code") {
				t.Errorf("the cluster specifier %s is judged %q, and code: %t", kind, judged[kind], code)
			}
		}
		return true
	})
	if seen != len(judged) {
		t.Errorf("%d specifiers, %d are judged", seen, len(judged))
	}
}

// TestT46_SecretsOfTheBootstrapAreGuarded: a Secret of the bootstrap is used by its name, wherever the
// name is said to come from.
func TestT46_SecretsOfTheBootstrapAreGuarded(t *testing.T) {
	t.Parallel()
	for field := range resource.ReferrersForTest() {
		mt, err := protoregistry.GlobalTypes.FindMessageByName(field.Parent())
		if err != nil || resource.RefersToForTest(field) != fleet.Secret {
			continue
		}
		m := mt.New()
		at := setName(m, mt.Descriptor().Fields().ByName(field.Name()), "fairlead_token")
		if got, err := resource.GuardedForTest(m); err != nil || !slices.Contains(got, resource.Guarded{Rule: resource.RuleBootstrapNames, Pointer: at}) {
			t.Errorf("%s: %v, %v", field, got, err)
		}
	}
}

// TestT46_PrivateClustersAreTheFleets: what is private is said by the fleet that is written to, for what is sent and
// for what is stored.
func TestT46_PrivateClustersAreTheFleets(t *testing.T) {
	t.Parallel()
	text := "{type: routes, name: x, body: {name: x, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: vault}}]}]}}"
	j, err := resource.ToJSON(resource.YAML, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for private, want := range map[string]int{"vault": 1, "vaults": 0} {
		d, err := resource.ParseDocument(j)
		if err != nil {
			t.Fatal(err)
		}
		d.Private = []string{private}
		out, err := newCompiler().Compile(testKey, d)
		if err != nil || len(out.Guarded) != want {
			t.Errorf("sent, with %s private: %v, %v", private, out.Guarded, err)
		}
		again, err := newCompiler().CheckStored(out.Type, out.Name, "", out.Value, []string{private})
		if err != nil || len(again) != want {
			t.Errorf("stored, with %s private: %v, %v", private, again, err)
		}
	}
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
