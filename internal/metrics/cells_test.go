package metrics

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
)

func cellsIn(f *dto.MetricFamily) (cells []string) {
	for _, m := range f.GetMetric() {
		i := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == "cell" })
		if i < 0 {
			cells = append(cells, "")
		} else {
			cells = append(cells, m.GetLabel()[i].GetValue())
		}
	}
	slices.Sort(cells)
	return slices.Compact(cells)
}

// TestCellsHaveSeriesOfTheirOwn: what is of one database has its cell's label in every series, what is of the process has none, and a Registry without cells is as it was.
func TestCellsHaveSeriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	ofProcess := []string{"fairlead_build_info", "fairlead_panics_total", "fairlead_certificate_expiry_timestamp_seconds", "fairlead_traces_spans_total", "fairlead_compute_slots", "fairlead_compute_running", "fairlead_compute_waiting"}
	for _, p := range []Program{API, XDS} {
		r := New(p, Config{Fleets: 3, Cells: true})
		watched(r)
		use(r)
		for _, name := range []string{"eu-1", "eu-2"} {
			c := r.Cell(name)
			watched(c)
			use(c)
		}
		if problems, err := testutil.GatherAndLint(r.set); err != nil {
			t.Fatal(problems, err)
		}
		told := gathered(t, r)
		for _, f := range r.Families() {
			if !slices.Contains(f.Of, p) || told[f.Name] == nil {
				continue
			}
			want := []string{"eu-1", "eu-2"}
			if slices.Contains(ofProcess, f.Name) || f.Section == "Streams" || f.Section == "Load of proxies" {
				want = []string{""}
			}
			if got := cellsIn(told[f.Name]); !slices.Equal(got, want) {
				t.Errorf("%s: %s is told of the cells %q, want %q", p, f.Name, got, want)
			}
			if row := tables([]Family{f}); strings.Contains(row, "`cell`") != (want[0] != "") {
				t.Errorf("%s: of the label cell docs/metrics.md says %s", p, row)
			}
		}
		if p == API && (told["fairlead_api_requests_total"] == nil || told["fairlead_compute_slots"] == nil) || p == XDS && told["fairlead_fleet_nacks_total"] == nil {
			t.Errorf("%s tells nothing", p)
		}
		if p == XDS {
			if n := len(told["fairlead_fleet_nacks_total"].GetMetric()); n > 3+1 { // the three that came first, and "other"
				t.Errorf("%d fleets have series of their own", n)
			}
		}
	}
	plain := New(API, Config{})
	use(plain)
	if got := cellsIn(gathered(t, plain)["fairlead_api_requests_total"]); !slices.Equal(got, []string{""}) {
		t.Errorf("without cells there are %q", got)
	}
}
