package resource_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"fairlead/internal/fleet"
	"fairlead/internal/redact"
	"fairlead/internal/resource"
)

const keyCanary = "CANARY7f3a91-of-a-key"

// inBlock is a private key as it stands in YAML in flow style.
const inBlock = `"-----BEGIN EC PRIVATE KEY-----\n` + keyCanary + `\n-----END EC PRIVATE KEY-----"`

const (
	upstreamTLS   = "transport_socket: {name: tls, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, "
	downstreamTLS = "transport_socket: {name: tls, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext, "
	redisOptions  = "typed_extension_protocol_options: {envoy.filters.network.redis_proxy: {'@type': type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions, "
	typedStruct   = "transport_socket: {name: x, typed_config: {'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: type.googleapis.com/"
	keyInline     = "{inline_string: " + keyCanary + "}"

	tlsAt   = "/body/transport_socket/typed_config"
	redisAt = "/body/typed_extension_protocol_options/envoy.filters.network.redis_proxy"
)

var refusedKeys = []struct {
	name, kind, body string
	at, says         string
}{
	{"a TLS key", "clusters", upstreamTLS + "common_tls_context: {tls_certificates: [{certificate_chain: {inline_string: x}, private_key: " + keyInline + "}]}}}",
		tlsAt + "/common_tls_context/tls_certificates/0/private_key/inline_string", "put it into a Secret and name it with sds_config, in tls_certificate_sds_secret_configs"},
	{"in camel case", "clusters", upstreamTLS + "commonTlsContext: {tlsCertificates: [{certificateChain: {inlineString: x}, privateKey: {inlineString: " + keyCanary + "}}]}}}",
		tlsAt + "/commonTlsContext/tlsCertificates/0/privateKey/inlineString", "sds_config"},
	{"its password", "clusters", upstreamTLS + "common_tls_context: {tls_certificates: [{certificate_chain: {filename: x}, private_key: {filename: /y}, password: {inline_bytes: Q0FOQVJZN2YzYTkx}}]}}}",
		tlsAt + "/common_tls_context/tls_certificates/0/password/inline_bytes", "sds_config"},
	{"in a listener", "listeners", "filter_chains: [{" + downstreamTLS + "session_ticket_keys: {keys: [{inline_string: " + keyCanary + "}]}}}}], address: {socket_address: {address: 0.0.0.0, port_value: 1}}",
		"/body/filter_chains/0/transport_socket/typed_config/session_ticket_keys/keys/0/inline_string", "session_ticket_keys_sds_secret_config"},
	{"a password without a Secret", "clusters", redisOptions + "auth_password: " + keyInline + "}}", redisAt + "/auth_password/inline_string", "name that with filename"},
	{"htpasswd", "extensions", "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.basic_auth.v3.BasicAuth, users: " + keyInline + "}",
		"/body/typed_config/users/inline_string", "name that with filename"},
	{"API keys", "extensions", "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth, key_sources: [{header: x}], credentials: [{key: " + keyCanary + ", client: a}]}",
		"/body/typed_config/credentials/0/key", "ext_authz"},
	{"an AWS key", "extensions", "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.aws_lambda.v3.Config, arn: 'arn:aws:lambda:a:1:function:f', credentials: {access_key_id: a, secret_access_key: " + keyCanary + "}}",
		"/body/typed_config/credentials/secret_access_key", "AWS credentials from its environment"},
	{"a token of gRPC", "clusters", "health_checks: [{timeout: 1s, interval: 1s, unhealthy_threshold: 1, healthy_threshold: 1, tcp_health_check: {}}], eds_cluster_config: {eds_config: {api_config_source: {api_type: GRPC, grpc_services: [{google_grpc: {target_uri: x, stat_prefix: x, call_credentials: [{access_token: " + keyCanary + "}]}}]}}}",
		"/body/eds_cluster_config/eds_config/api_config_source/grpc_services/0/google_grpc/call_credentials/0/access_token", "credential_injector"},
	{"a header", "clusters", "eds_cluster_config: {eds_config: {api_config_source: {api_type: GRPC, grpc_services: [{envoy_grpc: {cluster_name: x}, initial_metadata: [{key: Authorization, value: Bearer " + keyCanary + "}]}]}}}",
		"/body/eds_cluster_config/eds_config/api_config_source/grpc_services/0/initial_metadata/0/value", "credential_injector"},
	{"a header of routes", "routes", "request_headers_to_add: [{header: {key: authorization, value: Basic " + keyCanary + "}}]", "/body/request_headers_to_add/0/header/value", "sds_config"},
	{"private JWKS", "extensions", `typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication, providers: {a: {local_jwks: {inline_string: '{"keys":[{"kty":"EC","d":"` + keyCanary + `"}]}'}}}}`,
		"/body/typed_config/providers/a/local_jwks/inline_string", "public keys alone"},
	{"a key as a response", "routes", "virtual_hosts: [{name: a, domains: ['*'], routes: [{match: {prefix: /}, direct_response: {status: 200, body: {inline_string: " + inBlock + "}}}]}]",
		"/body/virtual_hosts/0/routes/0/direct_response/body/inline_string", "sds_config"},
	{"a key in a name", "clusters", "alt_stat_name: " + inBlock, "/body/alt_stat_name", "sds_config"},
	{"a key in metadata", "clusters", "metadata: {filter_metadata: {a: {b: [x, {c: " + inBlock + "}]}}}", "/body/metadata/filter_metadata/a/b/1/c", "sds_config"},
	{"a key as a key", "clusters", "metadata: {filter_metadata: {a: {" + inBlock + ": 1}}}", "/body/metadata/filter_metadata/a", "sds_config"},
	{"a key in runtime", "runtimes", "layer: {a: " + inBlock + "}", "/body/layer/a", "sds_config"},
	{"a wrapped key", "extensions", "typed_config: {'@type': type.googleapis.com/google.protobuf.StringValue, value: " + inBlock + "}", "/body/typed_config/value", "sds_config"},
	{"a typed struct", "clusters", typedStruct + "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, value: {common_tls_context: {tls_certificates: [{private_key: " + keyInline + "}]}}}}",
		tlsAt + "/value/common_tls_context/tls_certificates/0/private_key/inline_string", "sds_config"},
	{"an unknown struct", "clusters", typedStruct + "x.Y, value: {a: " + inBlock + "}}}", tlsAt + "/value/a", "sds_config"},
}

func documentOf(kind, body string) string {
	return "{type: " + kind + ", name: a, body: {name: a, " + body + "}}"
}

// TestT42_KeysOutsideOfSecretsAreRefused: with the place and with what to do, and never
// with the key. Stored bytes are refused alike.
func TestT42_KeysOutsideOfSecretsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range refusedKeys {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := compile(documentOf(c.kind, c.body))
			var errs resource.Errors
			if !errors.As(err, &errs) || len(errs) != 1 || errs[0].Code != "inline_key" || errs[0].Pointer != c.at || !strings.Contains(errs[0].Detail, c.says) {
				t.Fatalf("got %v, want inline_key at %s with %q", errs, c.at, c.says)
			}
			if strings.Contains(errs[0].Error(), keyCanary) {
				t.Errorf("the error repeats the key: %v", err)
			}
		})
	}
}

// TestT42_StoredKeysAreRefused without the document that they came from.
func TestT42_StoredKeysAreRefused(t *testing.T) {
	t.Parallel()
	tls, err := anypb.New(wrapperspb.String("-----BEGIN PRIVATE KEY-----"))
	if err != nil {
		t.Fatal(err)
	}
	value, err := proto.Marshal(&core.TypedExtensionConfig{Name: "a", TypedConfig: tls})
	if err != nil {
		t.Fatal(err)
	}
	if got := found(t, resource.KeysForTest(fleet.Extension, value)); !slices.Equal(got, []string{"inline_key /body/typed_config/value"}) {
		t.Errorf("got %v", got)
	}
}

// TestT42_WhatIsNoKeyIsTaken: certificates, public keys, texts, names of files, and a
// credential that the proxy gets elsewhere.
func TestT42_WhatIsNoKeyIsTaken(t *testing.T) {
	t.Parallel()
	chain := jsonText(newECPair(t).chain)
	for name, c := range map[string][2]string{
		"certificates": {"clusters", upstreamTLS + "common_tls_context: {tls_certificates: [{certificate_chain: {inline_string: " + chain + "}, private_key: {filename: /key.pem}}], validation_context: {trusted_ca: {inline_string: " + chain + "}}}}}"},
		"a Secret":     {"clusters", upstreamTLS + "common_tls_context: {tls_certificate_sds_secret_configs: [{name: s, sds_config: {ads: {}}}]}}}"},
		"a variable":   {"clusters", redisOptions + "auth_password: {environment_variable: REDIS}}}"},
		"no password":  {"clusters", redisOptions + "auth_password: {inline_string: ''}}}"},
		"public keys":  {"extensions", `typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication, providers: {a: {local_jwks: {inline_string: '{"keys":[{"kty":"EC","kid":"d","x":"AQ","y":"AQ"}]}'}}}}`},
		"a response":   {"routes", "virtual_hosts: [{name: a, domains: ['*'], routes: [{match: {prefix: /}, direct_response: {status: 200, body: {inline_string: 'password: [redacted] PRIVATE KEY'}}}]}]"},
		"a formatter":  {"routes", "request_headers_to_add: [{header: {key: authorization, value: 'Bearer %DYNAMIC_METADATA(a:b)%'}}]"},
		"context":      {"extensions", "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute, check_settings: {context_extensions: {virtual_host: local_service}}}"},
	} {
		if _, err := compile(documentOf(c[0], c[1])); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestT42_WhatWasBlankedIsNotTakenBack: an answer that was edited and put back would
// otherwise destroy the key.
func TestT42_WhatWasBlankedIsNotTakenBack(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"clusters", upstreamTLS + "common_tls_context: {tls_certificates: [{private_key: {inline_string: '[redacted]'}}]}}}", tlsAt + "/common_tls_context/tls_certificates/0/private_key/inline_string"},
		{"clusters", "alt_stat_name: '[redacted]'", "/body/alt_stat_name"},
		{"clusters", "metadata: {filter_metadata: {a: {b: '[redacted]'}}}", "/body/metadata/filter_metadata/a/b"},
		{"extensions", "typed_config: {'@type': type.googleapis.com/google.protobuf.BytesValue, value: W3JlZGFjdGVkXQ==}", "/body/typed_config/value"},
		{"extensions", "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute, check_settings: {context_extensions: {a: '[redacted]'}}}", "/body/typed_config/check_settings/context_extensions/a"},
	} {
		_, err := compile(documentOf(c[0], c[1]))
		var errs resource.Errors
		if !errors.As(err, &errs) || len(errs) != 1 || errs[0].Code != "redacted" || errs[0].Pointer != c[2] || !strings.Contains(errs[0].Detail, "write the value itself") {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

// TestT42_EverySensitiveFieldIsRefused: all that is blanked when it is shown is refused
// when it is written.
func TestT42_EverySensitiveFieldIsRefused(t *testing.T) {
	t.Parallel()
	seen := 0
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		for i := range mt.Descriptor().Fields().Len() {
			fd := mt.Descriptor().Fields().Get(i)
			if !redact.Secret(fd) {
				continue
			}
			seen++
			m := mt.New()
			setKey(m, fd)
			config, err := anypb.New(m.Interface())
			if err != nil {
				t.Fatal(err)
			}
			value, err := proto.Marshal(&core.TypedExtensionConfig{Name: "a", TypedConfig: config})
			if err != nil {
				t.Fatal(err)
			}
			err = resource.KeysForTest(fleet.Extension, value)
			refused := slices.ContainsFunc(found(t, err), func(s string) bool { return strings.HasPrefix(s, "inline_key /body/typed_config/"+fd.TextName()) })
			if !refused {
				t.Errorf("%s: %v", fd.FullName(), err)
			}
			if err != nil && strings.Contains(err.Error(), keyCanary) {
				t.Errorf("%s: the error repeats the key", fd.FullName())
			}
		}
		return true
	})
	if seen < 40 {
		t.Errorf("only %d fields", seen)
	}
}

// setKey puts the canary into a field.
func setKey(m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	value := func(fd protoreflect.FieldDescriptor, empty protoreflect.Value) protoreflect.Value {
		if fd.Message() == nil {
			return protoreflect.ValueOfString(keyCanary)
		}
		switch x := empty.Message().Interface().(type) {
		case *core.DataSource:
			x.Specifier = &core.DataSource_InlineString{InlineString: keyCanary}
		case *anypb.Any:
			_ = x.MarshalFrom(wrapperspb.String(keyCanary))
		default:
			in := empty.Message()
			in.Set(in.Descriptor().Fields().Get(0), protoreflect.ValueOfString(keyCanary))
		}
		return empty
	}
	switch {
	case fd.IsMap():
		entries := m.Mutable(fd).Map()
		entries.Set(protoreflect.ValueOfString("x").MapKey(), value(fd.MapValue(), entries.NewValue()))
	case fd.IsList():
		list := m.Mutable(fd).List()
		list.Append(value(fd, list.NewElement()))
	default:
		m.Set(fd, value(fd, m.NewField(fd)))
	}
}

// TestT27_FaultsNearAKeyRepeatNothing: what cannot be decoded near a field for a key may be
// the key itself.
func TestT27_FaultsNearAKeyRepeatNothing(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	for _, body := range []string{
		redisOptions + "auth_password: " + secret + "}}",
		redisOptions + "auth_password: {inline_bytes: '" + secret + "!'}}}",
		redisOptions + "auth_password: {" + secret + ": 1}}}",
		redisOptions + "auth_password: {inline_string: {" + secret + ": 1}}}}",
		redisOptions + "auth_password: {inline_string: [" + secret + "]}}}",
		redisOptions + "auth_password: {inline_string: a, filename: " + secret + "}}}",
		redisOptions + "credentials: {auth_password: " + secret + "}}}",
		redisOptions + "credentials: [{auth_password: {inline_bytes: '!" + secret + "'}}]}}",
		redisOptions + "auth_password: {watched_directory: {path: {" + secret + ": x}}}}}",
		upstreamTLS + "common_tls_context: {tls_certificates: [{private_key_provider: {provider_name: x, typed_config: {'@type': " + secret + "}}}]}}}",
		upstreamTLS + "common_tls_context: {tls_certificates: [{private_key_provider: {provider_name: x, typed_config: {'@type': type.googleapis.com/google.protobuf.Duration, value: " + secret + "}}}]}}}",
		"eds_cluster_config: {eds_config: {api_config_source: {grpc_services: [{initial_metadata: [{key: authorization, raw_value: '" + secret + "!'}]}]}}}",
		"eds_cluster_config: {eds_config: {api_config_source: {grpc_services: [{google_grpc: {call_credentials: [{access_token: {" + secret + ": 1}}]}}]}}}",
	} {
		_, err := compile(documentOf("clusters", body))
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", body, err)
		}
	}
	for value, body := range map[string]string{
		"1234567": "typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.aws_lambda.v3.Config, credentials: {secret_access_key: 1234567}}",
		// protobuf's own decoder finds this, and quotes it
		"0000-12-31": "typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.PrivateKeyProvider, provider_name: x, typed_config: {'@type': type.googleapis.com/google.protobuf.Timestamp, value: '0000-12-31T23:59:59Z'}}",
	} {
		_, err := compile(documentOf("extensions", body))
		if err == nil || strings.Contains(err.Error(), value) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestT42_NoKeyStandsBesideABody: description, labels and names are stored and shown in the
// clear, of a Secret too.
func TestT42_NoKeyStandsBesideABody(t *testing.T) {
	t.Parallel()
	for field, at := range map[string]string{"description: " + inBlock: "/description", "labels: {a: " + inBlock + "}": "/labels/a"} {
		_, err := compile("{type: secrets, name: a, " + field + ", body: {name: a, generic_secret: {secret: {inline_string: x}}}}")
		if got := found(t, err); !slices.Equal(got, []string{"inline_key " + at}) {
			t.Errorf("%s: %v", field, got)
		}
	}
}

// TestT42_RenderingBlanksOldKeys: what was written before the rule is not shown.
func TestT42_RenderingBlanksOldKeys(t *testing.T) {
	t.Parallel()
	m := &core.TypedExtensionConfig{Name: "a"}
	inner := &core.GrpcService_GoogleGrpc_SslCredentials{PrivateKey: &core.DataSource{Specifier: &core.DataSource_InlineBytes{InlineBytes: []byte(keyCanary)}}}
	var err error
	if m.TypedConfig, err = anypb.New(inner); err != nil {
		t.Fatal(err)
	}
	value, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := resource.Render(fleet.Extension, value)
	if err != nil || !strings.Contains(string(shown), `"private_key":{"inline_string":"[redacted]"}`) {
		t.Errorf("%s, %v", shown, err)
	}
}

// TestT42_ASecretDoesNotTakeTheMark: proxies would take it for the key.
func TestT42_ASecretDoesNotTakeTheMark(t *testing.T) {
	t.Parallel()
	for body, at := range map[string]string{
		"generic_secret: {secret: {inline_string: '[redacted]'}}":                                      "/body/generic_secret/secret/inline_string",
		"generic_secret: {secret: {inline_bytes: W3JlZGFjdGVkXQ==}}":                                   "/body/generic_secret/secret/inline_bytes",
		"generic_secret: {secrets: {a: {inline_string: '[redacted]'}}}":                                "/body/generic_secret/secrets/a/inline_string",
		"session_ticket_keys: {keys: [{inline_string: '[redacted]'}]}":                                 "/body/session_ticket_keys/keys/0/inline_string",
		"tlsCertificate: {certificateChain: {filename: /a}, privateKey: {inlineString: '[redacted]'}}": "/body/tlsCertificate/privateKey/inlineString",
	} {
		_, err := compile(documentOf("secrets", body))
		var faults resource.Errors
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Code != "redacted" || faults[0].Pointer != at {
			t.Errorf("%s: %v, want one fault at %s", body, err, at)
		}
	}
}

// TestT42_FormsHideNoKeyInATypedStruct: Envoy reads the content of a TypedStruct by the parser that takes more forms than others do.
func TestT42_FormsHideNoKeyInATypedStruct(t *testing.T) {
	t.Parallel()
	const secret = `"credentials": {"access_key_id": "AKIA", "secret_access_key": "s3cr3t"}, "arn": "arn:aws:lambda:us-west-2:123456789012:function:f"`
	for _, form := range []string{
		`"payload_passthrough": true`, `"payload_passthrough": "yes"`, `"payload_passthrough": "T"`, `"invocation_mode": "asynchronous"`, `"invocation_mode": "01"`,
		`"payload_passthrough": "yes", "no_such_field": 1`,
	} {
		for _, outer := range []string{"xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"} {
			body := `{"name": "e", "typed_config": {"@type": "type.googleapis.com/` + outer + `", "type_url": "any.example/envoy.extensions.filters.http.aws_lambda.v3.Config", "value": {` + secret + `, ` + form + `}}}`
			_, err := newCompiler().Compile(testKey, resource.Document{Type: fleet.Extension, Name: "e", Body: []byte(body)})
			if got := found(t, err); !slices.Equal(got, []string{"inline_key /body/typed_config/value/credentials/secret_access_key"}) {
				t.Errorf("%s, %s: %v", outer, form, got)
			}
		}
	}
}
