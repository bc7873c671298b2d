package redact

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const canary = "cAnArY-7f3a9e51-must-not-be-seen"

const pemKey = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEI" + canary + "\n-----END EC PRIVATE KEY-----\n"

// fill sets every field that can hold a text to the canary, of each oneof the choice-th.
func fill(m protoreflect.Message, choice, depth int) {
	if depth > 6 {
		return
	}
	if m.Descriptor().FullName() == "google.protobuf.Any" {
		inner, _ := anypb.New(wrapperspb.String(canary))
		proto.Merge(m.Interface(), inner)
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if od := fd.ContainingOneof(); od != nil && od.Fields().Get(choice%od.Fields().Len()) != fd {
			continue
		}
		fillField(m, fd, choice, depth)
	}
}

func fillField(m protoreflect.Message, fd protoreflect.FieldDescriptor, choice, depth int) {
	switch {
	case fd.IsMap():
		if v, ok := filled(m.Mutable(fd).Map().NewValue, fd.MapValue(), choice, depth); ok && fd.MapKey().Kind() == protoreflect.StringKind {
			m.Mutable(fd).Map().Set(protoreflect.ValueOfString("key").MapKey(), v)
		}
	case fd.IsList():
		if v, ok := filled(m.Mutable(fd).List().NewElement, fd, choice, depth); ok {
			m.Mutable(fd).List().Append(v)
		}
	default:
		if v, ok := filled(func() protoreflect.Value { return m.NewField(fd) }, fd, choice, depth); ok {
			m.Set(fd, v)
		}
	}
}

func filled(empty func() protoreflect.Value, fd protoreflect.FieldDescriptor, choice, depth int) (protoreflect.Value, bool) {
	switch {
	case fd.Message() != nil:
		v := empty()
		fill(v.Message(), choice, depth+1)
		return v, true
	case fd.Kind() == protoreflect.StringKind:
		return protoreflect.ValueOfString(canary), true
	case fd.Kind() == protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(canary)), true
	}
	return protoreflect.Value{}, false
}

// hollow takes out what says where a secret is.
func hollow(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case places[fd.FullName()]:
			m.Clear(fd)
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				hollow(v.List().Get(i).Message())
			}
		case fd.IsMap() && fd.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { hollow(v.Message()); return true })
		case !fd.IsMap() && !fd.IsList() && fd.Message() != nil:
			hollow(v.Message())
		}
		return true
	})
}

// TestT27_EverySensitiveFieldIsBlanked: of every message of Envoy's API with a field for a
// key, a password or a token, as it is and in an Any, with each way to write the field.
func TestT27_EverySensitiveFieldIsBlanked(t *testing.T) {
	t.Parallel()
	seen := 0
	allFields(func(fd protoreflect.FieldDescriptor) {
		if !Secret(fd) {
			return
		}
		seen++
		mt, err := protoregistry.GlobalTypes.FindMessageByName(fd.Parent().FullName())
		if err != nil {
			t.Fatal(err)
		}
		for choice := range 5 {
			m := mt.New()
			fillField(m, fd, choice, 0)
			hollow(m)
			outer, err := anypb.New(m.Interface())
			if err != nil {
				t.Fatal(err)
			}
			had := bytes.Contains(outer.GetValue(), []byte(canary))
			blanked := Blank(outer.ProtoReflect())
			if blanked != had || bytes.Contains(outer.GetValue(), []byte(canary)) || had && !bytes.Contains(outer.GetValue(), []byte(Mark)) {
				t.Errorf("%s, choice %d: blanked %v of %v", fd.FullName(), choice, blanked, m)
			}
			if choice == 0 && !had && fd.Message() == nil {
				t.Errorf("%s: the test put nothing in", fd.FullName())
			}
			if Blank(outer.ProtoReflect()) {
				t.Errorf("%s: what is blanked was blanked again", fd.FullName())
			}
		}
	})
	if seen < 40 {
		t.Errorf("only %d fields", seen)
	}
}

// parse reads a message as JSON.
func parse(t *testing.T, url, text string) *anypb.Any {
	t.Helper()
	a := new(anypb.Any)
	if err := protojson.Unmarshal([]byte(`{"@type":"type.googleapis.com/`+url+`",`+text+`}`), a); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

func quoted(s string) string {
	b, _ := protojson.Marshal(wrapperspb.String(s))
	return string(b)
}

const publicKeys = `{\"keys\": [{\"kty\": \"RSA\", \"kid\": \"d\", \"n\": \"` + canary + `\", \"e\": \"AQAB\"}]}`

// TestT42_OnlySecretsAreBlanked: what is not one is shown as it is.
func TestT42_OnlySecretsAreBlanked(t *testing.T) {
	t.Parallel()
	const (
		redis   = "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy"
		cluster = "envoy.config.cluster.v3.Cluster"
		jwt     = "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider"
		grpc    = "envoy.config.core.v3.GrpcService"
		typed   = `"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"type.googleapis.com/`
	)
	for name, c := range map[string]struct {
		url, text string
		left      string // "": nothing of the canary
	}{
		"a password":             {redis, `"downstream_auth_password":{"inline_string":"` + canary + `"}`, ""},
		"where a password is":    {redis, `"downstream_auth_password":{"filename":"/` + canary + `"}`, canary},
		"a certificate":          {"envoy.extensions.transport_sockets.tls.v3.TlsCertificate", `"certificate_chain":{"inline_string":"` + canary + `"}`, canary},
		"a key in free text":     {cluster, `"alt_stat_name":` + quoted(pemKey), ""},
		"a key as bytes":         {"google.protobuf.BytesValue", `"value":"` + base64.StdEncoding.EncodeToString([]byte(pemKey)) + `"`, ""},
		"a key in metadata":      {cluster, `"metadata":{"filter_metadata":{"a":{"b":["x",{"c":` + quoted(pemKey) + `}]}}}`, ""},
		"a key as a key":         {cluster, `"metadata":{"filter_metadata":{"a":{` + quoted(pemKey) + `:1}}}`, ""},
		"a word in metadata":     {cluster, `"metadata":{"filter_metadata":{"a":{"b":"` + canary + `"}}}`, canary},
		"a nested any":           {cluster, `"typed_extension_protocol_options":{"envoy.filters.network.redis_proxy":{"@type":"type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions","auth_password":{"inline_bytes":"Y0FuQXJZLTdmM2E5ZTUxLW11c3Qtbm90LWJlLXNlZW4="}}}`, ""},
		"a typed struct":         {cluster, `"transport_socket":{"name":"x","typed_config":{` + typed + redis + `","value":{"downstreamAuthPasswords":[{"inline_string":"` + canary + `"}]}}}`, ""},
		"an unknown struct":      {cluster, `"transport_socket":{"name":"x","typed_config":{` + typed + `x.Y","value":{"key":` + quoted(pemKey) + `}}}`, ""},
		"public keys":            {jwt, `"local_jwks":{"inline_string":"` + publicKeys + `"}`, canary},
		"private keys":           {jwt, `"local_jwks":{"inline_string":"{\"keys\":[{\"kty\":\"EC\",\"d\":\"` + canary + `\"}]}"}`, ""},
		"symmetric keys":         {jwt, `"local_jwks":{"inline_string":"{\"keys\":[{\"kty\":\"oct\",\"k\":\"` + canary + `\"}]}"}`, ""},
		"keys in no plain JSON":  {jwt, `"local_jwks":{"inline_string":"{keys:[{'kty':'oct','k':'` + canary + `'}]}"}`, ""},
		"a header":               {grpc, `"initial_metadata":[{"key":"Authorization","value":"Bearer ` + canary + `"}]`, ""},
		"a header's formatter":   {grpc, `"initial_metadata":[{"key":"authorization","value":"Bearer %REQ(` + canary + `)%"}]`, canary},
		"a token of GCP":         {"envoy.extensions.filters.http.gcp_authn.v3.Audience.IAMAccessToken", `"authorization":"Bearer ` + canary + `"`, ""},
		"a template of GCP":      {"envoy.extensions.filters.http.gcp_authn.v3.Audience.IAMAccessToken", `"authorization":"Bearer %DYNAMIC_METADATA(` + canary + `)%"`, canary},
		"another header":         {grpc, `"initial_metadata":[{"key":"x-team","value":"` + canary + `"}]`, canary},
		"htpasswd":               {"envoy.extensions.filters.http.basic_auth.v3.BasicAuth", `"users":{"inline_string":"user:{SHA}` + canary + `"}`, ""},
		"extensions of a check":  {"envoy.extensions.filters.http.ext_authz.v3.CheckSettings", `"context_extensions":{"` + canary[:6] + `":"` + canary + `"}`, canary},
		"public keys, folded":    {jwt, `"local_jwks":{"inline_string":"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"u1SU1LfVLP\n   ` + canary + `\",\"e\":\"AQ\tAB\"}]}"}`, canary},
		"private keys, folded":   {jwt, `"local_jwks":{"inline_string":"{\"keys\":[{\"kty\":\"EC\",\"\nd\":\"` + canary + `\n\"}]}"}`, ""},
		"symmetric keys, folded": {jwt, `"local_jwks":{"inline_string":"{\"keys\":[{\"kty\":\n\"oct\",\n\"k\":\"` + canary + `\n\"}]}"}`, ""},
		"a static response":      {"envoy.config.route.v3.DirectResponseAction", `"status":200,"body":{"inline_string":"` + canary + `"}`, canary},
		"a response with a key":  {"envoy.config.route.v3.DirectResponseAction", `"status":200,"body":{"inline_string":` + quoted(pemKey) + `}`, ""},
		"a service account file": {grpc, `"google_grpc":{"call_credentials":[{"service_account_jwt_access":{"json_key":"{\"private_key\":\"` + canary + `\"}"}}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, c.url, c.text)
			before := proto.Clone(m)
			blanked := Blank(m.ProtoReflect())
			shown, err := protojson.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Contains(m.GetValue(), []byte(canary)); got != (c.left != "") || blanked != (c.left == "") || blanked == proto.Equal(before, m) {
				t.Errorf("blanked %v: %s", blanked, shown)
			}
			if blanked && !strings.Contains(string(shown), Mark) && !strings.Contains(string(shown), base64.StdEncoding.EncodeToString([]byte(Mark))) {
				t.Errorf("nothing says that a value is missing: %s", shown)
			}
		})
	}
}

// TestT42_WhatCannotBeReadIsBlanked as a whole.
func TestT42_WhatCannotBeReadIsBlanked(t *testing.T) {
	t.Parallel()
	for _, a := range []*anypb.Any{
		{TypeUrl: "type.googleapis.com/x.Unknown", Value: []byte("\n" + pemKey)},
		{TypeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster", Value: []byte("\xff" + pemKey)},
	} {
		if !Blank(a.ProtoReflect()) || bytes.Contains(a.GetValue(), []byte(canary)) {
			t.Errorf("%q is left", a.GetValue())
		}
	}
	a := &anypb.Any{TypeUrl: "type.googleapis.com/x.Unknown", Value: []byte("\xff no key")}
	if Blank(a.ProtoReflect()) || string(a.GetValue()) != "\xff no key" {
		t.Errorf("%q was blanked", a.GetValue())
	}
	if Encoded([]byte("\xff")) != nil {
		t.Error("something is shown of bytes that are no Any")
	}
}

// TestT42_PrivateKeysAreKnown in every usual form.
func TestT42_PrivateKeysAreKnown(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", "EC ", "RSA ", "DSA ", "ENCRYPTED ", "OPENSSH ", "ANY "} {
		if s := fmt.Sprintf("x\n-----BEGIN %sPRIVATE KEY-----\nMII", kind); !PrivateKey(s) || !PrivateKey([]byte(s)) {
			t.Errorf("%q is not known", s)
		}
	}
	for _, s := range []string{"-----BEGIN PGP PRIVATE KEY BLOCK-----", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"} {
		if !PrivateKey(s) {
			t.Errorf("%q is not known", s)
		}
	}
	for _, s := range []string{"-----BEGIN PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----", "BEGIN PRIVATE KEY", "the PRIVATE KEY is in a file"} {
		if PrivateKey(s) || PrivateKey([]byte(s)) {
			t.Errorf("%q is taken for a private key", s)
		}
	}
}
