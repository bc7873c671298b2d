package resource

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/fleet"
	"fairlead/internal/redact"
)

// keys refuses keys, passwords and tokens in what stands in m itself, unless the resource
// is a Secret: elsewhere they would be stored, shown and logged in the clear. It is called
// for every message of a resource, with or without the JSON that it came from, and its
// cost is linear in the message. No error repeats a value.
func (r *report) keys(t fleet.Type, m protoreflect.Message, p place) {
	if t == fleet.Secret {
		r.marks(m, p)
		return
	}
	switch m.Descriptor().FullName() {
	case "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		r.freeKeys(m, p)
		return
	}
	if typed, _ := r.typed.of(m); typed != nil {
		in := p.to(m, "value")
		err := walk(typed, in.n, in.at, true, func(m protoreflect.Message, n *node, at *path, _ bool) { r.keys(t, m, place{n, at}) })
		if err != nil {
			r.add(in.at, codeUnknownType, "an Any in here cannot be read")
		}
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); m.Has(fd) && mayHoldText(fd) && !r.full() {
			r.keysIn(m, fd, p)
		}
	}
}

// marks refuses a Secret that was copied from where it is not shown: proxies would take the
// mark for the key.
func (r *report) marks(m protoreflect.Message, p place) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		text := fd.Kind() == protoreflect.StringKind && !fd.IsList() && v.String() == redact.Mark ||
			fd.Kind() == protoreflect.BytesKind && !fd.IsList() && string(v.Bytes()) == redact.Mark
		if text {
			r.key(p.to(m, fd.Name()).at, codeRedacted, "%s stands in the place of a value that is not shown: write the value itself", redact.Mark)
		}
		return true
	})
}

// mayHoldText leaves out the fields of numbers.
func mayHoldText(fd protoreflect.FieldDescriptor) bool {
	return fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind || fd.IsMap() || redact.Near(fd)
}

// keysIn checks every value of one field.
func (r *report) keysIn(m protoreflect.Message, fd protoreflect.FieldDescriptor, p place) {
	holds := redact.Holds(m, fd)
	in := p
	if _, special := wellKnown[m.Descriptor().FullName()]; !special { // else its JSON is the value itself
		in.n, in.at = child(fd, p.n, p.at)
	}
	switch {
	case fd.IsList():
		list := m.Get(fd).List()
		for i := range list.Len() {
			r.keyValue(fd, fd, list.Get(i), in.item(i), holds)
		}
	case fd.IsMap():
		entries := m.Get(fd).Map()
		for _, k := range sortedKeys(entries) {
			if at, ok := r.mapKey(k.String(), in); ok {
				r.keyValue(fd, fd.MapValue(), entries.Get(k), at, holds)
			}
		}
	default:
		r.keyValue(fd, fd, m.Get(fd), in, holds)
	}
}

// keyValue checks one value of the field; kind describes it alone. holds: all of it is
// secret, if there is something in it.
func (r *report) keyValue(field, kind protoreflect.FieldDescriptor, v protoreflect.Value, p place, holds bool) {
	if holds {
		if !namesSecrets(kind) && redact.Inside(kind, v) != nil {
			r.key(inlineAt(kind, v, p), codeInlineKey, "%s", advice(field))
		}
		return
	}
	switch kind.Kind() {
	case protoreflect.StringKind:
		r.keyText(v.String(), p)
	case protoreflect.BytesKind:
		r.keyText(string(v.Bytes()), p)
	}
}

// namesSecrets reports whether the value's own fields tell which of them is a key: then the
// error is about that one.
func namesSecrets(kind protoreflect.FieldDescriptor) bool {
	if kind.Message() == nil {
		return false
	}
	fields := kind.Message().Fields()
	for i := range fields.Len() {
		if redact.Secret(fields.Get(i)) {
			return true
		}
	}
	return false
}

// keyText checks a text that may be anything.
func (r *report) keyText(text string, p place) {
	switch {
	case text == redact.Mark:
		r.key(p.at, codeRedacted, "%s stands in the place of a value that is not shown: write the value itself; "+
			"a key, a password or a token belongs into a Secret, named with sds_config", redact.Mark)
	case redact.PrivateKey(text):
		r.key(p.at, codeInlineKey, "there is a private key in this text: "+intoSecret)
	}
}

// mapKey returns the place of an entry. The key of one may hold a private key, and then
// there is no place to speak of.
func (r *report) mapKey(key string, p place) (place, bool) {
	if redact.PrivateKey(key) {
		r.key(p.at, codeInlineKey, "a key of this object holds a private key: "+intoSecret)
		return p, false
	}
	return place{p.n.get(key), p.at.member(key)}, true
}

// freeKeys checks what has no schema.
func (r *report) freeKeys(m protoreflect.Message, p place) {
	switch v := m.Interface().(type) {
	case *structpb.Struct:
		for _, key := range slices.Sorted(maps.Keys(v.GetFields())) {
			if in, ok := r.mapKey(key, p); ok {
				r.freeKeys(v.GetFields()[key].ProtoReflect(), in)
			}
		}
	case *structpb.ListValue:
		for i, item := range v.GetValues() {
			r.freeKeys(item.ProtoReflect(), p.item(i))
		}
	case *structpb.Value:
		switch k := v.GetKind().(type) {
		case *structpb.Value_StringValue:
			r.keyText(k.StringValue, p)
		case *structpb.Value_StructValue:
			r.freeKeys(k.StructValue.ProtoReflect(), p)
		case *structpb.Value_ListValue:
			r.freeKeys(k.ListValue.ProtoReflect(), p)
		}
	}
}

// key adds an error, once for each place: a message is walked to from more than one field.
func (r *report) key(at *path, code, format string, args ...any) {
	if r.full() {
		return
	}
	pointer := at.String()
	if !slices.ContainsFunc(r.errs, func(e FieldError) bool {
		return e.Pointer == pointer && (e.Code == codeInlineKey || e.Code == codeRedacted)
	}) {
		r.add(at, code, format, args...)
	}
}

// inlineAt is where the text stands in a data source; of all else the value's own place.
func inlineAt(kind protoreflect.FieldDescriptor, v protoreflect.Value, p place) *path {
	if kind.Message() == nil || kind.Message().FullName() != "envoy.config.core.v3.DataSource" {
		return p.at
	}
	m := v.Message()
	set := m.WhichOneof(m.Descriptor().Oneofs().ByName("specifier"))
	if set == nil {
		return p.at
	}
	return p.to(m, set.Name()).at
}

// intoSecret is what to do with a key wherever Envoy takes it from a Secret.
const intoSecret = "put it into a Secret and name it with sds_config"

const (
	inClear  = "a key, a password or a token stands here in the clear"
	noSecret = inClear + ", and Envoy takes none from a Secret here: "
	onHost   = "put it into a file on the proxy's host and name that with filename"
	useEnvoy = "use envoy_grpc, and in its cluster the credential_injector filter, which takes a Secret with sds_config"
)

// advices say what to do instead, by the message that the field is one of.
var advices = map[protoreflect.FullName]string{
	"envoy.extensions.transport_sockets.tls.v3.TlsCertificate":       inClear + ": " + intoSecret + ", in tls_certificate_sds_secret_configs in the place of tls_certificates",
	"envoy.extensions.transport_sockets.tls.v3.PrivateKeyProvider":   inClear + ": " + intoSecret + ", in tls_certificate_sds_secret_configs in the place of tls_certificates",
	"envoy.extensions.transport_sockets.tls.v3.TlsSessionTicketKeys": inClear + ": " + intoSecret + ", in session_ticket_keys_sds_secret_config in the place of session_ticket_keys",
	"envoy.extensions.transport_sockets.tls.v3.GenericSecret":        inClear + ": " + intoSecret,

	"envoy.config.core.v3.HeaderValue": "a credential stands in this header in the clear: " + intoSecret + ", in the credential_injector filter",

	"envoy.config.core.v3.GrpcService.GoogleGrpc.SslCredentials":                                                      noSecret + "use envoy_grpc, whose cluster takes it with tls_certificate_sds_secret_configs; or " + onHost,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials":                                                     noSecret + useEnvoy,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.GoogleIAMCredentials":                                noSecret + useEnvoy,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.ServiceAccountJWTAccessCredentials":                  noSecret + useEnvoy,
	"envoy.extensions.grpc_service.call_credentials.access_token.v3.AccessTokenCredentials":                           noSecret + useEnvoy,
	"envoy.extensions.grpc_service.call_credentials.google_iam.v3.GoogleIamCredentials":                               noSecret + useEnvoy,
	"envoy.extensions.grpc_service.call_credentials.google_refresh_token.v3.GoogleRefreshTokenCredentials":            noSecret + useEnvoy,
	"envoy.extensions.grpc_service.call_credentials.service_account_jwt_access.v3.ServiceAccountJwtAccessCredentials": noSecret + useEnvoy,

	"envoy.extensions.filters.http.jwt_authn.v3.JwtProvider":           jwksAdvice,
	"envoy.extensions.filters.common.jwks.v3.JwtHandshakeValidator":    jwksAdvice,
	"envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth":         apiKeyAdvice,
	"envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute": apiKeyAdvice,
	"envoy.extensions.filters.http.api_key_auth.v3.Credential":         apiKeyAdvice,

	"envoy.extensions.common.aws.v3.InlineCredentialProvider":            noSecret + "let the proxy take its AWS credentials from its environment, or from a file on its host with credentials_file_provider",
	"envoy.extensions.filters.http.aws_lambda.v3.Credentials":            noSecret + "let the proxy take its AWS credentials from its environment, or from a file on its host with credentials_profile",
	"envoy.extensions.filters.http.gcp_authn.v3.Audience.IAMAccessToken": "a token stands here in the clear: write a formatter, such as Bearer %DYNAMIC_METADATA(gcp_authn:token)%",
}

const (
	jwksAdvice   = "this is no JWKS of public keys alone in plain JSON: leave out private and symmetric keys (d, k, p, q, dp, dq, qi, oth); what needs them goes into a file on the proxy's host, named with filename"
	apiKeyAdvice = noSecret + "check API keys with ext_authz, or tokens with jwt_authn"
)

// advice is the sentence about a field that holds a key.
func advice(fd protoreflect.FieldDescriptor) string {
	if s, ok := advices[fd.Parent().FullName()]; ok {
		return s
	}
	if md := fd.Message(); md != nil && md.FullName() == "envoy.config.core.v3.DataSource" {
		return noSecret + onHost
	}
	return noSecret + "leave it out"
}
