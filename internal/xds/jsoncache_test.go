package xds

import (
	"fmt"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// TestJSONOfResourcesIsKept: what was asked for lately is made once, and of all that was asked for no more is kept than there is room for.
func TestJSONOfResourcesIsKept(t *testing.T) {
	t.Parallel()
	var c jsonCache
	resource := func(name string, size int) *snapshot.Resource {
		b, err := proto.Marshal(&clusterv3.Cluster{Name: name, AltStatName: strings.Repeat("x", size)})
		if err != nil {
			t.Fatal(err)
		}
		return snapshot.NewResource(fleet.Cluster, fleet.Row{Name: name, Version: "1"}, b)
	}
	get := func(r *snapshot.Resource) *byte {
		b, err := c.of(r)
		if err != nil || !strings.Contains(string(b[:200]), r.Name) {
			t.Fatalf("%s is %.200s, %v", r.Name, b, err)
		}
		return &b[0]
	}
	const size = 4 << 20
	often, once := resource("often", size), resource("once", size)
	first, other := get(often), get(once)
	for i := range 4 * mostResourcesKept / size {
		get(resource(fmt.Sprint("c", i), size))
		if get(often) != first {
			t.Fatalf("after %d others it is made anew", i)
		}
		kept := 0
		for _, half := range []map[*snapshot.Resource][]byte{c.now, c.last} {
			for _, b := range half {
				kept += len(b)
			}
		}
		if kept > mostResourcesKept {
			t.Fatalf("%d bytes are kept", kept)
		}
	}
	if get(once) == other {
		t.Error("what nobody asks for is kept")
	}
}
