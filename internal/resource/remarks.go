package resource

import (
	"maps"
	"regexp"
	"slices"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/fleet"
)

// remark warns of what Envoy takes, and what is probably a mistake.
func (out *Compiled) remark(m protoreflect.Message, p place) {
	switch v := m.Interface().(type) {
	case *core.DataSource:
		out.variable(v, p)
	case *tls.TlsCertificate:
		if chain, ok := inline(v.GetCertificateChain()); ok && out.Type == fleet.Secret && keyWithin(chain) {
			out.warn(p.to(m, "certificate_chain").at, codeKeyInChain, "a private key stands among the certificates: proxies pass over it there; take it out of the chain")
		}
	case *tls.CertificateValidationContext:
		if bundle, ok := inline(v.GetTrustedCa()); ok && out.Type == fleet.Secret && keyWithin(bundle) {
			out.warn(p.to(m, "trusted_ca").at, codeKeyInChain, "a private key stands among the authorities: proxies pass over it there; take it out")
		}
	case *endpoint.ClusterLoadAssignment:
		out.subsets(v, p)
	}
}

// variableOnly is a text that names a variable, and is nothing besides.
var variableOnly = regexp.MustCompile(`^\s*(\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$[A-Z_][A-Z0-9_]*|\{\{[ A-Za-z0-9_.]+\}\})\s*$`)

// variable: a file that a template was made of has the name of a variable where its value belongs.
func (out *Compiled) variable(s *core.DataSource, p place) {
	text, ok := inline(s)
	if !ok || out.Type != fleet.Secret || len(text) > 256 || !variableOnly.Match(text) {
		return
	}
	out.warn(p.at, codeVariable, "the secret is the name of a variable, as it stands here: nothing puts its value in the place; write the value, or environment_variable for one of the proxy's")
}

// keyWithin reports whether a private key stands in a text of certificates.
func keyWithin(in []byte) bool {
	for b, fault := range pemBlocks(in) {
		if fault != nil {
			return false
		}
		switch b.Type {
		case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY":
			return true
		}
	}
	return false
}

// subsets: Envoy compares the values by which it chooses a subset with their kinds: the number 1 is not the text "1". Of each key it is
// told once.
func (out *Compiled) subsets(cla *endpoint.ClusterLoadAssignment, p place) {
	const loadBalancing = "envoy.lb"
	p = p.to(cla.ProtoReflect(), "endpoints")
	first, told := map[string]kind{}, map[string]bool{}
	for i, locality := range cla.GetEndpoints() {
		in := p.item(i).to(locality.ProtoReflect(), "lb_endpoints")
		for j, e := range locality.GetLbEndpoints() {
			fields := e.GetMetadata().GetFilterMetadata()[loadBalancing].GetFields()
			for _, key := range slices.Sorted(maps.Keys(fields)) {
				now, is := scalarKind(fields[key])
				was, seen := first[key]
				switch {
				case !is || told[key]:
				case !seen:
					first[key] = now
				case was != now:
					told[key] = true
					at := in.item(j).to(e.ProtoReflect(), "metadata", "filter_metadata").at.member(loadBalancing).member(key)
					out.warn(at, codeMixedKinds, "this is %s here and %s at another endpoint: to a subset they are different values; write all of them as texts", now, was)
				}
			}
		}
	}
}

func scalarKind(v *structpb.Value) (kind, bool) {
	switch v.GetKind().(type) {
	case *structpb.Value_NumberValue:
		return kindNumber, true
	case *structpb.Value_StringValue:
		return kindString, true
	case *structpb.Value_BoolValue:
		return kindBool, true
	}
	return 0, false
}
