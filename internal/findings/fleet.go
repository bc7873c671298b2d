package findings

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
	"fairlead/internal/selector"
)

// Fleet is what is looked at.
type Fleet struct {
	Resources []Resource
	// Nodes are those that are remembered. Without any nothing is said of who gets what.
	Nodes []fleet.Node
	// NodesCut: some nodes, or labels of some, are left out; so nothing is said of variants
	// that no node gets.
	NodesCut bool
	// Unlabeled are ids of nodes whose labels are not all known.
	Unlabeled      map[string]bool
	StaticClusters []string // that the proxies have in their bootstrap
	// PrivateClusters are of these, and may carry the proxies' credentials.
	PrivateClusters []string
	// ServerKeys are the ids of the keys with which xDS servers open secrets; without any it is not known. OwnKey is that of the key with which
	// secrets are sealed now.
	ServerKeys []string
	OwnKey     string
	// TooLarge are resources that are kept from nodes, as their sets would be larger with them than they take at once.
	TooLarge []TooLarge
	// Credentials are node credentials of nodes that end soon or have ended.
	Credentials []Credential
	// Tokens are API tokens that are bound to the fleet and end soon or have ended lately.
	Tokens []Token
	// Values are the fleet's values now, by their names.
	Values map[string]string
	// Endpoints are the clusters of which endpoints are kept as data, by the names of their ClusterLoadAssignments, with how many of them are held.
	Endpoints map[string]int
	// Failing are clusters whose requests fail, as proxies report.
	Failing []Failing
	// Idle are clusters to which no proxy has sent anything for NotCalledFor, where all nodes report.
	Idle []Idle
	// Alike are names that exist and are not among the Resources, for suggestions alone.
	Alike []fleet.Ref
	// Deletes are names of which the write that is looked at takes the last variant.
	Deletes map[fleet.Ref]bool
	Now     time.Time // against which certificates are held
	// Step, if it is set, is called on the way; its error ends the check.
	Step func() error
}

// Resource is one variant of a resource, as it is stored.
type Resource struct {
	fleet.Ref
	Variant  string // "" for the default variant
	Selector string // "" for the default variant
	Priority int32
	Facts    *resource.Facts // nil: nothing is known of its body
	// SealedFor is the id of the key that a secret is sealed with; "": it is none, or that is not known.
	SealedFor string
	ByName    bool // a cluster that only clients get which ask for it by its name
	// Values are those of the fleet that stand in it, as they were when it was written.
	Values map[string]string
}

// BootstrapCluster is the cluster that leads to Fairlead in the bootstraps that it makes.
const BootstrapCluster = "fairlead_xds"

// Check returns what is to be said of the fleet, the worst first, the same for the same
// fleet whatever the order of its parts. The error is one of f.Step.
func Check(f Fleet) ([]Finding, error) {
	c := newChecker(f)
	c.held()
	c.failing()
	c.notCalled()
	c.references()
	c.deliveredByName()
	c.certificates()
	c.domains()
	c.staticClusters()
	c.values()
	c.variants()
	c.contrib()
	c.polled()
	c.reach()
	c.sealed()
	c.unserved()
	c.tooLarge()
	c.oldBootstraps()
	c.credentials()
	c.tokens()
	sortFindings(c.found)
	return c.found, c.ended
}

// on is asked at each step whether to go on.
func (c *checker) on() bool {
	if c.ended == nil && c.Step != nil {
		c.ended = c.Step()
	}
	return c.ended == nil
}

// checker is one check on its way.
type checker struct {
	Fleet
	found  []Finding
	ended  error // of Step
	names  map[fleet.Ref]*name
	order  []*name // by type and name
	static map[string]bool
	lends  map[string]bool // of those that are private
	views  views
	hints  int // how many names were suggested
	byType [fleet.NumTypes][]string
	// fetching are the routes of which it was asked whether some variant fetches virtual hosts.
	fetching map[string]bool
}

// name is all variants of one name.
type name struct {
	fleet.Ref
	variants []*variant // by name: the default one, if there is one, is the first
	lacks    *lack      // who has none of the variants, once it was asked
}

type variant struct {
	*Resource
	facts    *resource.Facts
	selector selector.Selector
	won      set // the views that have it, once it was asked
}

var noFacts resource.Facts

func newChecker(f Fleet) *checker {
	c := &checker{Fleet: f, names: make(map[fleet.Ref]*name, len(f.Resources)), static: make(map[string]bool, len(f.StaticClusters)), lends: make(map[string]bool), fetching: make(map[string]bool)}
	for _, s := range f.StaticClusters {
		c.static[s] = true
	}
	for _, s := range f.PrivateClusters {
		c.static[s], c.lends[s] = true, true
	}
	var selectors []selector.Selector
	for i := range f.Resources {
		if !c.on() {
			break
		}
		r := &f.Resources[i]
		n := c.names[r.Ref]
		if n == nil {
			n = &name{Ref: r.Ref}
			c.names[r.Ref], c.order = n, append(c.order, n)
		}
		v := &variant{Resource: r, facts: r.Facts}
		if v.facts == nil {
			v.facts = &noFacts
		}
		if r.Variant != "" {
			if s, err := selector.Parse(r.Selector); err == nil { // else no server serves by it
				v.selector, selectors = s, append(selectors, s)
			}
		}
		n.variants = append(n.variants, v)
	}
	slices.SortFunc(c.order, func(a, b *name) int { return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name)) })
	for _, n := range c.order {
		slices.SortFunc(n.variants, func(a, b *variant) int { return strings.Compare(a.Variant, b.Variant) })
		c.byType[n.Type] = append(c.byType[n.Type], n.Name)
	}
	for _, r := range f.Alike {
		c.byType[r.Type] = append(c.byType[r.Type], r.Name)
	}
	c.views = newViews(selectors, f.Nodes, c.on)
	c.NodesCut = c.NodesCut || c.views.cut
	return c
}

// add takes a finding about a variant of a resource.
func (c *checker) add(v *variant, f Finding) {
	f.Ref, f.Variant = v.Ref, v.Variant
	c.found = append(c.found, f)
}

// fallback reports whether every node gets one of the variants.
func (n *name) fallback() bool { return n.variants[0].Variant == "" }

// called is how a sentence speaks of a resource.
func called(r fleet.Ref) string { return r.Type.Slug() + "/" + r.Name }

// named is the same of a variant.
func (v *variant) named() string {
	if v.Variant == "" {
		return called(v.Ref)
	}
	return "the variant " + v.Variant + " of " + called(v.Ref)
}
