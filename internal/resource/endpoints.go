package resource

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"fairlead/internal/fleet"
)

// Endpoint is one endpoint that is kept beside a ClusterLoadAssignment.
type Endpoint struct {
	Address               string // AddressForm
	Region, Zone, SubZone string
	Weight                uint32
	Health                string // of HealthWords
	Metadata              []byte // JSON: the filter_metadata; nil: none
}

// AddressForm says how an address is written.
const AddressForm = "IP:PORT, such as 10.0.0.7:8080 or [2001:db8::7]:8080, or unix:/PATH"

// healths are what is said of an endpoint, as Envoy and gRPC take it.
var healths = map[string]core.HealthStatus{"healthy": core.HealthStatus_HEALTHY, "draining": core.HealthStatus_DRAINING, "unhealthy": core.HealthStatus_UNHEALTHY}

// ParseAddress reads an address in AddressForm and returns it in its one spelling, which is what makes two endpoints the same: of IPv6 that
// of RFC 5952, of IPv4 within IPv6 (::ffff:10.0.0.7) that of IPv4. The error is ErrInvalid.
func ParseAddress(text string) (string, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "@") || len(path) > 107 || strings.ContainsRune(path, 0) {
			return "", fmt.Errorf("the path of a socket begins with / or @ and has at most 107 bytes: %w", fleet.ErrInvalid)
		}
		return text, nil
	}
	at, err := netip.ParseAddrPort(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("write it as %s; a host name needs a cluster that resolves it: %w", AddressForm, fleet.ErrInvalid)
	case at.Port() == 0:
		return "", fmt.Errorf("the port is from 1 to 65535: %w", fleet.ErrInvalid)
	case at.Addr().Zone() != "":
		return "", fmt.Errorf("an address has no zone (%%): %w", fleet.ErrInvalid)
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()).String(), nil
}

// MappedAddress is an address of IPv4 within IPv6 (::ffff:10.0.0.7) as rows of before may have it, "" of every other one.
func MappedAddress(text string) string {
	if at, err := netip.ParseAddrPort(text); err == nil && at.Addr().Is4In6() {
		return at.String()
	}
	return ""
}

// AssignmentOf writes a ClusterLoadAssignment of endpoints as a body in JSON: one locality for each of them, in their order, so that a fault of the body is found at
// /endpoints/N. The addresses are those of ParseAddress.
func AssignmentOf(cluster string, es []Endpoint) ([]byte, error) {
	type m = map[string]any
	localities := make([]m, len(es))
	for i, e := range es {
		lb := m{"endpoint": m{"address": addressJSON(e.Address)}, "health_status": healths[e.Health].String(), "load_balancing_weight": e.Weight}
		if e.Metadata != nil {
			lb["metadata"] = m{"filter_metadata": json.RawMessage(e.Metadata)}
		}
		localities[i] = m{"locality": m{"region": e.Region, "zone": e.Zone, "sub_zone": e.SubZone}, "lb_endpoints": []m{lb}}
	}
	return json.Marshal(m{"cluster_name": cluster, "endpoints": localities})
}

func addressJSON(text string) map[string]any {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		return map[string]any{"pipe": map[string]any{"path": path}}
	}
	host, port := splitAddress(text)
	return map[string]any{"socket_address": map[string]any{"address": host, "port_value": port}}
}

func splitAddress(text string) (string, uint32) {
	i := strings.LastIndexByte(text, ':')
	port, _ := strconv.ParseUint(text[i+1:], 10, 16) // ParseAddress has read it
	return strings.Trim(text[:i], "[]"), uint32(port)
}

// Served is what is served of a cluster's document with its endpoints.
type Served struct {
	Value      []byte
	Version    string
	Documented int // endpoints that the document has
}

// ServeEndpoints merges endpoints into the value of a ClusterLoadAssignment, nil: there is none, whose TTL is ttl. Each comes into the document's locality of the same
// name that has the highest priority, or into one of its own, of the highest priority; an address that the document has too is served as the endpoint says. The weight of
// a locality that the document does not weigh is that of its endpoints: gRPC leaves out those without one. The same content gives the same bytes, wherever it is built.
func ServeEndpoints(cluster string, value []byte, ttl time.Duration, es []Endpoint) (Served, error) {
	cla := &endpoint.ClusterLoadAssignment{}
	if err := proto.Unmarshal(value, cla); err != nil {
		return Served{}, fail(nil, codeValue, "the stored bytes are not a ClusterLoadAssignment")
	}
	var out Served
	es = inOrder(es)
	taken := make(map[string]bool, len(es))
	for _, e := range es {
		taken[e.Address] = true
	}
	for _, l := range cla.GetEndpoints() {
		out.Documented += len(l.GetLbEndpoints())
		l.LbEndpoints = slices.DeleteFunc(l.GetLbEndpoints(), func(e *endpoint.LbEndpoint) bool { return taken[addressText(e.GetEndpoint().GetAddress())] })
	}
	cla.ClusterName = cluster
	into := newLocalities(cla)
	for _, e := range es {
		lb, err := lbEndpoint(e)
		if err != nil {
			return Served{}, err
		}
		into.add(e, lb)
	}
	into.finish()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(cla)
	if err != nil {
		return Served{}, fail(nil, codeValue, "the message cannot be encoded")
	}
	out.Value, out.Version = b, version(nil, b, ttl)
	return out, nil
}

// inOrder sorts endpoints by address, each once. One that was stored as IPv4 within IPv6 gives way to the same one as IPv4.
func inOrder(es []Endpoint) []Endpoint {
	es = slices.Clone(es)
	slices.SortFunc(es, func(a, b Endpoint) int { return strings.Compare(a.Address, b.Address) }) // "[" comes behind all digits
	for i, e := range es {
		if MappedAddress(e.Address) != "" {
			es[i].Address, _ = ParseAddress(e.Address) // it could be read
		}
	}
	slices.SortStableFunc(es, func(a, b Endpoint) int { return strings.Compare(a.Address, b.Address) })
	return slices.CompactFunc(es, func(a, b Endpoint) bool { return a.Address == b.Address })
}

// localities are those of an assignment, by their names.
type localities struct {
	cla     *endpoint.ClusterLoadAssignment
	of      map[[3]string]*endpoint.LocalityLbEndpoints
	weighed bool                                   // by the document: what it does not weigh gets nothing
	mine    map[*endpoint.LocalityLbEndpoints]bool // whose weight is that of their endpoints all the same
}

func newLocalities(cla *endpoint.ClusterLoadAssignment) *localities {
	ls := &localities{cla: cla, of: map[[3]string]*endpoint.LocalityLbEndpoints{}, mine: map[*endpoint.LocalityLbEndpoints]bool{}}
	for _, l := range cla.GetEndpoints() {
		name := [3]string{l.GetLocality().GetRegion(), l.GetLocality().GetZone(), l.GetLocality().GetSubZone()}
		ls.weighed = ls.weighed || l.GetLoadBalancingWeight() != nil
		if first := ls.of[name]; l.GetLbConfig() == nil && (first == nil || l.GetPriority() < first.GetPriority()) {
			ls.of[name] = l
		}
	}
	return ls
}

func (ls *localities) add(e Endpoint, lb *endpoint.LbEndpoint) {
	name := [3]string{e.Region, e.Zone, e.SubZone}
	l := ls.of[name]
	if l == nil {
		l = &endpoint.LocalityLbEndpoints{Locality: &core.Locality{Region: e.Region, Zone: e.Zone, SubZone: e.SubZone}}
		ls.of[name] = l
		ls.cla.Endpoints = append(ls.cla.Endpoints, l)
	}
	if l.GetLoadBalancingWeight() == nil {
		ls.mine[l] = true
	}
	l.LbEndpoints = append(l.LbEndpoints, lb)
}

// finish weighs the localities into which endpoints came; all, where the document weighs none.
func (ls *localities) finish() {
	ls.fitEndpoints()
	for _, l := range ls.cla.GetEndpoints() {
		if len(l.GetLbEndpoints()) == 0 || ls.weighed && !ls.mine[l] {
			continue
		}
		var sum uint64
		for _, e := range l.GetLbEndpoints() {
			sum += uint64(max(1, e.GetLoadBalancingWeight().GetValue()))
		}
		l.LoadBalancingWeight = wrapperspb.UInt32(uint32(min(sum, math.MaxUint32)))
	}
	ls.fit()
}

// fitEndpoints makes the endpoints of a priority lighter, as fit does of its localities: a ring or a table over them is refused with "The sum of weights of all
// upstream hosts in a locality exceeds 4294967295", where a locality is all of a priority unless the cluster weighs localities.
func (ls *localities) fitEndpoints() {
	sums, counts := map[uint32]uint64{}, map[uint32]uint64{}
	for _, l := range ls.cla.GetEndpoints() {
		for _, e := range l.GetLbEndpoints() {
			sums[l.GetPriority()] += uint64(max(1, e.GetLoadBalancingWeight().GetValue()))
		}
		counts[l.GetPriority()] += uint64(len(l.GetLbEndpoints()))
	}
	for _, l := range ls.cla.GetEndpoints() {
		sum, most := sums[l.GetPriority()], math.MaxUint32-counts[l.GetPriority()]
		for _, e := range l.GetLbEndpoints() {
			if w := uint64(e.GetLoadBalancingWeight().GetValue()); sum > math.MaxUint32 && w > 0 {
				e.LoadBalancingWeight = wrapperspb.UInt32(uint32(max(1, w/(sum/most+1))))
			}
		}
	}
}

// fit makes the localities of a priority lighter, each by as much, where they weigh too much together: "The sum of the weights of all localities at
// the same priority level must not exceed uint32_t maximal value (4294967295)."
func (ls *localities) fit() {
	sums, counts := map[uint32]uint64{}, map[uint32]uint64{}
	for _, l := range ls.cla.GetEndpoints() {
		sums[l.GetPriority()] += uint64(l.GetLoadBalancingWeight().GetValue())
		counts[l.GetPriority()]++
	}
	for _, l := range ls.cla.GetEndpoints() {
		sum, most := sums[l.GetPriority()], math.MaxUint32-counts[l.GetPriority()] // what becomes 0 is 1
		if w := uint64(l.GetLoadBalancingWeight().GetValue()); sum > math.MaxUint32 && w > 0 {
			l.LoadBalancingWeight = wrapperspb.UInt32(uint32(max(1, w/(sum/most+1))))
		}
	}
}

func lbEndpoint(e Endpoint) (*endpoint.LbEndpoint, error) {
	out := &endpoint.LbEndpoint{
		HostIdentifier:      &endpoint.LbEndpoint_Endpoint{Endpoint: &endpoint.Endpoint{Address: addressOf(e.Address)}},
		HealthStatus:        healths[e.Health],
		LoadBalancingWeight: wrapperspb.UInt32(e.Weight),
	}
	if e.Metadata == nil {
		return out, nil
	}
	var filters map[string]json.RawMessage
	if err := json.Unmarshal(e.Metadata, &filters); err != nil {
		return nil, fail(nil, codeValue, "the stored metadata of %s is not an object of objects", e.Address)
	}
	out.Metadata = &core.Metadata{FilterMetadata: make(map[string]*structpb.Struct, len(filters))}
	for name, raw := range filters {
		s := &structpb.Struct{}
		if err := protojson.Unmarshal(raw, s); err != nil {
			return nil, fail(nil, codeValue, "the stored metadata of %s is not an object of objects", e.Address)
		}
		out.Metadata.FilterMetadata[name] = s
	}
	return out, nil
}

func addressOf(text string) *core.Address {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		return &core.Address{Address: &core.Address_Pipe{Pipe: &core.Pipe{Path: path}}}
	}
	host, port := splitAddress(text)
	return &core.Address{Address: &core.Address_SocketAddress{SocketAddress: &core.SocketAddress{Address: host, PortSpecifier: &core.SocketAddress_PortValue{PortValue: port}}}}
}

// addressText is the address as ParseAddress writes it; "" of one that is written otherwise.
func addressText(a *core.Address) string {
	if p := a.GetPipe(); p != nil {
		return "unix:" + p.GetPath()
	}
	s := a.GetSocketAddress()
	host, err := netip.ParseAddr(s.GetAddress())
	if err != nil || s.GetProtocol() != core.SocketAddress_TCP || s.GetPortValue() == 0 {
		return ""
	}
	return netip.AddrPortFrom(host.Unmap(), uint16(s.GetPortValue())).String() //nolint:gosec // it was checked when it was written
}
