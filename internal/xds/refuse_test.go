package xds_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/conformance"
	"fairlead/internal/xds/xdstest"
)

// soakTime is how long a long check takes: FAIRLEAD_SOAK, such as "30s", or short
// without it.
func soakTime(t testing.TB, short time.Duration) time.Duration {
	t.Helper()
	v := os.Getenv("FAIRLEAD_SOAK")
	if v == "" {
		return short
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		t.Fatalf("FAIRLEAD_SOAK: %v", err)
	}
	return d
}

// everyday is how long random checks take without it: longer in CI than at a desk.
func everyday() time.Duration {
	if os.Getenv("CI") == "true" {
		return 8 * time.Second
	}
	return 3 * time.Second
}

// TestClientThatRefusesEverythingHearsNothingTwice: 60 s, of a clock that jumps.
func TestClientThatRefusesEverythingHearsNothingTwice(t *testing.T) {
	t.Parallel()
	everyClient(t, func(t *testing.T, v xdstest.Protocol, node *corev3.Node) {
		bubble(t, func(t *testing.T) { refuseEverything(t, v, node, time.Minute, 0) })
	})
}

// TestSoakClientThatRefusesEverything is the same in real time.
func TestSoakClientThatRefusesEverything(t *testing.T) {
	t.Parallel()
	everyClient(t, func(t *testing.T, v xdstest.Protocol, node *corev3.Node) {
		t.Parallel()
		d := 2 * time.Second
		if os.Getenv("FAIRLEAD_SOAK") != "" {
			d = time.Minute
		}
		refuseEverything(t, v, node, d, time.Minute) // the processors may be others' meanwhile
	})
}

// everyClient runs a test with both kinds of clients, in every variant.
func everyClient(t *testing.T, f func(t *testing.T, v xdstest.Protocol, node *corev3.Node)) {
	for _, v := range xdstest.Protocols {
		for _, node := range []*corev3.Node{xdstest.Envoy("n1"), xdstest.GRPC("n1", xdstest.FeatureTTL, xdstest.FeatureInSotW)} {
			t.Run(v.String()+"/"+node.GetUserAgentName(), func(t *testing.T) { f(t, v, node) })
		}
	}
}

// refuseEverything is refused everything of a fleet of all types, three times changed
// meanwhile, and wants silence for two ninths of the time in the end, or so much later.
func refuseEverything(t *testing.T, v xdstest.Protocol, node *corev3.Node, d, later time.Duration) {
	w := xdstest.New(t)
	w.Publish(everything("1")...)
	c := xdstest.Open(t, w.Conn(), v, node)
	for _, typ := range fleet.Types() {
		if !v.Serves(typ) {
			continue
		}
		if typ.LegacyWildcard(v.Delta) {
			c.Subscribe(typ)
		} else {
			c.Subscribe(typ, "r/0", "r/1", "r/2", "missing")
		}
	}
	refuser := conformance.Refuse(t, c)
	heard := 0
	for i := range 3 {
		heard += refuser.For(2 * d / 9)
		w.Publish(everything(strconv.Itoa(i + 2))...)
		refuser.Changed()
	}
	heard += refuser.For(d / 9) // for the last change
	end := time.Now().Add(2*d/9 + later)
	for n := refuser.For(2 * d / 9); n > 0; n = refuser.For(2 * d / 9) {
		if heard += n; !time.Now().Before(end) {
			t.Errorf("%d responses in the end, want silence", n)
			break
		}
	}
	if heard == 0 {
		t.Error("the client heard nothing at all")
	}
}

// everything is three resources of each type, of which routes name clusters.
func everything(version string) []xdstest.Change {
	var changes []xdstest.Change
	for _, typ := range fleet.Types() {
		for i := range 3 {
			name := "r/" + strconv.Itoa(i)
			var opts []xdstest.Option
			switch typ {
			case fleet.Cluster:
				opts = append(opts, xdstest.EDS)
			case fleet.Route:
				opts = append(opts, xdstest.Naming("r/0", name))
			}
			changes = append(changes, xdstest.Put(typ, name, version, opts...))
		}
	}
	return changes
}
