package alerts

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/test/world"
)

const rulesFile = "../../deploy/prometheus/fairlead.rules.yaml"

// every is the time between two scrapes, by the clock of the tests' Prometheus.
const every = 30 * time.Second

// prometheus scrapes real servers at times that are made up, so that five minutes of a fault take as long as ten scrapes do. The rules are
// evaluated over what was scraped, by tools/promrules.
type prometheus struct {
	t       testing.TB
	start   time.Time
	scrapes int
	targets map[string]func() string      // by instance: the address of its metrics
	series  map[string][]string           // what was scraped, in the notation of promtool's tests
	lasting map[string]map[string]lasting // by instance and metric
	expect  []string
}

// lasting is a fault that goes on: what has an age ages by the made-up clock.
type lasting struct{ since, madeUp time.Time }

func newPrometheus(t testing.TB) *prometheus {
	t.Helper()
	p := &prometheus{t: t, start: time.Now().Truncate(time.Second), targets: map[string]func() string{}, series: map[string][]string{}, lasting: map[string]map[string]lasting{}}
	t.Cleanup(p.judge)
	return p
}

// watch has it scrape a server under a name. Another one that is given the same name takes its place.
func (p *prometheus) watch(instance string, server *world.Program, message string) {
	address := server.Logged(message, "health_address")
	p.targets[instance] = func() string { return "http://" + address + "/metrics" }
}

func (p *prometheus) watchAPI(instance string, s *world.Program) {
	p.watch(instance, s, "the port is open")
}
func (p *prometheus) watchXDS(instance string, s *world.XDS) {
	p.watch(instance, s.Program, "the ports are open")
}

func (p *prometheus) now() time.Time { return p.start.Add(time.Duration(p.scrapes) * every) }

// pass lets so much time pass, in which do is done before each scrape. A scrape is real; only its time is not.
func (p *prometheus) pass(d time.Duration, do ...func()) {
	p.t.Helper()
	for range int(d / every) {
		for _, f := range do {
			f()
		}
		p.scrape()
	}
}

// Of these metrics the age counts: of the first ones it is told, of the others when it began.
var (
	ages  = []string{"fairlead_fleets_unconfirmed_seconds", "fairlead_fleet_behind_seconds", "fairlead_report_queue_overdue_seconds"}
	since = []string{"fairlead_lease_last_renewed_timestamp_seconds", "fairlead_listener_last_heard_timestamp_seconds"}
)

// lasts waits until a metric is older than it ever is while all is well. From then on it ages with the made-up time, until over. A scrape in which it
// is younger than the fault is fails the test: it did not last.
func (p *prometheus) lasts(instance string, metrics ...string) {
	p.t.Helper()
	for _, m := range metrics {
		world.Eventually(p.t, 3*world.Soon, m+" does not age", func() bool { return p.age(instance, m) > 4*time.Second })
		if p.lasting[instance] == nil {
			p.lasting[instance] = map[string]lasting{}
		}
		p.lasting[instance][m] = lasting{time.Now(), p.now()}
	}
}

// over waits until the metrics are as they are while all is well.
func (p *prometheus) over(instance string, metrics ...string) {
	p.t.Helper()
	for _, m := range metrics {
		delete(p.lasting[instance], m)
		world.Eventually(p.t, 6*world.Soon, m+" is as old as before", func() bool { return p.age(instance, m) < 4*time.Second })
	}
}

func (p *prometheus) age(instance, metric string) (oldest time.Duration) {
	p.t.Helper()
	for series, v := range p.read(instance) {
		if name, _, _ := strings.Cut(series, "{"); name == metric {
			oldest = max(oldest, ageOf(metric, v, time.Now()))
		}
	}
	return oldest
}

func ageOf(metric string, v float64, now time.Time) time.Duration {
	if slices.Contains(since, metric) {
		return now.Sub(time.UnixMilli(int64(v * 1000)))
	}
	return time.Duration(v * float64(time.Second))
}

// patience is how long a server may take to tell of something: a collector that failed is asked again after a minute at most.
const patience = time.Minute + 3*world.Soon

// value waits until series that have all these words add up to something.
func (p *prometheus) value(instance string, holds func(sum float64) bool, words ...string) {
	p.t.Helper()
	world.Eventually(p.t, patience, fmt.Sprintf("%s tells otherwise of %q", instance, words), func() bool {
		sum := 0.0
		for series, v := range p.read(instance) {
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(series, w) }) {
				sum += v
			}
		}
		return holds(sum)
	})
}

func some(sum float64) bool { return sum > 0 }
func none(sum float64) bool { return sum == 0 }

var looksAt = regexp.MustCompile(`\b(?:fairlead|process|go)_\w+`)

// read asks a server for the metrics that the rules look at; nil: it does not answer.
func (p *prometheus) read(instance string) map[string]float64 {
	code, text := world.Get(p.targets[instance]())
	if code != http.StatusOK {
		return nil
	}
	all := map[string]float64{}
	for line := range strings.Lines(text) {
		i := strings.LastIndexByte(line, ' ')
		name, _, _ := strings.Cut(line[:max(i, 0)], "{")
		if i < 0 || !looked()[name] {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
		world.Must(p.t, err)
		all[line[:i]] = v
	}
	return all
}

// looked are the metrics that the rules look at.
var looked = sync.OnceValue(func() map[string]bool {
	b, err := os.ReadFile(rulesFile)
	if err != nil {
		panic(err)
	}
	all := map[string]bool{}
	for _, name := range looksAt.FindAllString(string(b), -1) {
		all[name] = true
	}
	return all
})

// process fails unless these servers tell what the rules look at of any process.
func (p *prometheus) process(instances ...string) {
	p.t.Helper()
	for _, instance := range instances {
		all := p.read(instance)
		for name := range looked() {
			if _, told := all[name]; !told && !strings.HasPrefix(name, "fairlead_") {
				p.t.Errorf("%s tells nothing of %s", instance, name)
			}
		}
	}
}

func (p *prometheus) scrape() {
	p.t.Helper()
	values := map[string]string{}
	for instance := range p.targets {
		all := p.read(instance)
		values[fmt.Sprintf(`up{instance=%q,job="fairlead"}`, instance)] = map[bool]string{true: "1", false: "0"}[all != nil]
		for series, v := range all {
			name, own, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
			values[fmt.Sprintf(`%s{instance=%q,job="fairlead",%s}`, name, instance, own)] = strconv.FormatFloat(p.shifted(instance, name, v), 'f', -1, 64)
		}
	}
	for series := range values {
		if _, known := p.series[series]; !known {
			p.series[series] = slices.Repeat([]string{"_"}, p.scrapes)
		}
	}
	for series, all := range p.series {
		v, told := values[series]
		if !told {
			v = "stale"
		}
		p.series[series] = append(all, v)
	}
	p.scrapes++
}

// shifted is a value by the made-up clock.
func (p *prometheus) shifted(instance, metric string, v float64) float64 {
	p.t.Helper()
	if !slices.Contains(ages, metric) && !slices.Contains(since, metric) {
		return v
	}
	now := time.Now()
	age := ageOf(metric, v, now)
	if l, ok := p.lasting[instance][metric]; ok {
		if real := now.Sub(l.since); age < real {
			p.t.Fatalf("%s of %s is %s old, and the fault has lasted for %s", metric, instance, age, real)
		}
		age += p.now().Sub(l.madeUp)
	}
	if slices.Contains(since, metric) {
		return float64(p.now().Add(-age).UnixMilli()) / 1000
	}
	return age.Seconds()
}

// fires says that of Fairlead's alerts those fire now, and no other one.
func (p *prometheus) fires(alerts ...string) {
	p.t.Helper()
	var samples []string
	for _, a := range slices.Sorted(slices.Values(alerts)) {
		samples = append(samples, fmt.Sprintf("{labels: '{alertname=%q}', value: 1}", a))
	}
	p.expect = append(p.expect, fmt.Sprintf(`      - {expr: 'count by (alertname) (ALERTS{alertstate="firing"}) >= bool 1', eval_time: %s, exp_samples: [%s]}`,
		time.Duration(max(0, p.scrapes-1))*every, strings.Join(samples, ", ")))
}

// judge evaluates the rules over all that was scraped.
func (p *prometheus) judge() {
	if p.t.Failed() {
		return
	}
	rules, err := os.Getwd()
	world.Must(p.t, err)
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [%s/%s]\nevaluation_interval: %s\ntests:\n  - name: %s\n    interval: %s\n    start_timestamp: %d\n    input_series:\n", rules, rulesFile, every, p.t.Name(), every, p.start.Unix())
	for _, series := range slices.Sorted(maps.Keys(p.series)) {
		fmt.Fprintf(&b, "      - {series: '%s', values: '%s'}\n", series, strings.Join(p.series[series], " "))
	}
	fmt.Fprintf(&b, "    promql_expr_test:\n%s\n", strings.Join(p.expect, "\n"))
	file := p.t.TempDir() + "/scraped.test.yaml"
	world.Must(p.t, os.WriteFile(file, []byte(b.String()), 0o600))
	if out, err := exec.Command(world.Bin("promrules"), "test", file).CombinedOutput(); err != nil { //nolint:gosec // it is ours
		p.t.Errorf("the alerts are other ones (%v):\n%s", err, out)
	}
}
