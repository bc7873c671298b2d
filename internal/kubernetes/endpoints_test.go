package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func ptr[T any](v T) *T { return &v }

// slice is an EndpointSlice of the Service shop with a port http, 8080.
func slice(name string, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "prod", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: "shop"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{port("http", 8080)},
		Endpoints:   endpoints,
	}
}

func port(name string, number int32) discoveryv1.EndpointPort {
	return discoveryv1.EndpointPort{Name: &name, Port: &number, Protocol: ptr(corev1.ProtocolTCP)}
}

// at is an endpoint that is ready; change makes another one of it.
func at(address string, change ...func(*discoveryv1.Endpoint)) discoveryv1.Endpoint {
	e := discoveryv1.Endpoint{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: ptr(true), Serving: ptr(true), Terminating: ptr(false)}}
	for _, f := range change {
		f(&e)
	}
	return e
}

func zone(name string) func(*discoveryv1.Endpoint) {
	return func(e *discoveryv1.Endpoint) { e.Zone = &name }
}

// is sets the conditions ready, serving and terminating, of each "yes", "no" or "" for what is not said.
func is(ready, serving, terminating string) func(*discoveryv1.Endpoint) {
	read := func(s string) *bool {
		if s == "" {
			return nil
		}
		return ptr(s == "yes")
	}
	return func(e *discoveryv1.Endpoint) {
		e.Conditions = discoveryv1.EndpointConditions{Ready: read(ready), Serving: read(serving), Terminating: read(terminating)}
	}
}

func ofPod(name string) func(*discoveryv1.Endpoint) {
	return func(e *discoveryv1.Endpoint) { e.TargetRef = &corev1.ObjectReference{Kind: "Pod", Name: name} }
}

// with changes a slice.
func with(s *discoveryv1.EndpointSlice, change func(*discoveryv1.EndpointSlice)) *discoveryv1.EndpointSlice {
	change(s)
	return s
}

func family(t discoveryv1.AddressType) func(*discoveryv1.EndpointSlice) {
	return func(s *discoveryv1.EndpointSlice) { s.AddressType = t }
}

func ports(all ...discoveryv1.EndpointPort) func(*discoveryv1.EndpointSlice) {
	return func(s *discoveryv1.EndpointSlice) { s.Ports = all }
}

// shown writes endpoints as "ADDRESS ZONE draining LABELS", without what is empty.
func shown(all []Endpoint) string {
	var out []string
	for _, e := range all {
		text := e.Address
		if e.Zone != "" {
			text += " " + e.Zone
		}
		if e.Draining {
			text += " draining"
		}
		if e.Labels != nil {
			text += fmt.Sprint(" ", e.Labels)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestEndpointsOfAService(t *testing.T) {
	t.Parallel()
	udp := port("dns", 53)
	udp.Protocol = ptr(corev1.ProtocolUDP)
	plain := discoveryv1.EndpointPort{Port: ptr(int32(80))} // neither a name nor a protocol: TCP
	for name, c := range map[string]struct {
		choice choice
		slices []*discoveryv1.EndpointSlice
		want   string // the endpoints
		wrong  string // or the beginning of the error
	}{
		"sorted, with zones": {
			slices: []*discoveryv1.EndpointSlice{slice("b", at("10.0.0.3", zone("a"))), slice("a", at("10.0.0.2"), at("10.0.0.1", zone("b")))},
			want:   "10.0.0.1:8080 b, 10.0.0.2:8080, 10.0.0.3:8080 a",
		},
		"conditions": {
			slices: []*discoveryv1.EndpointSlice{slice("a",
				at("10.0.0.1", is("", "", "")), at("10.0.0.2", is("no", "no", "no")), at("10.0.0.3", is("no", "yes", "yes")), at("10.0.0.4", is("no", "no", "yes")),
				at("10.0.0.5", is("no", "", "")), at("10.0.0.6", is("yes", "", "yes")), at("10.0.0.7", is("no", "", "yes")), at("10.0.0.8", is("yes", "yes", "yes")))},
			want: "10.0.0.1:8080, 10.0.0.3:8080 draining, 10.0.0.6:8080 draining, 10.0.0.8:8080 draining",
		},
		"nobody is ready": {slices: []*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1", is("no", "no", "no")))}},
		"in two slices at once": {
			slices: []*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1", is("no", "yes", "yes")), at("10.0.0.2")), slice("b", at("10.0.0.1"), at("10.0.0.2", is("no", "yes", "yes")))},
			want:   "10.0.0.1:8080, 10.0.0.2:8080",
		},
		"both families": {
			slices: []*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1")), with(slice("b", at("2001:db8::1")), family(discoveryv1.AddressTypeIPv6))},
			want:   "10.0.0.1:8080",
		},
		"both, and IPv4 has none at the moment": {
			slices: []*discoveryv1.EndpointSlice{slice("a"), with(slice("b", at("2001:db8::1")), family(discoveryv1.AddressTypeIPv6))},
		},
		"IPv6 is asked for": {
			choice: choice{addressType: discoveryv1.AddressTypeIPv6},
			slices: []*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1")), with(slice("b", at("2001:db8::1")), family(discoveryv1.AddressTypeIPv6))},
			want:   "[2001:db8::1]:8080",
		},
		"IPv6 alone": {slices: []*discoveryv1.EndpointSlice{with(slice("b", at("2001:db8::1")), family(discoveryv1.AddressTypeIPv6))}, want: "[2001:db8::1]:8080"},
		"IPv6 is not there": {
			choice: choice{addressType: discoveryv1.AddressTypeIPv6}, slices: []*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1"))},
			wrong: "the Service shop: it has no EndpointSlices of the address type IPv6",
		},
		"names": {
			slices: []*discoveryv1.EndpointSlice{with(slice("a", at("shop.example.com")), family(discoveryv1.AddressTypeFQDN))},
			wrong:  "the Service shop: its EndpointSlices hold names (addressType FQDN), and an endpoint has an IP address",
		},
		"a port by name, whose number differs": {
			choice: choice{port: "http"},
			slices: []*discoveryv1.EndpointSlice{with(slice("a", at("10.0.0.1")), ports(port("metrics", 9090), port("http", 8080))), with(slice("b", at("10.0.0.2")), ports(port("http", 8081)))},
			want:   "10.0.0.1:8080, 10.0.0.2:8081",
		},
		"a port by number":  {choice: choice{port: "9090"}, slices: []*discoveryv1.EndpointSlice{with(slice("a", at("10.0.0.1")), ports(port("http", 8080), port("metrics", 9090)))}, want: "10.0.0.1:9090"},
		"the only TCP port": {slices: []*discoveryv1.EndpointSlice{with(slice("a", at("10.0.0.1")), ports(udp, port("http", 8080)))}, want: "10.0.0.1:8080"},
		"without a name":    {slices: []*discoveryv1.EndpointSlice{with(slice("a", at("10.0.0.1")), ports(plain))}, want: "10.0.0.1:80"},
		"without ports":     {slices: []*discoveryv1.EndpointSlice{with(slice("a"), ports())}},
		"of several ports none is asked for": {
			slices: []*discoveryv1.EndpointSlice{with(slice("a", at("10.0.0.1")), ports(port("http", 8080), port("metrics", 9090)))},
			wrong:  "the Service shop: say with --port which one of its ports is meant: it has http 8080, metrics 9090",
		},
		"no such name": {
			choice: choice{port: "https"}, slices: []*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1"))},
			wrong: `the Service shop: no TCP port of it is called "https": it has http 8080`,
		},
		"the Service's number": {
			choice: choice{port: "80"}, slices: []*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1"))},
			wrong: "the Service shop: no TCP port of its pods is 80 (what counts is the pods' port, not the Service's): it has http 8080",
		},
		"what is no address":                   {slices: []*discoveryv1.EndpointSlice{slice("a", at("here"), at("10.0.0.1"), discoveryv1.Endpoint{})}, want: "10.0.0.1:8080"},
		"of further addresses nothing is said": {slices: []*discoveryv1.EndpointSlice{slice("a", discoveryv1.Endpoint{Addresses: []string{"10.0.0.1", "10.0.0.2"}})}, want: "10.0.0.1:8080"},
		"labels of pods": {
			choice: choice{labels: func(namespace, pod string) map[string]string { return map[string]string{"of": namespace + "/" + pod} }},
			slices: []*discoveryv1.EndpointSlice{slice("a", at("10.0.0.1", ofPod("shop-1")), at("10.0.0.2"))},
			want:   "10.0.0.1:8080 map[of:prod/shop-1], 10.0.0.2:8080",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.choice.of("shop", c.slices)
			if c.wrong != "" {
				if err == nil || !strings.HasPrefix(err.Error(), c.wrong) {
					t.Errorf("got %v, want %s", err, c.wrong)
				}
				return
			}
			if err != nil || shown(got) != c.want {
				t.Errorf("got %s, %v; want %s", shown(got), err, c.want)
			}
		})
	}
}

// A Service that is larger than any cluster here is refused as a whole: a part of it would look like all of it.
func TestMoreEndpointsThanTheBound(t *testing.T) {
	t.Parallel()
	var all []*discoveryv1.EndpointSlice
	for i := range 31 {
		s := slice(fmt.Sprint(i))
		for j := range 1000 {
			s.Endpoints = append(s.Endpoints, at(fmt.Sprintf("10.%d.%d.%d", i, j/250, j%250)))
		}
		all = append(all, s)
	}
	if _, err := (choice{}).of("shop", all); err == nil || !strings.Contains(err.Error(), "more than 30000 endpoints") {
		t.Errorf("got %v", err)
	}
	if got, err := (choice{}).of("shop", all[:30]); err != nil || len(got) != mostEndpoints {
		t.Errorf("got %d, %v", len(got), err)
	}
}

func TestSlicesAreSortedByService(t *testing.T) {
	t.Parallel()
	other := slice("b")
	other.Labels = map[string]string{discoveryv1.LabelServiceName: "pay"}
	stray := slice("c")
	stray.Labels = nil
	got := byService([]*discoveryv1.EndpointSlice{slice("a"), other, stray, slice("d")})
	var names []string
	for service, all := range got {
		for _, s := range all {
			names = append(names, service+" "+s.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"pay b", "shop a", "shop d"}; !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
}
