package envoyversion

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "fairlead/internal/envoytypes" // the packages of contrib
	"fairlead/internal/fleet"
)

// TestContribIsListed: each package of contrib has its place, and what a build has fits into a number.
func TestContribIsListed(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(f.Path(), "contrib/") {
			there[string(f.Package())] = true
		}
		return true
	})
	for pkg := range there {
		if !slices.Contains(contrib[:], pkg) {
			t.Errorf("%s is of contrib: write it at the end of the list", pkg)
		}
	}
	for _, pkg := range contrib {
		if !there[pkg] {
			t.Errorf("%s is listed and does not exist", pkg)
		}
	}
	if len(contribPlaces) != len(contrib) || len(contrib) > 63 {
		t.Errorf("%d packages, %d places, 63 at most", len(contrib), len(contribPlaces))
	}
	for name, pkg := range contribNames {
		if _, ok := contribPlaces[pkg]; !ok {
			t.Errorf("%s is of %s, which is not listed", name, pkg)
		}
	}
}

func TestLacksContrib(t *testing.T) {
	t.Parallel()
	const broker = "envoy.extensions.filters.network.kafka_broker.v3"
	has := ContribOfType([]byte(broker + ".KafkaBroker"))
	for name, c := range map[string]struct {
		has  fleet.Contrib
		pkg  string
		want bool
	}{
		"nothing is told": {0, broker, false},
		"it has it":       {fleet.ContribTold | has, broker, false},
		"it has another":  {fleet.ContribTold | ContribOfName([]byte("qat")), broker, true},
		"it has none":     {fleet.ContribTold, broker, true},
		"of no contrib":   {fleet.ContribTold, "envoy.extensions.filters.http.lua.v3", false},
	} {
		if got := LacksContrib(c.has, c.pkg); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for _, other := range []string{"", ".", "KafkaBroker", "envoy.extensions.filters.http.lua.v3.Lua", broker} {
		if got := ContribOfType([]byte(other)) | ContribOfName([]byte(other)); got != 0 {
			t.Errorf("%q is told to be of contrib: %x", other, got)
		}
	}
}
