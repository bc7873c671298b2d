package resource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

const sdsConfig protoreflect.FullName = "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig"

// fieldsOfEnvoy calls f with every field of Envoy's API.
func fieldsOfEnvoy(f func(protoreflect.FieldDescriptor)) {
	var messages func(protoreflect.MessageDescriptors)
	messages = func(mds protoreflect.MessageDescriptors) {
		for i := range mds.Len() {
			for j := range mds.Get(i).Fields().Len() {
				f(mds.Get(i).Fields().Get(j))
			}
			messages(mds.Get(i).Messages())
		}
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		messages(file.Messages())
		return true
	})
}

// namesSecret reports whether a field embeds an SdsSecretConfig, or is of the packages in which Secrets are chosen for
// connections and could name one.
func namesSecret(fd protoreflect.FieldDescriptor) bool {
	inner := fd.Message()
	if inner != nil && inner.IsMapEntry() {
		inner = fd.MapValue().Message()
	}
	if inner != nil && inner.FullName() == sdsConfig {
		return !fd.ContainingMessage().IsMapEntry() // that stands for the map
	}
	pkg := string(fd.ParentFile().Package())
	if !strings.Contains(pkg, ".cert_mappers.") && !strings.Contains(pkg, ".cert_selectors.") {
		return false
	}
	return fd.Kind() == protoreflect.StringKind || inner != nil && inner.FullName() == "envoy.config.core.v3.TypedExtensionConfig"
}

// TestT47_EverySecretFieldIsClassified walks all of Envoy's API: a new field by which a Secret is used fails here first. Until
// it is classified the product takes it for one by which the Secret leaves.
func TestT47_EverySecretFieldIsClassified(t *testing.T) {
	t.Parallel()
	known := resource.SecretFieldsForTest()
	seen := map[protoreflect.FullName]bool{}
	fieldsOfEnvoy(func(fd protoreflect.FieldDescriptor) {
		seen[fd.FullName()] = true
		if namesSecret(fd) && !known[fd.FullName()] {
			t.Errorf("%s uses a Secret: classify it in secretFields", fd.FullName())
		}
		const tls = "envoy.extensions.transport_sockets.tls."
		if resource.IsTLSForTest(fd.FullName()) && !strings.HasPrefix(string(fd.FullName()), tls) {
			t.Errorf("%s is classified as TLS and stands outside of its packages", fd.FullName())
		}
	})
	for f := range known {
		if !seen[f] {
			t.Errorf("%s is classified and does not exist", f)
		}
	}
	for f := range resource.ReferrersForTest() {
		if resource.NamesSecretForTest(f) && !known[f] && f.Parent() != sdsConfig {
			t.Errorf("%s is a reference to a Secret and no use of one", f)
		}
	}
}

func usesText(us []resource.Use) (out []string) {
	for _, u := range us {
		name := u.Name
		if u.Any {
			name = "any"
		}
		out = append(out, fmt.Sprintf("%s %s %s", map[resource.UseKind]string{resource.UseTLS: "tls", resource.UseSent: "sent"}[u.Kind], name, u.Pointer))
	}
	return out
}

const (
	fromAds    = "sds_config: {ads: {}, resource_api_version: V3}"
	extensions = "type.googleapis.com/envoy.extensions."
	aListener  = "{type: listeners, name: a, body: {name: a, address: {socket_address: {address: 0.0.0.0, port_value: 1}}, "
)

// filterAs is an extension resource that holds the message.
func filterAs(message, fields string) string {
	return "{type: extensions, name: a, body: {name: a, typed_config: {'@type': " + extensions + message + ", " + fields + "}}}"
}

func TestT47_UsesAreFound(t *testing.T) {
	t.Parallel()
	secret := func(name string) string { return "{name: " + name + ", " + fromAds + "}" }
	tls := func(context, fields string) string {
		return "transport_socket: {name: tls, typed_config: {'@type': " + extensions + "transport_sockets." + context + ", " + fields + "}}"
	}
	cluster := func(fields string) string { return "{type: clusters, name: a, body: {name: a, " + fields + "}}" }
	onDemand := func(mapper, more string) string {
		return cluster(tls("tls.v3.UpstreamTlsContext", "common_tls_context: {custom_tls_certificate_selector: {name: s, typed_config: {'@type': "+extensions+
			"transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config, config_source: {ads: {}}, certificate_mapper: {name: m, typed_config: {'@type': "+extensions+
			"transport_sockets.tls.cert_mappers."+mapper+"}}"+more+"}}}"))
	}
	const socket, context = "/body/transport_socket/typed_config", "/common_tls_context"
	const selector = socket + context + "/custom_tls_certificate_selector/typed_config"
	for doc, want := range map[string][]string{
		cluster("type: STATIC"): nil,
		cluster(tls("tls.v3.UpstreamTlsContext", "common_tls_context: {tls_certificate_sds_secret_configs: ["+secret("c")+"], validation_context_sds_secret_config: "+secret("v")+"}")): {
			"tls c " + socket + context + "/tls_certificate_sds_secret_configs/0/name", "tls v " + socket + context + "/validation_context_sds_secret_config/name"},
		cluster(tls("tls.v3.UpstreamTlsContext", "commonTlsContext: {combinedValidationContext: {defaultValidationContext: {}, validationContextSdsSecretConfig: "+secret("v")+"}}")): {
			"tls v " + socket + "/commonTlsContext/combinedValidationContext/validationContextSdsSecretConfig/name"},
		cluster(tls("starttls.v3.UpstreamStartTlsConfig", "tls_socket_config: {common_tls_context: {tls_certificate_sds_secret_configs: ["+secret("c")+"]}}")): {
			"tls c " + socket + "/tls_socket_config" + context + "/tls_certificate_sds_secret_configs/0/name"},
		cluster(tls("quic.v3.QuicUpstreamTransport", "upstream_tls_context: {common_tls_context: {tls_certificate_sds_secret_configs: ["+secret("c")+", "+secret("c")+"]}}")): {
			"tls c " + socket + "/upstream_tls_context" + context + "/tls_certificate_sds_secret_configs/0/name"},
		aListener + "filter_chains: [{" + tls("tls.v3.DownstreamTlsContext", "session_ticket_keys_sds_secret_config: "+secret("k")) + "}]}}": {
			"tls k /body/filter_chains/0/transport_socket/typed_config/session_ticket_keys_sds_secret_config/name"},
		// From no source it is one of the bootstrap's, from another it may still lead here.
		cluster(tls("tls.v3.UpstreamTlsContext", "common_tls_context: {validation_context_sds_secret_config: {name: v}}")): {
			"tls v " + socket + context + "/validation_context_sds_secret_config/name"},
		cluster(tls("tls.v3.UpstreamTlsContext", "common_tls_context: {validation_context_sds_secret_config: {name: v, sds_config: {api_config_source: {api_type: GRPC, grpc_services: [{envoy_grpc: {cluster_name: x}}]}}}}")): {
			"tls v " + socket + context + "/validation_context_sds_secret_config/name"},

		onDemand("static_name.v3.StaticName, name: m", ""): {"tls m " + selector + "/certificate_mapper/typed_config/name"},
		onDemand("sni.v3.SNI, default_value: d", ", prefetch_secret_names: [p]"): {
			"tls p " + selector + "/prefetch_secret_names/0", "tls any " + selector + "/certificate_mapper", "tls d " + selector + "/certificate_mapper/typed_config/default_value"},
		onDemand("filter_state_override.v3.Config, default_value: d", ""): {
			"tls any " + selector + "/certificate_mapper", "tls d " + selector + "/certificate_mapper/typed_config/default_value"},

		filterAs("filters.http.credential_injector.v3.CredentialInjector", "credential: {name: g, typed_config: {'@type': "+extensions+
			"http.injected_credentials.generic.v3.Generic, credential: "+secret("s")+"}}"): {"sent s /body/typed_config/credential/typed_config/credential/name"},
		filterAs("filters.http.credential_injector.v3.CredentialInjector", "credential: {name: g, typed_config: {'@type': "+extensions+
			"http.injected_credentials.oauth2.v3.OAuth2, token_endpoint: {uri: 'https://x', cluster: c, timeout: 1s}, client_credentials: {client_id: i, client_secret: "+secret("s")+"}}}"): {
			"sent s /body/typed_config/credential/typed_config/client_credentials/client_secret/name"},
		filterAs("filters.http.oauth2.v3.OAuth2", "config: {token_endpoint: {uri: 'https://x', cluster: c, timeout: 1s}, authorization_endpoint: 'https://x', redirect_uri: x, "+
			"redirect_path_matcher: {path: {exact: /c}}, signout_path: {path: {exact: /s}}, credentials: {client_id: i, token_secret: "+secret("s")+", hmac_secret: "+secret("h")+"}}"): {
			"sent s /body/typed_config/config/credentials/token_secret/name", "sent h /body/typed_config/config/credentials/hmac_secret/name"},
		filterAs("access_loggers.stream.v3.StdoutAccessLog", "log_format: {text_format_source: {inline_string: x}, formatters: [{name: f, typed_config: {'@type': "+extensions+
			"formatter.generic_secret.v3.GenericSecret, secret_configs: {k: "+secret("s")+"}}}]}"): {
			"sent s /body/typed_config/log_format/formatters/0/typed_config/secret_configs/k/name"},
		filterAs("quic.connection_id_generator.quic_lb.v3.Config", "server_id: {inline_string: x}, nonce_length_bytes: 8, encryption_parameters: "+secret("s")): {
			"sent s /body/typed_config/encryption_parameters/name"},
		// By itself it is part of nothing that is known.
		filterAs("transport_sockets.tls.v3.SdsSecretConfig", "name: s, "+fromAds): {"sent s /body/typed_config/name"},
		// In JSON of which the type is known, is not, or is none.
		"{type: extensions, name: a, body: {name: a, typed_config: {'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: " + extensions +
			"http.injected_credentials.generic.v3.Generic, value: {credential: " + secret("s") + "}}}}": {"sent s /body/typed_config/value/credential/name"},
		"{type: extensions, name: a, body: {name: a, typed_config: {'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: x/not.Known, value: {list: [{key: {name: s, sdsConfig: {}}}]}}}}": {
			"sent s /body/typed_config/value"},
		"{type: extensions, name: a, body: {name: a, typed_config: {'@type': type.googleapis.com/google.protobuf.Struct, value: {credential: {sds_config: {}}}}}}": {"sent any /body/typed_config/value"},
	} {
		out, err := compile(doc)
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		if d := cmp.Diff(want, usesText(out.Uses)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", doc, d)
		}
		stored, err := resource.UsesOf(out.Type, out.Value)
		if err != nil || len(stored) != len(out.Uses) {
			t.Errorf("%s: of the stored bytes %v, %v", doc, usesText(stored), err)
		}
	}
	if us, err := resource.UsesOf(fleet.Secret, []byte{0xff}); us != nil || err != nil {
		t.Errorf("a sealed Secret uses %v, %v", us, err)
	}
	if _, err := resource.UsesOf(fleet.Cluster, []byte{0xff}); !errorsIs(err, fleet.ErrInvalid) {
		t.Errorf("bytes that are no cluster: %v", err)
	}
}

// TestT44_PlacesTakeWhatTheResourceHas: below one long key there may be many places, and each that is told has the key. What is found is all told.
func TestT44_PlacesTakeWhatTheResourceHas(t *testing.T) {
	t.Parallel()
	const many, ports = 2_000, 150 // of these one more than a fleet opens is told
	list := func(n int, one string) string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(one, i+1)
		}
		return strings.Join(out, ",")
	}
	for name, held := range map[string]string{
		"uses": `"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
			"common_tls_context": {"tls_certificate_sds_secret_configs": [` + list(many, `{"name": "s%d", "sds_config": {"ads": {}}}`) + `]}`,
		"guarded": `"@type": "type.googleapis.com/envoy.config.core.v3.Metadata", "typed_filter_metadata": {` +
			list(ports, `"%[1]d": {"@type": "type.googleapis.com/envoy.config.core.v3.Address", "socket_address": {"address": "127.0.0.1", "port_value": %[1]d}}`) + `}`,
	} {
		body := `{"name": "r", "typed_per_filter_config": {"` + strings.Repeat("k", 3<<10) + `": {` + held + `}}}`
		out, err := newCompiler().Compile(testKey, resource.Document{Type: fleet.Route, Name: "r", Body: []byte(body)})
		if err != nil {
			t.Fatal(name, err)
		}
		var places []string
		for _, u := range out.Uses {
			places = append(places, u.Pointer)
		}
		for _, g := range out.Guarded {
			places = append(places, g.Pointer)
		}
		size := 0
		for _, p := range places {
			size += len(p)
		}
		if want := map[string]int{"uses": many, "guarded": resource.MaxLocalPorts + 1}[name]; len(places) != want {
			t.Errorf("%s: %d places, want %d", name, len(places), want)
		}
		if most := 64<<10 + 4*len(body) + 4<<10; size > most {
			t.Errorf("%s: the places of %d bytes have %d, at most %d are expected", name, len(body), size, most)
		}
	}
}
