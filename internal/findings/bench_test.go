package findings_test

import (
	"fmt"
	"testing"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// chain makes n resources that refer to each other: a listener for every four of them, its
// route, the route's cluster and the cluster's endpoints, and a variant of every tenth cluster.
func chain(b *testing.B, n int) ([]findings.Resource, []fleet.Node) {
	b.Helper()
	var docs []string
	for i := 0; len(docs) < n; i++ {
		c := fmt.Sprint("c", i)
		docs = append(docs, rds(fmt.Sprint("l", i), fmt.Sprint("r", i)), route(fmt.Sprint("r", i), "cluster: "+c), edsCluster(c), endpoints(c))
		if i%10 == 0 {
			docs = append(docs, variant(edsCluster(c), "v", fmt.Sprintf("node.id=n%d", i)))
		}
	}
	var nodes []fleet.Node
	for i := range 1000 {
		nodes = append(nodes, fleet.Node{ID: fmt.Sprint("n", i)})
	}
	return stored(b, docs[:n]...), nodes
}

// BenchmarkCheck is one whole check; the facts are kept.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rs, nodes := chain(b, n)
			f := findings.Fleet{Resources: rs, Nodes: nodes, Now: now}
			for b.Loop() {
				check(f)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/resource")
		})
	}
}

// BenchmarkCheckDangling is the worst: all that is named is missing.
func BenchmarkCheckDangling(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rs, nodes := chain(b, n)
			for i := range rs {
				rs[i].Name += "-gone"
			}
			f := findings.Fleet{Resources: rs, Nodes: nodes, Now: now}
			for b.Loop() {
				check(f)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/resource")
		})
	}
}

// BenchmarkFactsOf is what a write, or a resource that is not kept, costs once.
func BenchmarkFactsOf(b *testing.B) {
	c := resource.NewCompiler(resource.Config{})
	j, err := resource.ToJSON(resource.YAML, []byte(rds("l", "r")))
	if err != nil {
		b.Fatal(err)
	}
	d, err := resource.ParseDocument(j)
	if err != nil {
		b.Fatal(err)
	}
	r, err := c.Compile(fleet.Key{}, d)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(r.Value)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := resource.FactsOf(r.Type, r.Value); err != nil {
			b.Fatal(err)
		}
	}
}
