package resource

import (
	"crypto"
	"crypto/x509"
	"slices"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	filterstate "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// Facts is what a body says that counts beyond its own resource. It is a function of the
// type and the bytes alone, so whoever keeps it keeps it under the version.
type Facts struct {
	Mentions []Mention // of each resource and field the first, in the order of the body
	// Hosts are the domains of a route's own virtual hosts, by their place; of a virtual
	// host that stands alone they are one.
	Hosts        [][]string
	Certificates []Certificate
	EDSName      string // as in fleet.Derived
	VHDS         bool   // a route fetches virtual hosts from this control plane
	Scopes       bool   // a listener takes scoped routes from it
	// Unserved are sources that lead a proxy to this control plane for a type that it does not serve, as an older server stored them.
	Unserved []Unserved
	OnDemand bool // it has proxies ask for clusters by their names, as requests or connections need them
	// Contrib are the extensions of contrib that it configures, of each package the first.
	Contrib []Contrib
	// AnyCluster: which clusters it uses is decided by requests, connections or code.
	AnyCluster bool
	// Uncounted: a cluster of which proxies that report their load do not count, or not for certain, what they send there.
	Uncounted bool
}

// Mention is that a resource names another one.
type Mention struct {
	fleet.Ref
	Field   protoreflect.FullName // the field that names it
	Pointer string                // RFC 6901, into the document that Render makes, "/body/..."
	More    int                   // how often the same field names it again
	Missing Missing               // what becomes of it where the cluster that it names is not there
	Apart   bool                  // it is asked for on a stream or by polls of its own: nothing is ordered or kept for it
}

// Unserved is a source of a type that is not served.
type Unserved struct {
	Pointer string // as Mention.Pointer
	Detail  string // a sentence for people, which says what to write in its place
}

// Certificate is a certificate that stands in a body itself.
type Certificate struct {
	Pointer   string // of the chain or bundle, as Mention.Pointer
	Authority bool   // peers are checked against it; NotAfter is the earliest of the bundle
	Subject   string
	NotAfter  time.Time
	// Intermediate: it is one of a chain, and expires before the chain's first, which is the proxy's own.
	Intermediate bool
	// OtherKey: the private key beside it is not its own.
	OtherKey bool
}

// FactsOf reads the facts out of a body: of a Secret out of what was sealed. The error is
// ErrInvalid.
func FactsOf(t fleet.Type, value []byte) (Facts, error) {
	m := newMessage(t)
	if err := proto.Unmarshal(value, m.Interface()); err != nil {
		return Facts{}, fail(nil, codeValue, "the stored bytes are not a %s", t.Message())
	}
	f := finder{of: t, around: surroundings{}}
	f.apart = true
	if err := walk(m, nil, (*path)(nil).member("body"), true, f.visit); err != nil {
		return Facts{}, err
	}
	f.facts.EDSName, f.facts.Scopes, f.facts.Mentions = f.eds, f.scopes, mentionsOf(f.found, f.around, pointersBase+4*len(value))
	for _, e := range f.errs {
		if e.Code == codeUnserved {
			f.facts.Unserved = append(f.facts.Unserved, Unserved{Pointer: e.Pointer, Detail: e.Detail})
		}
	}
	switch v := m.Interface().(type) {
	case *cluster.Cluster:
		f.facts.Uncounted = uncounted(v)
	case *route.RouteConfiguration:
		f.facts.VHDS = f.ours(v.GetVhds().GetConfigSource())
		for _, h := range v.GetVirtualHosts() {
			f.facts.Hosts = append(f.facts.Hosts, h.GetDomains())
		}
	case *route.VirtualHost:
		f.facts.Hosts = [][]string{v.GetDomains()}
	}
	return f.facts, nil
}

// uncounted: of one that leads to others these are counted, and endpoints that come with a request and go after it take their counts with them.
func uncounted(c *cluster.Cluster) bool {
	return c.GetClusterType() != nil || c.GetType() == cluster.Cluster_ORIGINAL_DST
}

// FactsOfStored is for a resource whose body is not there to be read, because it is sealed
// or of a newer server: pointers lead to the whole of it. kind, subject and notAfter are those of a
// Secret's summary, zero of all else.
func FactsOfStored(d fleet.Derived, kind, subject string, notAfter time.Time) Facts {
	f := Facts{EDSName: d.EDSName, VHDS: d.VHDS, Scopes: d.Scopes}
	for _, r := range d.Refs {
		f.Mentions = append(f.Mentions, Mention{Ref: r, Pointer: "/body"})
	}
	for _, r := range d.Polled {
		f.Mentions = append(f.Mentions, Mention{Ref: r, Pointer: "/body", Apart: true})
	}
	if d.Domains != nil {
		f.Hosts = [][]string{d.Domains}
	}
	if !notAfter.IsZero() {
		f.Certificates = []Certificate{{Pointer: "/body/" + kind, Authority: kind == "validation_context", Subject: subject, NotAfter: notAfter}}
	}
	return f
}

// pointersBase is how many bytes the pointers of a small body may take; those of another one four times what it has.
const pointersBase = 64 << 10

// mentionsOf counts those of one field and resource as one, where the same becomes of them. What has more places than room for
// their pointers is told of the whole body.
func mentionsOf(found []mention, around surroundings, room int) (out []Mention) {
	type same struct {
		fleet.Ref
		field   protoreflect.FullName
		missing Missing
		apart   bool
	}
	at := make(map[same]int, len(found))
	for _, f := range found {
		key := same{f.Ref, f.field, around.missing(f), f.apart}
		if i, again := at[key]; again {
			out[i].More++
			continue
		}
		at[key] = len(out)
		pointer := "/body"
		if room > 0 {
			pointer = f.at.String()
			room -= len(pointer)
		}
		out = append(out, Mention{Ref: f.Ref, Field: f.field, Pointer: pointer, Missing: key.missing, Apart: f.apart})
	}
	return out
}

// finder collects facts on a walk.
type finder struct {
	deriver
	of     fleet.Type
	around surroundings
	facts  Facts
}

func (f *finder) visit(m protoreflect.Message, n *node, at *path, root bool) {
	p := place{n, at}
	if root {
		f.contrib(m.Descriptor(), at)
	}
	if warnUnchecked[m.Descriptor().FullName()] {
		walked := false
		walkTyped(m, p, f.typed, func(m protoreflect.Message, n *node, at *path, root bool) {
			walked = true
			f.visit(m, n, at, root)
		})
		f.facts.AnyCluster = f.facts.AnyCluster || !walked // it may be anything
		return
	}
	f.around.add(f.of, m, at)
	f.message(m, p)
	f.facts.AnyCluster = f.facts.AnyCluster || chooses(m)
	f.facts.OnDemand = f.facts.OnDemand || onDemand[m.Descriptor().FullName()]
	switch v := m.Interface().(type) {
	case *tls.TlsCertificate:
		f.certificate(v, p)
	case *tls.CertificateValidationContext:
		f.authorities(v, p)
	}
}

// choosers are the fields by which the cluster is chosen while the proxy serves; of a
// message without any it is the message.
var choosers = map[protoreflect.FullName][]protoreflect.Name{
	"envoy.config.route.v3.RouteAction":                               {"cluster_header", "cluster_specifier_plugin", "inline_cluster_specifier_plugin"},
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy":           {"cluster_header"},
	"envoy.config.route.v3.WeightedCluster.ClusterWeight":             {"cluster_header"},
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction":    {"cluster_header"},
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand": nil,
	"envoy.extensions.filters.http.on_demand.v3.OnDemandCds":          nil,
	"envoy.extensions.filters.network.sni_cluster.v3.SniCluster":      nil,
}

// onDemand are the messages that have a proxy ask for a cluster by its name.
var onDemand = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.http.on_demand.v3.OnDemandCds":          true,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand": true,
}

// chooses reports whether m lets a request, a connection or code decide about the cluster.
func chooses(m protoreflect.Message) bool {
	md := m.Descriptor()
	if judgements().of(md).rule == RuleCode {
		return true
	}
	if v, ok := m.Interface().(*filterstate.FilterStateValue); ok {
		return choosesCluster(v)
	}
	names, ok := choosers[md.FullName()]
	if !ok {
		return false
	}
	return len(names) == 0 || slices.ContainsFunc(names, func(n protoreflect.Name) bool { return m.Has(md.Fields().ByName(n)) })
}

// certificate reads the leaf of a chain that stands in the message itself, whether the key beside it is its own, and which other
// one of the chain expires before the leaf. What cannot be read says nothing.
func (f *finder) certificate(c *tls.TlsCertificate, p place) {
	chain, ok := inline(c.GetCertificateChain())
	if !ok {
		return
	}
	certs, err := parseCertificates(chain)
	if err != nil || len(certs) == 0 {
		return
	}
	out := Certificate{Pointer: p.to(c.ProtoReflect(), "certificate_chain").at.String(), Subject: subjectOf(certs[0]), NotAfter: certs[0].NotAfter.UTC()}
	if key, ok := inline(c.GetPrivateKey()); ok && !hasInline(c.GetPassword()) {
		if private, err := parseKey(key); err == nil {
			public, ok := private.Public().(interface{ Equal(crypto.PublicKey) bool })
			out.OtherKey = !ok || !public.Equal(certs[0].PublicKey)
		}
	}
	f.facts.Certificates = append(f.facts.Certificates, out)
	if len(certs) == 1 {
		return
	}
	if first := earliest(certs[1:]); first.NotAfter.Before(certs[0].NotAfter) {
		f.facts.Certificates = append(f.facts.Certificates, Certificate{Pointer: out.Pointer, Intermediate: true, Subject: subjectOf(first), NotAfter: first.NotAfter.UTC()})
	}
}

// earliest is the one that expires first.
func earliest(certs []*x509.Certificate) *x509.Certificate {
	return slices.MinFunc(certs, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
}

func hasInline(s *core.DataSource) bool { _, ok := inline(s); return ok }

// authorities reads the bundle that peers are checked against.
func (f *finder) authorities(v *tls.CertificateValidationContext, p place) {
	bundle, ok := inline(v.GetTrustedCa())
	if !ok {
		return
	}
	certs, err := parseCertificates(bundle)
	if err != nil || len(certs) == 0 {
		return
	}
	first := earliest(certs)
	f.facts.Certificates = append(f.facts.Certificates, Certificate{
		Pointer: p.to(v.ProtoReflect(), "trusted_ca").at.String(), Authority: true, Subject: subjectOf(first), NotAfter: first.NotAfter.UTC(),
	})
}
