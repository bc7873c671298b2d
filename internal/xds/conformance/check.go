package conformance

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// Check shows one thing that a rule asks for.
type Check struct {
	Rule  int
	Name  string // in CamelCase, unique within the rule
	Shows string // a sentence
	// In are the variants to which the rule applies; nil is all four.
	In []xdstest.Protocol
	// Needs is what a server must offer besides the protocol, or nothing.
	Needs Need
	// Config is how our server is set up for it; nil is the defaults.
	Config func(*xds.Config)
	Run    func(*Bed)
}

// Variants are those to which the check applies.
func (c Check) Variants() []xdstest.Protocol {
	if c.In == nil {
		return xdstest.Protocols
	}
	return c.In
}

var (
	ads    = []xdstest.Protocol{xdstest.SotWADS, xdstest.DeltaADS}
	delta  = []xdstest.Protocol{xdstest.DeltaADS, xdstest.Delta}
	sotw   = []xdstest.Protocol{xdstest.SotWADS, xdstest.SotW}
	single = []xdstest.Protocol{xdstest.SotW, xdstest.Delta}
)

// Need is something that is no part of the protocol: a library may leave it to the
// program around it.
type Need string

// What checks need.
const (
	Nothing   Need = ""
	Together  Need = "several types"      // in one server
	TTLs      Need = "TTLs"               // resources that expire
	Tokens    Need = "credentials"        // clients are told apart by their tokens
	Limits    Need = "limits"             // what one stream may cost
	Records   Need = "records"            // what clients refused can be read
	Loading   Need = "a state of loading" // the fleet is not known yet
	Nobody    Need = "nobody's fleet"     // to begin with what was never published
	Revisions Need = "revisions"          // of a fleet
	Aging     Need = "aging streams"
)

// Server is what checks are run against. Publish makes one step of all changes.
type Server interface {
	Publish(changes ...xdstest.Change)
	Conn() *grpc.ClientConn
	Dial(opts ...grpc.DialOption) *grpc.ClientConn
}

// Start starts an empty server that ends with t. The variant is that of its clients;
// config is for our own server alone.
type Start func(t testing.TB, v xdstest.Protocol, config func(*xds.Config)) Server

// Bed is what a check works with: an empty server and a variant, in a bubble.
type Bed struct {
	testing.TB
	Server
	Variant xdstest.Protocol

	start Start
	check Check
}

// Lay starts the server that a check is run against. It needs a bubble.
func Lay(t testing.TB, c Check, v xdstest.Protocol, start Start) *Bed {
	t.Helper()
	b := &Bed{TB: t, Server: start(t, v, c.Config), Variant: v, start: start, check: c}
	if c.Needs != Nobody {
		b.Publish() // there is a fleet, and it is empty
	}
	return b
}

// Run runs the checks of one rule against a server, each in a bubble of its own.
func Run(t *testing.T, rule int, start Start) {
	t.Helper()
	t.Parallel()
	for _, c := range Of(rule) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			for _, v := range c.Variants() {
				t.Run(v.String(), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { c.Run(Lay(t, c, v, start)) })
				})
			}
		})
	}
}

// Of returns the checks of one rule.
func Of(rule int) []Check {
	var found []Check
	for _, c := range Checks() {
		if c.Rule == rule {
			found = append(found, c)
		}
	}
	return found
}

// Checks returns all checks, by rule.
func Checks() []Check {
	var all []Check
	for _, checks := range [][]Check{
		types, subscriptions, removals, names, virtualHosts, sets, versions, returns, endpoints,
		answers, refusals, nonces, nodes, order, expiry, heartbeats, limits, ages, loading, polls,
	} {
		all = append(all, checks...)
	}
	slices.SortStableFunc(all, func(a, b Check) int { return a.Rule - b.Rule })
	return all
}

// Fairlead starts our own server.
func Fairlead(t testing.TB, _ xdstest.Protocol, config func(*xds.Config)) Server {
	t.Helper()
	if config == nil {
		config = func(*xds.Config) {}
	}
	return ours{xdstest.New(t, config)}
}

type ours struct{ *xdstest.World }

func (o ours) Publish(changes ...xdstest.Change) { o.World.Publish(changes...) }

// World is our own server, for checks that need what is no part of the protocol.
func (b *Bed) World() *xdstest.World {
	b.Helper()
	o, ok := b.Server.(ours)
	if !ok {
		b.Fatalf("%s needs %s", b.check.Name, b.check.Needs)
	}
	return o.World
}

// The nodes of a check's clients.
const (
	Node      = "n1"
	OtherNode = "n2"
)

// Envoy opens a client that says of itself what Envoy says.
func (b *Bed) Envoy() *xdstest.Client { return b.Open(xdstest.Envoy(Node)) }

// GRPC opens a client that says of itself what gRPC says.
func (b *Bed) GRPC(features ...string) *xdstest.Client {
	return b.Open(xdstest.GRPC(Node, features...))
}

// Open opens a client.
func (b *Bed) Open(n *corev3.Node) *xdstest.Client {
	b.Helper()
	return xdstest.Open(b, b.Conn(), b.Variant, n)
}

// Replica starts one more server, empty.
func (b *Bed) Replica() Server {
	b.Helper()
	return b.start(b, b.Variant, b.check.Config)
}

// Says is what the protocol's variant calls the same thing.
func (b *Bed) Says(delta, sotw string) string {
	if b.Variant.Delta {
		return delta
	}
	return sotw
}

// moment is longer than a server takes for anything that it does unasked, but for what a
// rule gives it time for.
const moment = time.Second

// text names resources of a type the way the scripts print them.
func text(t fleet.Type, resources ...string) string {
	s := t.Slug()
	for _, r := range resources {
		s += " " + r
	}
	return s
}

// sent looks for a resource, as it is printed, in responses.
func sent(rs []*xdstest.Response, item string) bool {
	for _, r := range rs {
		for _, x := range r.Resources {
			if x.String() == item {
				return true
			}
		}
	}
	return false
}

// none fails if any of the responses says anything of a resource.
func (b *Bed) none(rs []*xdstest.Response, why string) {
	b.Helper()
	for _, r := range rs {
		if len(r.Resources)+len(r.Removed) > 0 {
			b.Errorf("%s was sent: %s", r, why)
		}
	}
}

// cluster is a cluster that gets its endpoints over ADS, with them.
func cluster(name string) []xdstest.Change {
	return []xdstest.Change{
		xdstest.Put(fleet.Cluster, name, "1", xdstest.EDS),
		xdstest.Put(fleet.Endpoint, name, "1"),
	}
}

func put(t fleet.Type, name, version string) xdstest.Change { return xdstest.Put(t, name, version) }

func route(name, version string, clusters ...string) xdstest.Change {
	return xdstest.Put(fleet.Route, name, version, xdstest.Naming(clusters...))
}

// nothing fails if anything is said of a resource in some time. A stream's one answer
// that says nothing (rule 13) may come.
func (b *Bed) nothing(c *xdstest.Client, d time.Duration, why string) {
	b.Helper()
	time.Sleep(d)
	b.none(c.Settle(), why)
}

// both is one step of several lists of changes.
func both(lists ...[]xdstest.Change) []xdstest.Change {
	var all []xdstest.Change
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func (c Check) String() string { return fmt.Sprintf("rule %d, %s", c.Rule, c.Name) }
