package resource

import (
	"maps"
	"slices"
	"strings"

	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/fleet"
)

// UseKind says what becomes of a Secret that a resource uses.
type UseKind int

// The kinds. What is not known to be TLS is UseSent: whoever writes it may have the Secret's
// bytes sent where they like.
const (
	UseSent UseKind = iota // its bytes may leave the proxy, in a request or by what is made with them
	UseTLS                 // connections are secured with it; the key stays in the proxy
)

// Use is one place where a resource uses a Secret of this control plane or of the proxy's
// bootstrap. Of each kind and name the first is told.
type Use struct {
	Kind    UseKind
	Name    string // of the Secret
	Any     bool   // requests or content that cannot be read choose the name; Name is ""
	Pointer string // as FieldError has it
}

// secretFields is every field of Envoy's API that embeds an SdsSecretConfig, or names a Secret
// by itself. A test fails on one that is missing; until it is here it is UseSent.
var secretFields = map[protoreflect.FullName]UseKind{
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.tls_certificate_sds_secret_configs":                                        UseTLS,
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.validation_context_sds_secret_config":                                      UseTLS,
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.CombinedCertificateValidationContext.validation_context_sds_secret_config": UseTLS,
	"envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext.session_ticket_keys_sds_secret_config":                                 UseTLS,
	"envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config.prefetch_secret_names":                               UseTLS,
	"envoy.extensions.transport_sockets.tls.cert_mappers.static_name.v3.StaticName.name":                                                   UseTLS,
	"envoy.extensions.transport_sockets.tls.cert_mappers.sni.v3.SNI.default_value":                                                         UseTLS,
	"envoy.extensions.transport_sockets.tls.cert_mappers.filter_state_override.v3.Config.default_value":                                    UseTLS,

	"envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials.token_secret":                      UseSent,
	"envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials.hmac_secret":                       UseSent,
	"envoy.extensions.formatter.generic_secret.v3.GenericSecret.secret_configs":                   UseSent,
	"envoy.extensions.http.injected_credentials.generic.v3.Generic.credential":                    UseSent,
	"envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2.ClientCredentials.client_secret": UseSent,
	"envoy.extensions.quic.connection_id_generator.quic_lb.v3.Config.encryption_parameters":       UseSent,

	// Of contrib: a library gets the one, and the other signs what is answered.
	"envoy.extensions.filters.http.golang.v3alpha.Config.generic_secrets": UseSent,
	"envoy.extensions.filters.http.sxg.v3alpha.SXG.certificate":           UseSent,
	"envoy.extensions.filters.http.sxg.v3alpha.SXG.private_key":           UseSent,
}

// secretChoosers are the fields below which the name of a Secret is chosen while the proxy serves, unless
// what they hold is of a type that names one.
var secretChoosers = map[protoreflect.FullName]protoreflect.FullName{
	"envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config.certificate_mapper": "envoy.extensions.transport_sockets.tls.cert_mappers.static_name.v3.StaticName",
}

// secretUsers are the fields of both tables by the message that has them.
var secretUsers = func() map[protoreflect.FullName][]protoreflect.Name {
	out := map[protoreflect.FullName][]protoreflect.Name{}
	for f := range secretFields {
		out[f.Parent()] = append(out[f.Parent()], f.Name())
	}
	for f := range secretChoosers {
		out[f.Parent()] = append(out[f.Parent()], f.Name())
	}
	return out
}()

// secretHolders are the names of the fields that embed an SdsSecretConfig, in whatever message.
var secretHolders = func() map[string]bool {
	out := map[string]bool{}
	for f := range secretFields {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(f)
		fd, ok := d.(protoreflect.FieldDescriptor)
		if err != nil || !ok {
			continue
		}
		if fd.IsMap() {
			fd = fd.MapValue()
		}
		if m := fd.Message(); m != nil && m.FullName() == (*tls.SdsSecretConfig)(nil).ProtoReflect().Descriptor().FullName() {
			out[string(f.Name())] = true
		}
	}
	return out
}()

// HoldsSecret reports whether a field of that name, in snake_case, embeds an SdsSecretConfig in some message of
// Envoy's API: one, a list, or the values of a map.
func HoldsSecret(field string) bool { return secretHolders[field] }

// UsesOf finds in a stored body what Compile finds in it; pointers lead into the body, in the names of
// the proto files. A Secret uses none. The error is ErrInvalid.
func UsesOf(t fleet.Type, value []byte) ([]Use, error) {
	if t == fleet.Secret {
		return nil, nil
	}
	m := newMessage(t)
	if err := proto.Unmarshal(value, m.Interface()); err != nil {
		return nil, fail(nil, codeValue, "the stored bytes are not a %s", t.Message())
	}
	u := uses{at: pointers{room: pointersBase + 4*len(value)}}
	err := walk(m, nil, nil, true, u.visit)
	return u.found, err
}

// uses collects on a walk over a resource where it uses Secrets.
type uses struct {
	found []Use
	seen  map[Use]bool                  // without their places
	tls   map[*tls.SdsSecretConfig]bool // whose field is UseTLS
	typed typedStructs
	at    pointers
}

func (u *uses) add(use Use, at *path) {
	if u.seen[use] {
		return
	}
	if u.seen == nil {
		u.seen = map[Use]bool{}
	}
	u.seen[use] = true
	use.Pointer = u.at.of(at)
	u.found = append(u.found, use)
}

// visit looks at one message; walk brings it to every one, the outer before the inner.
func (u *uses) visit(m protoreflect.Message, n *node, at *path, _ bool) {
	p, md := place{n, at}, m.Descriptor()
	for _, field := range secretUsers[md.FullName()] {
		if fd := md.Fields().ByName(field); m.Has(fd) {
			u.field(m, fd, p)
		}
	}
	switch v := m.Interface().(type) {
	case *tls.SdsSecretConfig:
		kind := UseSent
		if u.tls[v] {
			kind = UseTLS
		}
		u.add(Use{Kind: kind, Name: v.GetName()}, p.to(m, "name").at)
	case *structpb.Struct:
		u.free(v, at)
	default:
		if warnUnchecked[md.FullName()] {
			u.typedStruct(m, p)
		}
	}
}

// field looks at a field of the tables that is set.
func (u *uses) field(m protoreflect.Message, fd protoreflect.FieldDescriptor, p place) {
	at := p.to(m, fd.Name())
	if names, chooses := secretChoosers[fd.FullName()]; chooses {
		if !holds(m.Get(fd), names) {
			u.add(Use{Kind: UseTLS, Any: true}, at.at)
		}
		return
	}
	kind := secretFields[fd.FullName()]
	each(m.Get(fd), fd, at, func(v protoreflect.Value, p place) {
		switch v := v.Interface().(type) {
		case string:
			u.add(Use{Kind: kind, Name: v}, p.at)
		case protoreflect.Message:
			if s, ok := v.Interface().(*tls.SdsSecretConfig); ok && kind == UseTLS {
				if u.tls == nil {
					u.tls = map[*tls.SdsSecretConfig]bool{}
				}
				u.tls[s] = true
			}
		}
	})
}

// holds reports whether the configuration of an extension is of the type.
func holds(extension protoreflect.Value, name protoreflect.FullName) bool {
	m := extension.Message()
	fd := m.Descriptor().Fields().ByName("typed_config")
	if fd == nil || !m.Has(fd) {
		return false
	}
	packed := m.Get(fd).Message()
	url := packed.Get(packed.Descriptor().Fields().ByNumber(1)).String()
	return url[strings.LastIndexByte(url, '/')+1:] == string(name)
}

// typedStruct goes into what a TypedStruct holds; where that cannot be known, or does not fit, into its JSON.
func (u *uses) typedStruct(m protoreflect.Message, p place) {
	if typed, fits := u.typed.of(m); typed == nil || !fits {
		if s, ok := m.Get(m.Descriptor().Fields().ByName("value")).Message().Interface().(*structpb.Struct); ok {
			u.free(s, p.to(m, "value").at)
		}
	}
	walkTyped(m, p, u.typed, u.visit)
}

// free finds what looks like an SdsSecretConfig in JSON of which no type is known.
func (u *uses) free(s *structpb.Struct, at *path) {
	for _, key := range slices.Sorted(maps.Keys(s.GetFields())) {
		if strings.EqualFold(strings.ReplaceAll(key, "_", ""), "sdsconfig") {
			name := s.GetFields()["name"].GetStringValue()
			u.add(Use{Kind: UseSent, Name: name, Any: name == ""}, at)
		}
		u.freeValue(s.GetFields()[key], at)
	}
}

func (u *uses) freeValue(v *structpb.Value, at *path) {
	u.free(v.GetStructValue(), at)
	for _, item := range v.GetListValue().GetValues() {
		u.freeValue(item, at)
	}
}
