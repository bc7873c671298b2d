package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// mostEndpoints bounds how many endpoints a Service may have here: a cluster of Fairlead holds fewer.
const mostEndpoints = 30_000

// Endpoint is an address of a Service that takes requests, or has taken some until now.
type Endpoint struct {
	Address  string            // IP:PORT or [IPv6]:PORT
	Zone     string            // "" where it is not known
	Draining bool              // its pod ends, and still answers
	Labels   map[string]string // of its pod, those that were asked for; shared, and never changed
}

// choice is which of a Service's endpoints are meant.
type choice struct {
	port        string // a name or a number; "" is the only one
	addressType discoveryv1.AddressType
	labels      func(namespace, pod string) map[string]string
}

// byService sorts EndpointSlices by the Services that they are of. A slice of no Service is passed over.
func byService(all []*discoveryv1.EndpointSlice) map[string][]*discoveryv1.EndpointSlice {
	out := map[string][]*discoveryv1.EndpointSlice{}
	for _, s := range all {
		if name := s.Labels[discoveryv1.LabelServiceName]; name != "" {
			out[name] = append(out[name], s)
		}
	}
	return out
}

// of reads the endpoints of a Service out of its slices, sorted by address, in time linear in what these hold. An error says why they cannot be used.
// While endpoints move from one slice to another they stand in both: an address is told once.
func (c choice) of(service string, all []*discoveryv1.EndpointSlice) ([]Endpoint, error) {
	all, err := c.family(all)
	if err != nil {
		return nil, fmt.Errorf("the Service %s: %w", service, err)
	}
	meant, err := c.meant(all)
	if err != nil {
		return nil, fmt.Errorf("the Service %s: %w", service, err)
	}
	found := map[string]Endpoint{}
	for _, s := range all {
		for _, p := range s.Ports {
			if !meant(p) {
				continue
			}
			for i := range s.Endpoints {
				e, ok := c.endpoint(s, &s.Endpoints[i], *p.Port)
				if had, twice := found[e.Address]; ok && (!twice || had.Draining && !e.Draining) {
					found[e.Address] = e
				}
			}
			if len(found) > mostEndpoints {
				return nil, fmt.Errorf("the Service %s: it has more than %d endpoints", service, mostEndpoints)
			}
		}
	}
	out := make([]Endpoint, 0, len(found))
	for _, e := range found {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Endpoint) int { return cmp.Compare(a.Address, b.Address) })
	return out, nil
}

// family leaves the slices of one address type: a pod with two addresses is still one endpoint. Where none is asked for that is IPv4 if the Service
// has it. What counts is which slices there are, which stays the same while a Service has no endpoints.
func (c choice) family(all []*discoveryv1.EndpointSlice) ([]*discoveryv1.EndpointSlice, error) {
	of := map[discoveryv1.AddressType][]*discoveryv1.EndpointSlice{}
	for _, s := range all {
		of[s.AddressType] = append(of[s.AddressType], s)
	}
	wanted := []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
	if c.addressType != "" {
		wanted = []discoveryv1.AddressType{c.addressType}
	}
	for _, t := range wanted {
		if len(of[t]) > 0 {
			return of[t], nil
		}
	}
	if len(of[discoveryv1.AddressTypeFQDN]) > 0 {
		return nil, errors.New("its EndpointSlices hold names (addressType FQDN), and an endpoint has an IP address: write a cluster of the type STRICT_DNS for them")
	}
	return nil, fmt.Errorf("it has no EndpointSlices of the address type %s", c.addressType)
}

// meant returns which port of a slice is meant. Of a port with a name the number may differ from slice to slice.
func (c choice) meant(all []*discoveryv1.EndpointSlice) (func(discoveryv1.EndpointPort) bool, error) {
	var names, shown []string // in the order of the slices, each once
	seen := map[string]bool{}
	for _, s := range all {
		for _, p := range s.Ports {
			if !usable(p) {
				continue
			}
			if name := deref(p.Name, ""); !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
			if text := strings.TrimSpace(fmt.Sprintf("%s %d", deref(p.Name, ""), *p.Port)); len(shown) <= 10 && !slices.Contains(shown, text) {
				shown = append(shown, text)
			}
		}
	}
	has := "it has " + strings.Join(shown[:min(len(shown), 10)], ", ")
	if len(shown) > 10 {
		has += " and others"
	}
	number, err := strconv.ParseInt(c.port, 10, 32)
	is := func(p discoveryv1.EndpointPort) bool {
		return usable(p) && (c.port == "" || err == nil && int64(*p.Port) == number || err != nil && deref(p.Name, "") == c.port)
	}
	switch {
	case len(names) == 0: // nothing to tell yet: a slice without endpoints may have no ports
		return is, nil
	case c.port == "" && len(names) > 1:
		return nil, fmt.Errorf("say with --port which one of its ports is meant: %s", has)
	case slices.ContainsFunc(all, func(s *discoveryv1.EndpointSlice) bool { return slices.ContainsFunc(s.Ports, is) }):
		return is, nil
	case err == nil:
		return nil, fmt.Errorf("no TCP port of its pods is %d (what counts is the pods' port, not the Service's): %s", number, has)
	}
	return nil, fmt.Errorf("no TCP port of it is called %q: %s", c.port, has)
}

// usable reports whether connections to a port can be made: TCP, and one port.
func usable(p discoveryv1.EndpointPort) bool {
	return p.Port != nil && deref(p.Protocol, corev1.ProtocolTCP) == corev1.ProtocolTCP
}

// endpoint reads one. It is none where its pod does not answer: one that is not ready yet, or does not serve any more.
func (c choice) endpoint(s *discoveryv1.EndpointSlice, e *discoveryv1.Endpoint, port int32) (out Endpoint, ok bool) {
	serves, draining := state(e.Conditions)
	if !serves || len(e.Addresses) == 0 {
		return out, false
	}
	ip, err := netip.ParseAddr(e.Addresses[0]) // of further ones nothing is said
	if err != nil || port < 1 || port > 65535 {
		return out, false
	}
	out = Endpoint{Address: netip.AddrPortFrom(ip.Unmap(), uint16(port)).String(), Zone: deref(e.Zone, ""), Draining: draining}
	if ref := e.TargetRef; ref != nil && ref.Kind == "Pod" && c.labels != nil {
		out.Labels = c.labels(cmp.Or(ref.Namespace, s.Namespace), ref.Name)
	}
	return out, true
}

// state reads an endpoint's conditions as kube-proxy does: what is not said of ready is yes, and serving is then the same.
func state(c discoveryv1.EndpointConditions) (serves, draining bool) {
	ready := deref(c.Ready, true)
	if deref(c.Terminating, false) {
		return deref(c.Serving, ready), true
	}
	return ready, false
}

func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
