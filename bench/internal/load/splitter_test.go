package load

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/xds"
)

type seenMessage struct {
	fields    [9]string // the last value of each field but 2
	resources []seenResource
	epoch     uint64
}

type seenResource struct {
	name, version string
	children      []string
}

type recorder struct {
	delta bool
	now   seenMessage
	all   []seenMessage
}

func (r *recorder) field(num protowire.Number, val []byte) {
	if num != 2 {
		r.now.fields[num] = string(val)
		return
	}
	r.now.epoch = max(r.now.epoch, xds.ScanMarkers(val))
	var res resource
	if r.delta {
		res.parseWrapped(val)
	} else {
		res.parseAny(val)
	}
	s := seenResource{name: string(res.name), version: string(res.version)}
	for _, c := range res.children {
		s.children = append(s.children, string(c))
	}
	r.now.resources = append(r.now.resources, s)
}

func (r *recorder) end() { r.all, r.now = append(r.all, r.now), seenMessage{} }

// TestSplitter: a stream of responses reads the same in whatever pieces it arrives.
func TestSplitter(t *testing.T) {
	t.Parallel()
	const size = 1500 // makes the route table larger than maxField
	f := fleet.New(size)
	for range 7 {
		f.Change(time.Now())
	}
	for _, delta := range []bool{false, true} {
		var wire []byte
		for k := range xds.Kinds {
			wire = appendMessage(wire, response(f, k, delta))
		}
		for _, chunk := range []int{1, 2, 3, 7, 100, 16384, len(wire)} {
			r := rand.New(rand.NewPCG(uint64(chunk), 1)) //nolint:gosec // a test's
			rec := recorder{delta: delta}
			var s splitter
			for p := wire; len(p) > 0; {
				n := min(len(p), 1+r.IntN(chunk))
				if err := s.write(p[:n], &rec); err != nil {
					t.Fatal(err)
				}
				p = p[n:]
			}
			if len(rec.all) != int(xds.Kinds) {
				t.Fatalf("chunk %d: %d messages", chunk, len(rec.all))
			}
			for i, m := range rec.all {
				checkMessage(t, f, xds.Kind(i), delta, m)
			}
		}
	}
}

func checkMessage(t *testing.T, f *fleet.Fleet, k xds.Kind, delta bool, m seenMessage) {
	t.Helper()
	if m.fields[1] != "version" || m.fields[4] != k.TypeURL() || m.fields[5] != "nonce" {
		t.Fatalf("kind %d: fields %q", k, m.fields)
	}
	if want := map[xds.Kind]uint64{xds.Endpoints: 7}[k]; m.epoch != want {
		t.Fatalf("kind %d: epoch %d", k, m.epoch)
	}
	if len(m.resources) != len(f.Names[k]) {
		t.Fatalf("kind %d: %d resources", k, len(m.resources))
	}
	for i, r := range m.resources {
		var children []string
		version := ""
		switch k {
		case xds.Clusters:
			children = []string{f.Names[k][i]}
		case xds.Listeners:
			children = []string{f.Names[xds.Routes][0]}
		}
		if delta {
			version = "v-" + f.Names[k][i]
		}
		if r.name != f.Names[k][i] || r.version != version || !slices.Equal(r.children, children) {
			t.Fatalf("kind %d: resource %d: %+v", k, i, r)
		}
	}
}

func response(f *fleet.Fleet, k xds.Kind, delta bool) proto.Message {
	var anys []*anypb.Any
	var wrapped []*discoveryv3.Resource
	for i, m := range f.Resources[k] {
		a, _ := anypb.New(m)
		anys = append(anys, a)
		wrapped = append(wrapped, &discoveryv3.Resource{Name: f.Names[k][i], Version: "v-" + f.Names[k][i], Resource: a})
	}
	if delta {
		return &discoveryv3.DeltaDiscoveryResponse{
			SystemVersionInfo: "version", Resources: wrapped, TypeUrl: k.TypeURL(), Nonce: "nonce",
		}
	}
	return &discoveryv3.DiscoveryResponse{
		VersionInfo: "version", Resources: anys, TypeUrl: k.TypeURL(), Nonce: "nonce", Canary: true,
	}
}

func appendMessage(b []byte, m proto.Message) []byte {
	wire, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(wire)))
	return append(b, wire...)
}
