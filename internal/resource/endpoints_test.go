package resource

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	endpointpb "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.7:80": "10.0.0.7:80", "[2001:db8:0::7]:80": "[2001:db8::7]:80", "unix:/run/a.sock": "unix:/run/a.sock", "unix:@a": "unix:@a",
		"[2001:0DB8:0000:0:0:0:0:0007]:080": "[2001:db8::7]:80", "[::ffff:10.0.0.7]:80": "10.0.0.7:80", "[::FFFF:0a00:0007]:80": "10.0.0.7:80", "[0:0:0:0:0:ffff:10.0.0.7]:80": "10.0.0.7:80",
		"[::10.0.0.7]:80": "[::a00:7]:80", "[64:ff9b::10.0.0.7]:80": "[64:ff9b::a00:7]:80", "[::ffff:10.0.0.7%1]:80": "", "[10.0.0.7]:80": "", "[::ffff:10.0.0.07]:80": "",
		"10.0.0.7": "", "10.0.0.7:0": "", "10.0.0.7:70000": "", "example.com:80": "", "[fe80::1%eth0]:80": "", ":80": "", "": "", "unix:": "", "unix:a": "", "2001:db8::7:80": "", "10.0.0.07:80": "",
	} {
		got, err := ParseAddress(text)
		if got != want || (err != nil) != (want == "") || err != nil && !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%q is %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestOneHostIsServedOnce: in whatever spelling the document has an address, or a row of before has it.
func TestOneHostIsServedOnce(t *testing.T) {
	t.Parallel()
	document := `{"cluster_name":"c","endpoints":[{"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"::ffff:10.0.0.7","port_value":80}}}},` +
		`{"endpoint":{"address":{"socket_address":{"address":"2001:DB8:0:0::7","port_value":80}}}}]}]}`
	out, err := NewCompiler(Config{}).Compile(fleet.Key{}, Document{Type: fleet.Endpoint, Name: "c", Body: []byte(document)})
	if err != nil {
		t.Fatal(err)
	}
	served, err := ServeEndpoints("c", out.Value, 0, []Endpoint{
		{Address: "[::ffff:10.0.0.7]:80", Weight: 2, Health: "healthy"}, {Address: "10.0.0.7:80", Weight: 3, Health: "healthy"}, {Address: "[2001:db8::7]:80", Weight: 4, Health: "healthy"},
		{Address: "[::ffff:10.0.0.8]:80", Weight: 5, Health: "healthy"},
	})
	if err != nil {
		t.Fatal(err)
	}
	cla := &endpointpb.ClusterLoadAssignment{}
	if err := proto.Unmarshal(served.Value, cla); err != nil {
		t.Fatal(err)
	}
	got := map[string]uint32{}
	for _, l := range cla.GetEndpoints() {
		for _, e := range l.GetLbEndpoints() {
			got[e.GetEndpoint().GetAddress().GetSocketAddress().GetAddress()] += e.GetLoadBalancingWeight().GetValue()
		}
	}
	if d := cmp.Diff(map[string]uint32{"10.0.0.7": 3, "10.0.0.8": 5, "2001:db8::7": 4}, got); d != "" {
		t.Error(d)
	}
}

func TestServeEndpoints(t *testing.T) {
	t.Parallel()
	rows := []Endpoint{
		{Address: "10.0.0.9:80", Weight: 3, Health: "healthy", Region: "eu", Metadata: []byte(`{"envoy.lb": {"canary": true}}`)},
		{Address: "10.0.0.2:80", Weight: 1, Health: "draining"},
		{Address: "unix:/run/a.sock", Weight: 1, Health: "unhealthy", Region: "eu"},
	}
	for name, c := range map[string]struct{ document, want string }{
		"alone": {"", `{"cluster_name":"c","endpoints":[{"locality":{},"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.2","port_value":80}}},"health_status":"DRAINING","load_balancing_weight":1}],"load_balancing_weight":1},` +
			`{"locality":{"region":"eu"},"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.9","port_value":80}}},"health_status":"HEALTHY","metadata":{"filter_metadata":{"envoy.lb":{"canary":true}}},"load_balancing_weight":3},` +
			`{"endpoint":{"address":{"pipe":{"path":"/run/a.sock"}}},"health_status":"UNHEALTHY","load_balancing_weight":1}],"load_balancing_weight":4}]}`},
		// The document's policy and priorities stay; of two localities of one name the first priority gets them; an address that stands in both is served once.
		"beside a document": {
			`{"cluster_name":"c","policy":{"overprovisioning_factor":100},"endpoints":[{"locality":{"region":"eu"},"priority":1,"lb_endpoints":[]},{"locality":{"region":"eu"},"load_balancing_weight":9,"lb_endpoints":[` +
				`{"endpoint":{"address":{"socket_address":{"address":"10.0.0.9","port_value":80}}}},{"endpoint":{"address":{"socket_address":{"address":"10.0.0.1","port_value":80}}}}]}]}`,
			`{"cluster_name":"c","endpoints":[{"locality":{"region":"eu"},"priority":1},{"locality":{"region":"eu"},"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.1","port_value":80}}}},` +
				`{"endpoint":{"address":{"socket_address":{"address":"10.0.0.9","port_value":80}}},"health_status":"HEALTHY","metadata":{"filter_metadata":{"envoy.lb":{"canary":true}}},"load_balancing_weight":3},` +
				`{"endpoint":{"address":{"pipe":{"path":"/run/a.sock"}}},"health_status":"UNHEALTHY","load_balancing_weight":1}],"load_balancing_weight":9},` +
				`{"locality":{},"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.2","port_value":80}}},"health_status":"DRAINING","load_balancing_weight":1}],"load_balancing_weight":1}],"policy":{"overprovisioning_factor":100}}`,
		},
	} {
		var value []byte
		if c.document != "" {
			out, err := NewCompiler(Config{}).Compile(fleet.Key{}, Document{Type: fleet.Endpoint, Name: "c", Body: []byte(c.document)})
			if err != nil {
				t.Fatal(err)
			}
			value = out.Value
		}
		got, err := ServeEndpoints("c", value, 0, rows)
		if err != nil {
			t.Fatal(err)
		}
		body, err := Render(fleet.Endpoint, got.Value)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, string(body)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
		// In another order the same; with another TTL or endpoint another version.
		turned := slices.Clone(rows)
		slices.Reverse(turned)
		if again, err := ServeEndpoints("c", value, 0, turned); err != nil || again.Version != got.Version {
			t.Errorf("%s: in another order it is another version, %v", name, err)
		}
		if other, err := ServeEndpoints("c", value, time.Second, rows); err != nil || other.Version == got.Version {
			t.Errorf("%s: with another TTL it is the same version, %v", name, err)
		}
		if want := map[bool]int{true: 2}[c.document != ""]; got.Documented != want {
			t.Errorf("%s: the document has %d endpoints, want %d", name, got.Documented, want)
		}
	}
}

// What AssignmentOf writes compiles to what ServeEndpoints makes of one endpoint: who may write the one may be served the other.
func TestAssignmentOfIsWhatIsServed(t *testing.T) {
	t.Parallel()
	for _, e := range []Endpoint{
		{Address: "10.0.0.9:80", Weight: 3, Health: "healthy", Region: "eu", Zone: "a", SubZone: "1", Metadata: []byte(`{"envoy.lb": {"n": [1, null, "x", {"y": 1.5}]}}`)},
		{Address: "unix:@a", Weight: 1, Health: "draining", Metadata: []byte(`{}`)},
		{Address: "[2001:db8::7]:80", Weight: 65535, Health: "unhealthy"},
	} {
		body, err := AssignmentOf("c", []Endpoint{e})
		if err != nil {
			t.Fatal(err)
		}
		out, err := NewCompiler(Config{}).Compile(fleet.Key{}, Document{Type: fleet.Endpoint, Name: "c", Body: body})
		if err != nil {
			t.Fatal(err)
		}
		served, err := ServeEndpoints("c", out.Value, 0, []Endpoint{e}) // in the place of the document's own
		if err != nil {
			t.Fatal(err)
		}
		alone, err := ServeEndpoints("c", nil, 0, []Endpoint{e})
		if err != nil {
			t.Fatal(err)
		}
		if served.Version != alone.Version || served.Documented != 1 {
			a, _ := Render(fleet.Endpoint, served.Value)
			b, _ := Render(fleet.Endpoint, alone.Value)
			t.Errorf("%s: %s\nand alone %s", e.Address, a, b)
		}
	}
}

// TestLocalitiesWeighWhatProxiesTake: Envoy and gRPC refuse an assignment whose localities of one priority weigh more than 32 bits together.
func TestLocalitiesWeighWhatProxiesTake(t *testing.T) {
	t.Parallel()
	const document = `{"cluster_name":"c","endpoints":[` +
		`{"locality":{"zone":"a"},"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.1","port_value":80}}},"load_balancing_weight":3000000000}]},` +
		`{"locality":{"zone":"b"},"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.2","port_value":80}}},"load_balancing_weight":3000000000}]}]}`
	out, err := NewCompiler(Config{}).Compile(fleet.Key{}, Document{Type: fleet.Endpoint, Name: "c", Body: []byte(document)})
	if err != nil {
		t.Fatal(err)
	}
	served, err := ServeEndpoints("c", out.Value, 0, []Endpoint{{Address: "10.0.0.3:80", Weight: 1, Health: "healthy"}})
	if err != nil {
		t.Fatal(err)
	}
	var cla endpointpb.ClusterLoadAssignment
	if err := proto.Unmarshal(served.Value, &cla); err != nil {
		t.Fatal(err)
	}
	sums := map[uint32]uint64{}
	for _, l := range cla.GetEndpoints() {
		sums[l.GetPriority()] += uint64(l.GetLoadBalancingWeight().GetValue())
	}
	if a, b, c := cla.GetEndpoints()[0], cla.GetEndpoints()[1], cla.GetEndpoints()[2]; a.GetLoadBalancingWeight().GetValue() != 1_500_000_000 || b.GetLoadBalancingWeight().GetValue() != 1_500_000_000 || c.GetLoadBalancingWeight().GetValue() != 1 {
		t.Errorf("they weigh %d, %d and %d", a.GetLoadBalancingWeight().GetValue(), b.GetLoadBalancingWeight().GetValue(), c.GetLoadBalancingWeight().GetValue())
	}
	for priority, sum := range sums {
		if sum > math.MaxUint32 {
			t.Errorf("the localities of priority %d weigh %d together", priority, sum)
		}
	}
}

// TestEndpointsWeighWhatProxiesTake: Envoy refuses a ring of endpoints that weigh more than 32 bits together, of one locality or of several. An endpoint that is
// data is not to have it refuse a document that it takes.
func TestEndpointsWeighWhatProxiesTake(t *testing.T) {
	t.Parallel()
	const document = `{"cluster_name":"c","endpoints":[` +
		`{"locality":{"zone":"a"},"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.1","port_value":80}}},"load_balancing_weight":4294967295}]},` +
		`{"locality":{"zone":"a"},"priority":1,"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.2","port_value":80}}},"load_balancing_weight":4294967295}]}]}`
	out, err := NewCompiler(Config{}).Compile(fleet.Key{}, Document{Type: fleet.Endpoint, Name: "c", Body: []byte(document)})
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []string{"a", "b"} {
		served, err := ServeEndpoints("c", out.Value, 0, []Endpoint{{Address: "10.0.0.3:80", Zone: zone, Weight: 1, Health: "healthy"}, {Address: "10.0.0.4:80", Zone: zone, Weight: 65535, Health: "healthy"}})
		if err != nil {
			t.Fatal(err)
		}
		var cla endpointpb.ClusterLoadAssignment
		if err := proto.Unmarshal(served.Value, &cla); err != nil {
			t.Fatal(err)
		}
		sums, got := map[uint32]uint64{}, map[string]uint32{}
		for _, l := range cla.GetEndpoints() {
			for _, e := range l.GetLbEndpoints() {
				sums[l.GetPriority()] += uint64(e.GetLoadBalancingWeight().GetValue())
				got[e.GetEndpoint().GetAddress().GetSocketAddress().GetAddress()] = e.GetLoadBalancingWeight().GetValue()
			}
		}
		if sums[0] > math.MaxUint32 || !maps.Equal(got, map[string]uint32{"10.0.0.1": math.MaxUint32 / 2, "10.0.0.2": math.MaxUint32, "10.0.0.3": 1, "10.0.0.4": 32767}) {
			t.Errorf("in zone %s they weigh %v, which is %d", zone, got, sums[0])
		}
	}
}
