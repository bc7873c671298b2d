package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// known are metrics by name: which labels each has, and what the page says of the values of each.
type known map[string]map[string]string

var (
	metricRow = regexp.MustCompile("(?m)^\\| `(fairlead_\\w+)` \\| (\\w+) \\| (.*?) \\| .* \\|$")
	labelCell = regexp.MustCompile("`(\\w+)`: ")
)

// free are labels whose values are no list.
var free = []string{"instance", "job", "le", "tenant", "fleet", "cluster", "locality", "category", "version", "go_version", "status", "metric", "operation", "cell"}

// readKnown reads docs/metrics.md, which is generated of what the servers register.
func readKnown(t *testing.T) known {
	t.Helper()
	all := known{}
	for _, m := range metricRow.FindAllStringSubmatch(read(t, root+"docs/metrics.md"), -1) {
		of := map[string]string{"instance": "", "job": ""}
		at := labelCell.FindAllStringSubmatchIndex(m[3], -1)
		for i, x := range at {
			end := len(m[3])
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			of[m[3][x[2]:x[3]]] = m[3][x[1]:end]
		}
		if m[2] != "histogram" {
			all[m[1]] = of
			continue
		}
		all[m[1]+"_sum"], all[m[1]+"_count"] = of, of
		buckets := map[string]string{"le": ""}
		for name, values := range of {
			buckets[name] = values
		}
		all[m[1]+"_bucket"] = buckets
	}
	if len(all) < 80 {
		t.Fatalf("docs/metrics.md has %d metrics only", len(all))
	}
	for _, name := range []string{"up", "process_open_fds", "process_max_fds", "process_resident_memory_bytes", "process_cpu_seconds_total", "go_gc_gomemlimit_bytes", "go_goroutines"} {
		all[name] = map[string]string{"instance": "", "job": ""} // what test/alerts sees real servers tell
	}
	all["ALERTS"] = map[string]string{"alertname": "", "alertstate": "`firing` `pending`", "severity": "`page` `ticket`"}
	records, _ := rulesOf(t)
	for _, r := range records {
		of := map[string]string{}
		for _, l := range all.labelsOf(mustParse(t, r.Expr)) {
			of[l] = ""
		}
		all[r.Record] = of
	}
	return all
}

func mustParse(t *testing.T, expr string) parser.Expr {
	t.Helper()
	e, err := promParser.ParseExpr(expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return e
}

func selectors(t *testing.T, expr string) []*parser.VectorSelector {
	t.Helper()
	return selectorsIn(mustParse(t, expr))
}

func selectorsIn(e parser.Node) (all []*parser.VectorSelector) {
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			all = append(all, s)
		}
		return nil
	})
	return all
}

// labelsOf are those that the result may have.
func (k known) labelsOf(e parser.Node) (names []string) {
	switch e := e.(type) {
	case *parser.VectorSelector:
		for name := range k[e.Name] {
			names = append(names, name)
		}
		return names
	case *parser.AggregateExpr:
		if e.Op != parser.TOPK {
			return e.Grouping
		}
		return k.labelsOf(e.Expr)
	case *parser.Call:
		if e.Func.Name == "absent" {
			return []string{"program"}
		}
	}
	for n := range parser.ChildrenIter(e) {
		names = append(names, k.labelsOf(n)...)
	}
	return names
}

func (k known) leaves(t *testing.T, expr, label string) bool {
	t.Helper()
	return slices.Contains(k.labelsOf(mustParse(t, expr)), label)
}

func (k known) check(t *testing.T, where, expr string) {
	t.Helper()
	if err := k.complaint(expr); err != nil {
		t.Errorf("%s: %s: %v", where, expr, err)
	}
}

// complaint says what an expression names that is not there.
func (k known) complaint(expr string) error {
	e, err := promParser.ParseExpr(expr)
	if err != nil {
		return err
	}
	var all []error
	for _, s := range selectorsIn(e) {
		of, there := k[s.Name]
		if !there {
			all = append(all, fmt.Errorf("there is no metric %s", s.Name))
			continue
		}
		for _, m := range s.LabelMatchers {
			all = append(all, matcherComplaint(of, m))
		}
	}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.AggregateExpr:
			all = append(all, k.lacks(n.Expr, n.Grouping))
		case *parser.BinaryExpr:
			if n.VectorMatching != nil && n.VectorMatching.On {
				all = append(all, k.lacks(n.LHS, n.VectorMatching.MatchingLabels), k.lacks(n.RHS, n.VectorMatching.MatchingLabels))
			}
		}
		return nil
	})
	return errors.Join(all...)
}

func (k known) lacks(e parser.Node, names []string) error {
	for _, name := range names {
		if !slices.Contains(k.labelsOf(e), name) {
			return fmt.Errorf("%s has no label %s", e, name)
		}
	}
	return nil
}

var operationID = regexp.MustCompile(`(?m)^\s+operationId: (\w+)$`)

func matcherComplaint(of map[string]string, m *labels.Matcher) error {
	if m.Name == "__name__" {
		return nil
	}
	values, there := of[m.Name]
	if !there {
		return fmt.Errorf("it has no label %s", m.Name)
	}
	for _, v := range strings.Split(m.Value, "|") {
		switch {
		case m.Name == "operation":
			if !slices.Contains(operations(), v) {
				return fmt.Errorf("there is no operation %s", v)
			}
		case values != "" && !slices.Contains(free, m.Name) && !strings.Contains(values, "`"+v+"`"):
			return fmt.Errorf("%s is never %q", m.Name, v)
		}
	}
	return nil
}

// operations are those of the contract.
var operations = sync.OnceValue(func() []string {
	b, err := os.ReadFile(root + "openapi.yaml")
	if err != nil {
		panic(err)
	}
	all := []string{"other"}
	for _, m := range operationID.FindAllStringSubmatch(string(b), -1) {
		all = append(all, m[1])
	}
	return all
})
