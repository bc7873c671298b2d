package e2e

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairlead/test/world"
)

// scraped is what a server tells on its health address.
type scraped struct {
	t    testing.TB
	text string
}

func scrape(t testing.TB, url string) scraped {
	t.Helper()
	code, text := world.Get(url)
	if code != http.StatusOK {
		t.Fatalf("%s: %d %s", url, code, text)
	}
	return scraped{t, text}
}

// of is the value of a series, which must be there.
func (s scraped) of(series string) float64 {
	s.t.Helper()
	for line := range strings.Lines(s.text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			world.Must(s.t, err)
			return v
		}
	}
	s.t.Fatalf("there is no %s in\n%s", series, s.text)
	return 0
}

// TestMetrics: with a real Envoy that takes one change and refuses another. They tell of no token, no node and no resource, and
// whoever reaches the API's own port is told none.
func TestMetrics(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		poison := poisonClusters()[1]
		r.acked(func() int64 { return r.Put(world.Cluster("a", "2s")) })
		r.awaitRefusal(r.Apply(world.Together(poison.res, world.Endpoints(poison.res.Name, world.Backend(t, poison.res.Name)))), poison.res.Name, poison.says)

		protocol := map[bool]string{true: "delta", false: "sotw"}[delta]
		xds := scrape(t, "http://"+r.xds.Logged("the ports are open", "health_address")+"/metrics")
		api := scrape(t, "http://"+r.Server.Logged("the port is open", "health_address")+"/metrics")
		for series, least := range map[string]float64{
			`fairlead_xds_acks_total{protocol="` + protocol + `",type="clusters"}`:           2,
			`fairlead_xds_nacks_total{protocol="` + protocol + `",type="clusters"}`:          1,
			`fairlead_xds_response_bytes_total{protocol="` + protocol + `",type="clusters"}`: 100,
			"fairlead_revision_commit_to_sent_seconds_count":                                 1,
			"fairlead_revision_sent_to_ack_seconds_count":                                    1,
			"fairlead_revision_commit_to_ack_seconds_count":                                  1,
			`fairlead_fleet_read_duration_seconds_count{kind="load"}`:                        1,
			`fairlead_fleet_read_duration_seconds_count{kind="catch_up"}`:                    1,
			`fairlead_report_duration_seconds_count{result="taken"}`:                         1,
			"fairlead_listener_last_heard_timestamp_seconds":                                 1e9,
			"fairlead_planner_steps_total":                                                   1,
			"go_goroutines":                                                                  1,
		} {
			if v := xds.of(series); v < least {
				t.Errorf("%s is %v, want %v at least", series, v, least)
			}
		}
		for series, want := range map[string]float64{
			`fairlead_xds_streams{client="envoy",protocol="` + protocol + `"}`: 1, "fairlead_fleets": 1, "fairlead_nodes": 1, `fairlead_xds_refused_total{reason="internal"}`: 0, "fairlead_panics_total": 0,
		} {
			if v := xds.of(series); v != want {
				t.Errorf("%s is %v, want %v", series, v, want)
			}
		}
		if v := api.of(`fairlead_api_requests_total{operation="createFleet",status="201"}`); v != 1 {
			t.Errorf("%v fleets were made", v)
		}
		for _, s := range []scraped{xds, api} {
			for _, what := range []string{r.NodeToken, r.Token, r.Operator, `"n1"`, `"edge"`, `"acme"`, poison.res.Name, poison.says} {
				if strings.Contains(s.text, what) {
					t.Errorf("the metrics tell of %s", what)
				}
			}
		}
		if code, _ := world.Get(r.API + "/metrics"); code != http.StatusNotFound {
			t.Errorf("the API's own port answers %d to who asks for metrics", code)
		}
	})
}

// devMetrics checks what the ready file of a `fairlead dev` leads to.
func devMetrics(t *testing.T, urls []string) {
	t.Helper()
	if len(urls) != 1 {
		t.Fatalf("metrics_urls %q", urls)
	}
	s := scrape(t, urls[0])
	lines := slices.Collect(strings.Lines(s.text))
	for _, begins := range []string{"fairlead_xds_streams{", "fairlead_api_requests_total{", `fairlead_build_info{go_version="go1.`, "fairlead_lease_last_renewed_timestamp_seconds "} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, begins) }) {
			t.Errorf("the metrics of fairlead dev have no %s", begins)
		}
	}
}
