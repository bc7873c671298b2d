package resource

import (
	"errors"
	"math"
	"net/netip"
	"strings"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tap "github.com/envoyproxy/go-control-plane/envoy/config/tap/v3"
	generic "github.com/envoyproxy/go-control-plane/envoy/extensions/http/injected_credentials/generic/v3"
	maglev "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/maglev/v3"
	ringhash "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/ring_hash/v3"
	matcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"fairlead/internal/fleet"
	"fairlead/internal/pattern"
)

// place is where a message stands, with the JSON that it came from.
type place struct {
	n  *node
	at *path
}

// to follows the names of fields, in the spelling of the JSON.
func (p place) to(m protoreflect.Message, names ...protoreflect.Name) place {
	md := m.Descriptor()
	for _, name := range names {
		fd := md.Fields().ByName(name)
		p.n, p.at = child(fd, p.n, p.at)
		md = fd.Message()
	}
	return p
}

func (p place) item(i int) place {
	n, at := p.n.itemAt(i, p.at)
	return place{n, at}
}

// rules are what Envoy refuses although its API's constraints allow it: above all what
// makes it stop answering for Clusters (SEMANTICS 3.8), what makes it drop a whole
// response, and what ends its process. It is called for every message of a resource.
func (r *report) rules(t fleet.Type, m protoreflect.Message, p place) {
	r.untyped(m, p)
	switch v := m.Interface().(type) {
	case *durationpb.Duration:
		r.duration(v, p)
	case *cluster.Cluster:
		r.clusterAddresses(v, p)
	case *cluster.Cluster_RingHashLbConfig:
		r.ring(v.GetMinimumRingSize(), v.GetMaximumRingSize(), m, p)
	case *ringhash.RingHash:
		r.ring(v.GetMinimumRingSize(), v.GetMaximumRingSize(), m, p)
	case *cluster.Cluster_MaglevLbConfig:
		r.table(v.GetTableSize(), p.to(m, "table_size"))
	case *maglev.Maglev:
		r.table(v.GetTableSize(), p.to(m, "table_size"))
	case *route.RouteConfiguration:
		r.domains(v.GetVirtualHosts(), p.to(m, "virtual_hosts"))
	case *route.VirtualHost:
		if t == fleet.VirtualHost { // inside a route its domains are compared with the others'
			r.hostDomains(map[string]bool{}, v, p)
		}
	case *endpoint.ClusterLoadAssignment:
		if t == fleet.Endpoint {
			r.addresses(v, p)
		}
	case *tap.StreamingGrpcSink: // seen with 1.36 and 1.40
		r.add(p.at, codeValue, "Envoy has no sink of taps over gRPC, and its process ends as it takes this: write streaming_admin, buffered_admin or file_per_tap")
	case *generic.Generic:
		r.injected(v, p.to(m, "credential"))
	case *matcher.RegexMatcher:
		r.regex(v.GetRegex(), p.to(m, "regex"))
	}
}

// typedRules are the constraints and rules of what a TypedStruct holds, where that is of a known type and fits it: Envoy reads it as the message.
func (r *report) typedRules(t fleet.Type, m protoreflect.Message, p place) {
	if _, fits := r.typed.of(m); !fits {
		return
	}
	walkTyped(m, p, r.typed, func(m protoreflect.Message, n *node, at *path, root bool) {
		here := place{n, at}
		if root {
			r.constraints(m, n, at)
		}
		r.rules(t, m, here)
		r.typedRules(t, m, here)
	})
}

// duration: Envoy refuses a negative duration, with all of the response ("Expected
// positive duration"), and one beyond the range of its clock.
func (r *report) duration(d *durationpb.Duration, p place) {
	const most = math.MaxInt64 / 1_000_000_000 // seconds that fit in 64 bits of nanoseconds
	switch {
	case d.GetSeconds() < 0 || d.GetNanos() < 0:
		r.add(p.at, codeNegative, "a duration below zero: Envoy refuses it, and all that is sent with it")
	case d.GetSeconds() >= most:
		r.add(p.at, codeValue, "this duration is longer than Envoy can count (292 years)")
	}
}

// injected: where the bootstrap has no Secret of that name, this ends Envoy's process as it takes the resource, and again at
// every start (seen with 1.40; other fields without a source Envoy refuses). What the bootstrap has is not known.
func (r *report) injected(g *generic.Generic, p place) {
	if c := g.GetCredential(); c != nil && c.GetSdsConfig() == nil {
		r.add(p.at, codeRequired, "sds_config is missing: without it Envoy looks for the Secret in its bootstrap, and its process ends where there is none: "+
			"write sds_config: {ads: {}, resource_api_version: V3}, and the Secret")
	}
}

// ring: the sizes default to 1,024 and 8 Mi, so one of them alone can be wrong.
func (r *report) ring(least, most *wrapperspb.UInt64Value, m protoreflect.Message, p place) {
	minimum, maximum, field := uint64(1024), uint64(8<<20), protoreflect.Name("maximum_ring_size")
	if least != nil {
		minimum, field = least.GetValue(), "minimum_ring_size"
	}
	if most != nil {
		maximum = most.GetValue()
	}
	if minimum > maximum {
		r.add(p.to(m, field).at, codeRingSize,
			"minimum_ring_size (%d) is above maximum_ring_size (%d): Envoy would stop answering for all clusters", minimum, maximum)
	}
}

// table: Maglev's table must have a prime size of at most 5,000,011.
func (r *report) table(size *wrapperspb.UInt64Value, p place) {
	const most = 5_000_011
	if size == nil {
		return
	}
	if v := size.GetValue(); v > most {
		r.add(p.at, codeTableSize, "table_size must be at most %d", most)
	} else if !prime(v) {
		r.add(p.at, codeTableSize, "table_size must be a prime number, such as 65537: Envoy would stop answering for all clusters")
	}
}

func prime(v uint64) bool {
	if v < 2 {
		return false
	}
	for d := uint64(2); d*d <= v; d++ {
		if v%d == 0 {
			return false
		}
	}
	return true
}

// domains: Envoy refuses a route in which a domain, "*" among them, stands twice. It
// compares them in lower case.
func (r *report) domains(hosts []*route.VirtualHost, p place) {
	seen := map[string]bool{}
	for i, h := range hosts {
		r.hostDomains(seen, h, p.item(i))
	}
}

func (r *report) hostDomains(seen map[string]bool, h *route.VirtualHost, p place) {
	p = p.to(h.ProtoReflect(), "domains")
	for j, d := range h.GetDomains() {
		key := strings.ToLower(d)
		switch {
		case strings.ContainsRune(d, 0):
			r.add(p.item(j).at, codeValue, "a domain holds no character NUL")
		case !seen[key]:
			seen[key] = true
		case key == "*":
			r.add(p.item(j).at, codeDomain, "the domain * stands twice: Envoy takes one in all of a route")
		default:
			r.add(p.item(j).at, codeDomain, "the domain stands twice: Envoy takes each once in all of a route")
		}
	}
}

// clusterAddresses: a cluster that resolves no names takes addresses alone, and one that resolves one name takes one.
func (r *report) clusterAddresses(c *cluster.Cluster, p place) {
	if c.GetClusterType() == nil && c.GetType() == cluster.Cluster_LOGICAL_DNS {
		r.oneEndpoint(c, p)
	}
	if c.GetClusterType() != nil || c.GetType() != cluster.Cluster_STATIC || c.GetLoadAssignment() == nil {
		return
	}
	r.addresses(c.GetLoadAssignment(), p.to(c.ProtoReflect(), "load_assignment"))
}

// oneEndpoint: Envoy takes a cluster of type LOGICAL_DNS with one endpoint.
func (r *report) oneEndpoint(c *cluster.Cluster, p place) {
	p = p.to(c.ProtoReflect(), "load_assignment")
	localities := c.GetLoadAssignment().GetEndpoints()
	if c.GetLoadAssignment() == nil {
		r.add(p.at, codeRequired, "a cluster of type LOGICAL_DNS has one endpoint: write it here")
		return
	}
	if p = p.to(c.GetLoadAssignment().ProtoReflect(), "endpoints"); len(localities) == 1 {
		p = p.item(0).to(localities[0].ProtoReflect(), "lb_endpoints")
	}
	if len(localities) != 1 || len(localities[0].GetLbEndpoints()) != 1 {
		r.add(p.at, codeValue, "a cluster of type LOGICAL_DNS has one locality with one endpoint: for several names the type is STRICT_DNS")
	}
}

// addresses: a ClusterLoadAssignment holds addresses; Envoy refuses a host name there, and an endpoint without one.
func (r *report) addresses(cla *endpoint.ClusterLoadAssignment, p place) {
	p = p.to(cla.ProtoReflect(), "endpoints")
	for i, locality := range cla.GetEndpoints() {
		in := p.item(i).to(locality.ProtoReflect(), "lb_endpoints")
		for j, e := range locality.GetLbEndpoints() {
			if e.GetEndpointName() != "" {
				continue
			}
			at := in.item(j).to(e.ProtoReflect(), "endpoint")
			if e.GetEndpoint().GetAddress() == nil {
				r.add(at.at, codeRequired, "an endpoint has an address, such as address: {socket_address: {address: 10.0.0.1, port_value: 80}}")
				continue
			}
			host := e.GetEndpoint().ProtoReflect()
			r.address(e.GetEndpoint().GetAddress(), at.to(host, "address"))
			for k, more := range e.GetEndpoint().GetAdditionalAddresses() {
				r.address(more.GetAddress(), at.to(host, "additional_addresses").item(k).to(more.ProtoReflect(), "address"))
			}
		}
	}
}

func (r *report) address(a *core.Address, p place) {
	s := a.GetSocketAddress()
	if s == nil || s.GetResolverName() != "" {
		return
	}
	if _, err := netip.ParseAddr(s.GetAddress()); err != nil {
		r.add(p.to(a.ProtoReflect(), "socket_address", "address").at, codeAddress,
			"this must be an IP address: a host name needs a cluster of type STRICT_DNS or LOGICAL_DNS")
	}
}

func (r *report) regex(text string, p place) {
	_, err := pattern.Size(text)
	switch {
	case errors.Is(err, pattern.ErrSyntax):
		r.add(p.at, codeRegex, "%s", err)
	case err != nil:
		r.add(p.at, codeLimit, "%s", err)
	}
}
