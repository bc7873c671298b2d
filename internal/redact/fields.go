package redact

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "fairlead/internal/envoytypes" // every message that an Any may hold
)

// keyFields are the fields that hold keys, passwords or tokens and that Envoy does not mark
// sensitive. A test fails on a field that looks like one and is neither marked, nor
// here, nor in its list of those that are none.
var keyFields = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.access_token":                                                 true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.google_refresh_token":                                         true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.GoogleIAMCredentials.authorization_token":                     true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.ServiceAccountJWTAccessCredentials.json_key":                  true,
	"envoy.config.trace.v3.LightstepConfig.access_token":                                                                       true,
	"envoy.extensions.filters.http.api_key_auth.v3.Credential.key":                                                             true,
	"envoy.extensions.filters.http.aws_lambda.v3.Credentials.secret_access_key":                                                true,
	"envoy.extensions.filters.http.aws_lambda.v3.Credentials.session_token":                                                    true,
	"envoy.extensions.grpc_service.call_credentials.access_token.v3.AccessTokenCredentials.token":                              true,
	"envoy.extensions.grpc_service.call_credentials.google_iam.v3.GoogleIamCredentials.authorization_token":                    true,
	"envoy.extensions.grpc_service.call_credentials.google_refresh_token.v3.GoogleRefreshTokenCredentials.token":               true,
	"envoy.extensions.grpc_service.call_credentials.service_account_jwt_access.v3.ServiceAccountJwtAccessCredentials.json_key": true,
	"envoy.service.redis_auth.v3.RedisProxyExternalAuthRequest.password":                                                       true,
}

// noKeys are the fields that Envoy marks sensitive and that hold no key as a rule: what is accepted in them is shown, as else nobody could
// edit what they stand in, or copy it to another fleet.
var noKeys = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.http.ext_authz.v3.CheckSettings.context_extensions": true,
}

// keySets are the fields that hold a JWKS: one of public keys is no secret.
var keySets = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.common.jwks.v3.JwtHandshakeValidator.local_jwks": true,
	"envoy.extensions.filters.http.jwt_authn.v3.JwtProvider.local_jwks":        true,
}

// places are the fields that say where a secret is, not what it is.
var places = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.DataSource.filename":             true,
	"envoy.config.core.v3.DataSource.environment_variable": true,
	"envoy.config.core.v3.WatchedDirectory.path":           true,
}

// templates are the fields whose text is a credential unless a formatter stands in it.
var templates = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.http.gcp_authn.v3.Audience.IAMAccessToken.authorization": true,
}

// headerValue is a header with its value; of these headers the value is a credential.
const headerValue = "envoy.config.core.v3.HeaderValue"

var credentialHeaders = map[string]bool{"authorization": true, "proxy-authorization": true}

// marked are the fields that Envoy marks sensitive, without noKeys, and our own.
var marked = sync.OnceValue(func() map[protoreflect.FullName]bool {
	sensitive, err := protoregistry.GlobalTypes.FindExtensionByName("udpa.annotations.sensitive")
	if err != nil {
		panic("redact: Envoy's annotation of sensitive fields is not linked in") // envoytypes imports it
	}
	out := map[protoreflect.FullName]bool{}
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		fields := mt.Descriptor().Fields()
		for i := range fields.Len() {
			fd := fields.Get(i)
			set, _ := proto.GetExtension(fd.Options(), sensitive).(bool)
			if (set || keyFields[fd.FullName()]) && !noKeys[fd.FullName()] {
				out[fd.FullName()] = true
			}
		}
		return true
	})
	return out
})

// Secret reports whether a field holds nothing but keys, passwords or tokens, by what it
// is: what is set in it is not looked at.
func Secret(fd protoreflect.FieldDescriptor) bool { return marked()[fd.FullName()] }

// Near reports whether a field may hold one, by what it is.
func Near(fd protoreflect.FieldDescriptor) bool {
	return Secret(fd) || keySets[fd.FullName()] || templates[fd.FullName()] || fd.Parent().FullName() == headerValue
}

// Holds reports whether what the field holds in m must not be shown, all of it but for the
// names of files and environment variables.
func Holds(m protoreflect.Message, fd protoreflect.FieldDescriptor) bool {
	name := fd.FullName()
	switch {
	case marked()[name]:
		return true
	case keySets[name]:
		in, ok := inline(m.Get(fd).Message())
		return ok && len(in) > 0 && PrivateKeySet(in)
	case templates[name]:
		return literal(m.Get(fd).String())
	case fd.Parent().FullName() == headerValue:
		return credential(m, fd)
	}
	return false
}

func literal(text string) bool { return text != "" && !strings.Contains(text, "%") }

// credential reports whether fd is the value of a header that carries a credential, and
// not what a formatter puts there.
func credential(m protoreflect.Message, fd protoreflect.FieldDescriptor) bool {
	if fd.Name() == "key" || !credentialHeaders[strings.ToLower(m.Get(m.Descriptor().Fields().ByName("key")).String())] {
		return false
	}
	if fd.Kind() == protoreflect.BytesKind {
		return literal(string(m.Get(fd).Bytes()))
	}
	return fd.Kind() == protoreflect.StringKind && literal(m.Get(fd).String())
}

const dataSource = "envoy.config.core.v3.DataSource"

// inline is the content of a DataSource that holds it itself.
func inline(m protoreflect.Message) ([]byte, bool) {
	if m.Descriptor().FullName() != dataSource {
		return nil, false
	}
	fields := m.Descriptor().Fields()
	if fd := fields.ByName("inline_string"); m.Has(fd) {
		return []byte(m.Get(fd).String()), true
	}
	if fd := fields.ByName("inline_bytes"); m.Has(fd) {
		return m.Get(fd).Bytes(), true
	}
	return nil, false
}
