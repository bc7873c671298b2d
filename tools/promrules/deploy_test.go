package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

const (
	root      = "../../"
	rulesFile = root + "deploy/prometheus/fairlead.rules.yaml"
	testsFile = root + "deploy/prometheus/fairlead.test.yaml"
	grafana   = root + "deploy/grafana"
	runbooks  = root + "docs/runbooks"
)

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func rulesOf(t *testing.T) (records, alerts []rulefmt.Rule) {
	t.Helper()
	groups, err := readRules(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				records = append(records, r)
			} else {
				alerts = append(alerts, r)
			}
		}
	}
	return records, alerts
}

// TestRulesDoWhatTheirTestsSay: fairlead.test.yaml, which promtool takes too.
func TestRulesDoWhatTheirTestsSay(t *testing.T) {
	t.Parallel()
	failures, err := runTests(t.Context(), testsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range failures {
		t.Error(f)
	}
}

// TestEachAlertHasATestThatCanFail: one of its name, which fails if the alert never fires and if it always does; and all that it looks at is there
// while all is well, or its silence would mean nothing.
func TestEachAlertHasATestThatCanFail(t *testing.T) {
	t.Parallel()
	f, groups, err := readTests(testsFile)
	if err != nil {
		t.Fatal(err)
	}
	healthy := f.Tests[0]
	if healthy.Name != "healthy" {
		t.Fatalf("the first test is %q", healthy.Name)
	}
	records, alerts := rulesOf(t)
	for _, a := range alerts {
		i := slices.IndexFunc(f.Tests, func(x ruleTest) bool { return x.Name == a.Alert })
		if i < 0 {
			t.Errorf("%s has no test of its name in %s", a.Alert, testsFile)
			continue
		}
		for _, expr := range []string{"vector(0) > 1", "vector(1)"} {
			e := newEvaluator(groups)
			for _, r := range e.rules {
				if r.Alert == a.Alert {
					r.Expr = expr
				}
			}
			if failures, err := f.Tests[i].run(t.Context(), e, 30e9); err != nil || len(failures) == 0 {
				t.Errorf("%s: with the expression %s its test holds (%v)", a.Alert, expr, err)
			}
		}
		for _, s := range selectors(t, a.Expr) {
			looked := []*parser.VectorSelector{s}
			for _, r := range records {
				if r.Record == s.Name {
					looked = selectors(t, r.Expr)
				}
			}
			for _, s := range looked {
				if !slices.ContainsFunc(healthy.Series, func(in inputSeries) bool { return matches(t, s, in.Series) || s.Name == "fairlead_build_info" }) {
					t.Errorf("%s looks at %s, which is not there in the test that is called healthy", a.Alert, s)
				}
			}
		}
	}
}

func matches(t *testing.T, s *parser.VectorSelector, series string) bool {
	t.Helper()
	l, err := promParser.ParseMetric(series)
	if err != nil {
		t.Fatal(err)
	}
	return !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return !m.Matches(l.Get(m.Name)) })
}

// TestAlertsSayWhatToDo.
func TestAlertsSayWhatToDo(t *testing.T) {
	t.Parallel()
	_, alerts := rulesOf(t)
	seen := map[string]bool{}
	for _, a := range alerts {
		if seen[a.Alert] {
			t.Errorf("there are two alerts %s", a.Alert)
		}
		seen[a.Alert] = true
		if s := a.Labels["severity"]; s != "page" && s != "ticket" || len(a.Labels) != 1 {
			t.Errorf("%s has the labels %v, want a severity that is page or ticket", a.Alert, a.Labels)
		}
		if a.Annotations["summary"] == "" || a.Annotations["description"] == "" || a.Annotations["runbook_url"] != "docs/runbooks/"+a.Alert+".md" {
			t.Errorf("%s has the annotations %v", a.Alert, a.Annotations)
		}
	}
}

var headings = []string{"## What it means", "## Who is hurt", "## What to look at", "## What to do", "## When it is over"}

// TestEachAlertHasItsPage with these headings and text below each, and each page its alert.
func TestEachAlertHasItsPage(t *testing.T) {
	t.Parallel()
	known := readKnown(t)
	_, alerts := rulesOf(t)
	pages := map[string]bool{}
	files, err := filepath.Glob(runbooks + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		pages[strings.TrimSuffix(filepath.Base(file), ".md")] = true
	}
	operate := read(t, root+"docs/operate.md")
	for _, a := range alerts {
		if !pages[a.Alert] {
			t.Errorf("%s has no page in docs/runbooks", a.Alert)
			continue
		}
		delete(pages, a.Alert)
		page := read(t, filepath.Join(runbooks, a.Alert+".md"))
		for _, complaint := range missing(page, a) {
			t.Errorf("%s: %s", a.Alert, complaint)
		}
		for _, q := range fenced.FindAllStringSubmatch(page, -1) {
			for line := range strings.Lines(q[1]) {
				known.check(t, a.Alert, strings.TrimSpace(line))
			}
		}
		if want := fmt.Sprintf("| [%s](runbooks/%s.md) | %s |", a.Alert, a.Alert, a.Labels["severity"]); !strings.Contains(operate, want) {
			t.Errorf("docs/operate.md has no line that begins with %s", want)
		}
	}
	for page := range pages {
		t.Errorf("docs/runbooks/%s.md is of no alert", page)
	}
}

var fenced = regexp.MustCompile("(?s)```promql\n(.*?)```")

// missing says what a runbook lacks.
func missing(page string, a rulefmt.Rule) (complaints []string) {
	if !strings.HasPrefix(page, "# "+a.Alert+"\n") {
		complaints = append(complaints, "the page does not begin with its name")
	}
	rest := page
	for i, h := range headings {
		_, after, found := strings.Cut(rest, h+"\n")
		text, _, _ := strings.Cut(after, "\n## ")
		if !found || strings.TrimSpace(text) == "" {
			complaints = append(complaints, "it has nothing below "+h+", or not in this place")
			continue
		}
		if rest = after; i == 2 && !strings.Contains(text, "`") {
			complaints = append(complaints, "it names no command, query or line of the log to look at")
		}
	}
	return complaints
}

// The check itself can fail.
func TestPagesThatMiss(t *testing.T) {
	t.Parallel()
	a := rulefmt.Rule{Alert: "A"}
	good := "# A\n\n" + strings.Join(headings, "\n\ntext `x`\n\n") + "\n\ntext\n"
	if got := missing(good, a); len(got) > 0 {
		t.Errorf("%q", got)
	}
	for _, h := range headings {
		if len(missing(strings.Replace(good, h, "## Something", 1), a)) == 0 {
			t.Errorf("without %s it is taken", h)
		}
	}
	for _, bad := range []string{"", strings.Replace(good, "# A", "# B", 1), strings.ReplaceAll(good, "`", ""), strings.Replace(good, "text `x`", "", 1)} {
		if len(missing(bad, a)) == 0 {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestRulesNameWhatThereIs: metrics with their labels and values.
func TestRulesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	known := readKnown(t)
	records, alerts := rulesOf(t)
	for _, r := range slices.Concat(records, alerts) {
		known.check(t, r.Record+r.Alert, r.Expr)
	}
}

// The check itself can fail.
func TestNamesThatAreNot(t *testing.T) {
	t.Parallel()
	known := readKnown(t)
	for _, good := range []string{`sum by (le) (rate(fairlead_database_wait_seconds_bucket{lane="lease"}[5m]))`, `up{job="fairlead"} == 0`} {
		if err := known.complaint(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"fairlead_nodes(", "fairlead_nods", "fairlead_nodes_total", `fairlead_nodes{type="a"}`, `fairlead_xds_denied_total{reason="token"}`, `fairlead_xds_denied_total{reason=~"token_wrong|token"}`,
		"sum by (reason) (fairlead_nodes)", "fairlead_nodes / on(fleet) fairlead_nodes_behind", `fairlead_api_requests_total{operation="get"}`, "fairlead:errors", "rate(fairlead_database_wait_seconds[5m])",
	} {
		if known.complaint(bad) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestDashboards are what they are generated from, and name what there is. Grafana needs ids that are apart.
func TestDashboards(t *testing.T) {
	t.Parallel()
	known := readKnown(t)
	uids := map[string]string{}
	for name, d := range dashboards() {
		want, err := d.json()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(grafana, name+".json")
		if got := read(t, file); got != string(want) {
			t.Errorf("%s is not what it is generated from: run go run . dashboards %s in tools/promrules", file, grafana)
		}
		if other, taken := uids[d.uid]; taken {
			t.Errorf("%s and %s have the same uid", name, other)
		}
		uids[d.uid] = name
		checkDashboard(t, known, name, want)
	}
	if files, err := filepath.Glob(grafana + "/*"); err != nil || len(files) != len(uids) {
		t.Errorf("%q %v, want %d dashboards and nothing else", files, err, len(uids))
	}
}

// grafanaUnits are those of Grafana's that we use.
var grafanaUnits = []string{"short", "s", "ops", "reqps", "bytes", "percentunit"}

func checkDashboard(t *testing.T, known known, name string, text []byte) {
	t.Helper()
	var d struct {
		Panels []struct {
			ID                       int
			Type, Title, Description string
			Datasource               struct{ Type, UID string }
			FieldConfig              struct{ Defaults struct{ Unit string } }
			GridPos                  struct{ X, Y, W, H int }
			Targets                  []struct{ Expr, LegendFormat, RefID string }
		}
		Templating struct {
			List []struct {
				Name, Type string
				Query      any
			}
		}
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(d.Templating.List) == 0 || d.Templating.List[0].Type != "datasource" {
		t.Errorf("%s has no variable for the datasource", name)
	}
	variables := map[string]bool{"__rate_interval": true}
	for _, v := range d.Templating.List {
		if q, ok := v.Query.(map[string]any); ok {
			m := labelValues.FindStringSubmatch(fmt.Sprint(q["query"]))
			if m == nil {
				t.Errorf("%s: the variable %s is %v, want label_values(SERIES, LABEL)", name, v.Name, q["query"])
				continue
			}
			known.check(t, name+" "+v.Name, fmt.Sprintf("count by (%s) (%s)", m[2], substituted(t, name, m[1], variables)))
		}
		variables[v.Name] = true
	}
	ids, titles := map[int]bool{}, map[string]bool{}
	for i, p := range d.Panels {
		where := name + ": " + p.Title
		if ids[p.ID] || titles[p.Title] || p.Title == "" {
			t.Errorf("%s: its id or its title is another panel's", where)
		}
		ids[p.ID], titles[p.Title] = true, true
		for _, q := range d.Panels[:i] {
			if p.GridPos.X < q.GridPos.X+q.GridPos.W && q.GridPos.X < p.GridPos.X+p.GridPos.W && p.GridPos.Y < q.GridPos.Y+q.GridPos.H && q.GridPos.Y < p.GridPos.Y+p.GridPos.H {
				t.Errorf("%s lies on %s", where, q.Title)
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || len(p.Targets) == 0 || !slices.Contains(grafanaUnits, p.FieldConfig.Defaults.Unit) || p.Datasource.UID != "${datasource}" || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s lacks a description, a query, a unit or the datasource, or is too wide", where)
		}
		for _, q := range p.Targets {
			expr := substituted(t, where, q.Expr, variables)
			known.check(t, where, expr)
			for _, m := range legendLabel.FindAllStringSubmatch(q.LegendFormat, -1) {
				if !known.leaves(t, expr, m[1]) {
					t.Errorf("%s: the legend names %s, which %s has not", where, m[1], expr)
				}
			}
		}
	}
}

var (
	labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	legendLabel = regexp.MustCompile(`{{(\w+)}}`)
	dollar      = regexp.MustCompile(`\$(\w+)`)
)

// substituted is an expression with values in the place of Grafana's variables.
func substituted(t *testing.T, where, expr string, variables map[string]bool) string {
	t.Helper()
	return dollar.ReplaceAllStringFunc(expr, func(v string) string {
		if !variables[v[1:]] {
			t.Errorf("%s: there is no variable %s", where, v)
		}
		return "5m"
	})
}

// ofAllCells are alerts on metrics of single cells that are of what all cells share.
var ofAllCells = []string{"FairleadStreamsNearLimit"}

// TestAlertsAreOfOneCell: one of a metric that each cell has keeps the label, or what is amiss in one cell would be hidden by another or would not say where it is; and people
// read it.
func TestAlertsAreOfOneCell(t *testing.T) {
	t.Parallel()
	known := readKnown(t)
	_, alerts := rulesOf(t)
	checked := 0
	for _, a := range alerts {
		if !slices.ContainsFunc(selectors(t, a.Expr), func(s *parser.VectorSelector) bool {
			_, has := known[s.Name]["cell"]
			return has || known.sumsCells(t, s.Name)
		}) {
			continue
		}
		checked++
		if slices.Contains(ofAllCells, a.Alert) {
			continue
		}
		if !known.leaves(t, a.Expr, "cell") {
			t.Errorf("%s has no label cell: %s", a.Alert, a.Expr)
		}
		for _, s := range selectors(t, a.Expr) {
			if known.sumsCells(t, s.Name) {
				t.Errorf("%s has no label cell, and %s looks at it", s.Name, a.Alert)
			}
		}
		if text := a.Annotations["summary"]; !strings.HasSuffix(text, "{{ if $labels.cell }}, cell {{ $labels.cell }}{{ end }}") {
			t.Errorf("%s does not name the cell in its summary: %s", a.Alert, text)
		}
	}
	if checked < 15 {
		t.Errorf("%d alerts are of cells only", checked)
	}
}

// sumsCells: what a recording rule writes has lost the label cell.
func (k known) sumsCells(t *testing.T, name string) bool {
	t.Helper()
	records, _ := rulesOf(t)
	for _, r := range records {
		if _, kept := k[name]["cell"]; r.Record == name && !kept {
			return slices.ContainsFunc(selectors(t, r.Expr), func(s *parser.VectorSelector) bool { _, has := k[s.Name]["cell"]; return has })
		}
	}
	return false
}

var inhibits = regexp.MustCompile("(?s)```yaml\n(# alertmanager.yml\n.*?)```")

// TestOneCellSilencesItselfAlone: the example of docs/operate.md is of alerts that all have the label cell, and goes by it.
func TestOneCellSilencesItselfAlone(t *testing.T) {
	t.Parallel()
	known := readKnown(t)
	_, alerts := rulesOf(t)
	m := inhibits.FindStringSubmatch(read(t, root+"docs/operate.md"))
	if m == nil {
		t.Fatal("docs/operate.md has no example of Alertmanager")
	}
	var config struct {
		Rules []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
			Equal  []string `yaml:"equal"`
		} `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal([]byte(m[1]), &config); err != nil || len(config.Rules) == 0 {
		t.Fatalf("%v: %s", err, m[1])
	}
	for _, r := range config.Rules {
		if !slices.Equal(r.Equal, []string{"cell"}) {
			t.Errorf("a rule is equal in %q", r.Equal)
		}
		names := regexp.MustCompile(`Fairlead\w+`).FindAllString(strings.Join(slices.Concat(r.Source, r.Target), " "), -1)
		for _, name := range names {
			i := slices.IndexFunc(alerts, func(a rulefmt.Rule) bool { return a.Alert == name })
			if i < 0 || !known.leaves(t, alerts[i].Expr, "cell") {
				t.Errorf("there is no alert %s with the label cell", name)
			}
		}
		if len(names) < 2 {
			t.Errorf("the rule names %q", names)
		}
	}
}
