package metrics

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
)

func newKey() fleet.Key { return fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()} }

// use counts something in everything that there is.
func use(r *Registry) {
	for i, agent := range []string{"envoy", "gRPC Go", "gRPC C-core linux", "gRPC Java", "gRPC Node Pure JS", "fairlead-sync-envoy", "something"} {
		s := r.Streams.Open(Protocol(i%numProtocols), agent, newKey())
		for t := range fleet.Type(numTypes) {
			s.Request(t)
			s.Response(t, 100)
			s.ACK(t)
			s.NACK(t)
		}
		s.Stands(true, Kept{fleet.CauseSealed: true})
		s.Close()
	}
	for reason := range Reason(numReasons) {
		r.Streams.Refused(reason)
	}
	r.Streams.Unserved()
	r.Streams.Polled(fleet.Cluster, 100)
	r.Requests.Begin()
	r.Requests.End(Answer{Operation: "getFleet", Status: http.StatusNotFound, Problem: "not_found", Took: time.Millisecond})
	r.Requests.Follow()()
	r.Requests.Computes(true, false, time.Second)
	r.Requests.OperatorTokensEnd(time.Now())
	r.Delivery.Sent(time.Millisecond, nil)
	r.Delivery.Acknowledged(time.Millisecond, time.Microsecond, nil)
	r.Delivery.Reported(true, time.Millisecond)
	r.Delivery.Renewed(false)
	r.Held.Loaded(time.Second)
	r.Held.CaughtUp(time.Second)
	r.Held.Failed()
	r.Held.Notified()
	for _, reason := range fleet.DeniedReasons() {
		r.Held.Denied(reason)
	}
	r.Loads.Add(newKey(), &load.Report{Clusters: []load.Cluster{{
		Name: "a", Localities: []load.Locality{{Place: load.At("eu", "", ""), Issued: 1}}, Drops: []load.Drop{{Count: 1}}, Metrics: []load.Metric{{Name: "queue", Count: 1, Total: 1}},
	}}}, time.Second)
	r.Audit.Delivered("webhook", true, time.Second)
	r.Audit.Failing("webhook", 1)
	for _, p := range []Program{API, XDS} {
		for l := range Lane(numLanes) {
			r.Database(p).Waited(l, time.Millisecond)
			r.Database(p).Worked(l, time.Millisecond)
		}
		for f := range Failure(numFailures) {
			r.Database(p).Failed(f)
		}
	}
}

// watched has something to tell of everything that is read.
func watched(r *Registry) {
	now := time.Now()
	r.Streams.Watch(func() Planned { return Planned{Steps: 2, Walks: 1, Positions: 1, Bytes: 100} })
	r.Requests.Watch(func() ComputeState { return ComputeState{Slots: 2} })
	r.Delivery.Watch(func() DeliveryState {
		return DeliveryState{Fleets: []FleetState{{newKey(), 2, 1, time.Second}}, Queued: 1, Renewed: now}
	})
	r.Held.Watch(func() HeldState {
		return HeldState{Fleets: 1, Listens: true, Heard: now, Ends: now, MostStreams: 20_000}
	})
	r.Certificate.Watch(func() time.Time { return now })
	for _, p := range []Program{API, XDS} {
		r.Database(p).Watch(func() []PoolState { return []PoolState{{Pool: "shared", Maximum: 10}} })
	}
}

// gathered are the families of a scrape by name.
func gathered(t testing.TB, r *Registry) map[string]*dto.MetricFamily {
	t.Helper()
	all, err := r.set.Gather()
	if err != nil {
		t.Fatal(err)
	}
	by := make(map[string]*dto.MetricFamily, len(all))
	for _, f := range all {
		by[f.GetName()] = f
	}
	return by
}

// sum adds up the series of a family that have these labels, in pairs.
func sum(f *dto.MetricFamily, labels ...string) (total float64) {
	for _, m := range f.GetMetric() {
		has := func(name, value string) bool {
			return slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == name && l.GetValue() == value })
		}
		all := true
		for i := 0; i < len(labels); i += 2 {
			all = all && has(labels[i], labels[i+1])
		}
		if all {
			total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return total
}

// Every metric is told by the programs that it is of, under a name as Prometheus has them, with the labels that are declared.
func TestNamesAreAsPrometheusHasThem(t *testing.T) {
	t.Parallel()
	for _, p := range []Program{API, XDS, Dev} {
		r := New(p, Config{Fleets: 3, LoadClusters: 2, Version: "v1.2.3"})
		watched(r)
		use(r)
		problems, err := testutil.GatherAndLint(r.set)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range problems {
			if strings.HasPrefix(x.Metric, "fairlead_") {
				t.Errorf("%s: %s: %s", p, x.Metric, x.Text)
			}
		}
		told := gathered(t, r)
		for _, f := range r.Families() {
			of := p == Dev || slices.Contains(f.Of, p)
			x, ok := told[f.Name]
			switch {
			case !strings.HasPrefix(f.Name, "fairlead_"):
				t.Errorf("%s does not begin with fairlead_", f.Name)
			case of != ok:
				t.Errorf("%s tells of %s: %t, want %t", p, f.Name, ok, of)
			case ok && x.GetHelp() != f.Help:
				t.Errorf("%s says of %s %q", p, f.Name, x.GetHelp())
			case ok:
				checkLabels(t, f, x)
			}
			delete(told, f.Name)
		}
		for name := range told {
			if strings.HasPrefix(name, "fairlead_") {
				t.Errorf("%s tells of %s, which is not declared", p, name)
			}
		}
		if told["go_goroutines"] == nil {
			t.Errorf("%s tells nothing of the runtime", p)
		}
	}
}

func checkLabels(t *testing.T, f Family, x *dto.MetricFamily) {
	t.Helper()
	if got := Kind(strings.ToLower(x.GetType().String())); got != f.Kind {
		t.Errorf("%s is a %s, want a %s", f.Name, got, f.Kind)
	}
	var want []string
	for _, l := range f.Labels {
		want = append(want, l.Name)
	}
	slices.Sort(want)
	for _, m := range x.GetMetric() {
		var got []string
		for _, l := range m.GetLabel() {
			got = append(got, l.GetName())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the labels %q, want %q", f.Name, got, want)
		}
	}
}

func TestFleetsBeyondTheBoundAreOther(t *testing.T) {
	t.Parallel()
	r := New(XDS, Config{Fleets: 200})
	var streams []Stream
	var first fleet.Key
	for i := range 1000 {
		key := newKey()
		if i == 0 {
			first = key
		}
		s := r.Streams.Open(Delta, "envoy", key)
		s.NACK(fleet.Cluster)
		streams = append(streams, s)
	}
	again := r.Streams.Open(SotW, "envoy", first) // it has a place
	all := gathered(t, r)
	open, nacks := all["fairlead_fleet_streams"], all["fairlead_fleet_nacks_total"]
	if len(open.GetMetric()) != 201 || len(nacks.GetMetric()) != 201 {
		t.Errorf("%d and %d series, want 201", len(open.GetMetric()), len(nacks.GetMetric()))
	}
	if o, n, f := sum(open, "fleet", other, "tenant", other), sum(nacks, "fleet", other), sum(open, "fleet", first.Fleet.String(), "tenant", first.Tenant.String()); o != 800 || n != 800 || f != 2 {
		t.Errorf("others have %v streams and %v NACKs, the first one %v streams; want 800, 800, 2", o, n, f)
	}
	again.Close()
	for i := range streams {
		streams[i].Close()
		streams[i].Close() // a second time it is nothing
	}
	all = gathered(t, r)
	if f, s := sum(all["fairlead_fleet_streams"]), sum(all["fairlead_xds_streams"]); f != 0 || s != 0 {
		t.Errorf("%v streams of fleets and %v in all are left", f, s)
	}
}

func TestClientsAreKnownByTheirNodes(t *testing.T) {
	t.Parallel()
	r := New(XDS, Config{})
	for agent, want := range map[string]string{
		"envoy": "envoy", "gRPC Go": "grpc-go", "gRPC C-core linux": "grpc-c++", "gRPC Java": "grpc-java", "gRPC Node Pure JS": "grpc-node",
		"fairlead-sync": "fairlead-sync", "fairlead-sync-envoy": "fairlead-sync", "": other, "canary\nenvoy": other,
	} {
		s := r.Streams.Open(REST, agent, newKey())
		if got := sum(gathered(t, r)["fairlead_xds_streams"], "client", want, "protocol", "rest"); got != 1 {
			t.Errorf("%q: %v streams of %s", agent, got, want)
		}
		s.Close()
	}
}

// A stream that refuses something, or from which something is kept, is counted as long as that lasts, and not beyond its end.
func TestWhatStandsIsCounted(t *testing.T) {
	t.Parallel()
	r, key := New(XDS, Config{Fleets: 1}), newKey()
	want := func(when string, refusing, sealed, missing float64) {
		t.Helper()
		all := gathered(t, r)
		withheld := all["fairlead_xds_streams_withheld"]
		if a, b, c := sum(all["fairlead_fleet_streams_refusing"], "fleet", key.Fleet.String()), sum(withheld, "reason", "sealed"), sum(withheld, "reason", "missing"); a != refusing || b != sealed || c != missing {
			t.Errorf("%s: %v refuse, from %v something sealed is kept, from %v what misses something; want %v, %v, %v", when, a, b, c, refusing, sealed, missing)
		}
	}
	a, b := r.Streams.Open(Delta, "envoy", key), r.Streams.Open(SotW, "envoy", key)
	a.Stands(true, Kept{fleet.CauseSealed: true})
	a.Stands(true, Kept{fleet.CauseSealed: true})
	b.Stands(true, Kept{fleet.CauseMissing: true})
	want("both", 2, 1, 1)
	a.Stands(false, Kept{fleet.CauseMissing: true})
	want("one refuses nothing any more", 1, 0, 2)
	a.Close()
	b.Close()
	b.Stands(true, Kept{fleet.CauseSealed: true})
	want("both are gone", 0, 0, 0)
}

// Without a connection for notifications nothing is told of it: nobody is to take it for one that is deaf.
func TestWhoPollsIsNotDeaf(t *testing.T) {
	t.Parallel()
	for _, listens := range []bool{true, false} {
		r := New(XDS, Config{})
		r.Held.Watch(func() HeldState { return HeldState{Listens: listens} })
		if _, told := gathered(t, r)["fairlead_listener_last_heard_timestamp_seconds"]; told != listens {
			t.Errorf("listens: %t, told: %t", listens, told)
		}
	}
}

// A scrape may come while all else goes on, and scrapes may come at once.
func TestScrapesWhileStreamsComeAndGo(t *testing.T) {
	t.Parallel()
	r := New(Dev, Config{Fleets: 5, LoadClusters: 5, Logger: slog.New(slog.DiscardHandler)})
	watched(r)
	h := r.Handler()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				use(r)
			}
		})
		wg.Go(func() {
			for range 20 {
				if code, _ := get(h, ""); code != http.StatusOK {
					t.Errorf("a scrape is answered %d", code)
				}
			}
		})
	}
	wg.Wait()
	if got := sum(gathered(t, r)["fairlead_xds_unserved_types_total"]); got != 200 {
		t.Errorf("%v are counted, want 200", got)
	}
}

func get(h http.Handler, accept string) (code int, body string) {
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// Who asks in protobuf gets native histograms beside the classic ones.
func TestHistogramsAreNativeToo(t *testing.T) {
	t.Parallel()
	r := New(API, Config{})
	use(r)
	h := gathered(t, r)["fairlead_api_request_duration_seconds"].GetMetric()[0].GetHistogram()
	if len(h.GetBucket()) != len(apiBuckets) || h.Schema == nil || len(h.GetPositiveSpan()) != 1 {
		t.Errorf("%d classic buckets, schema %v, spans %v", len(h.GetBucket()), h.Schema, h.GetPositiveSpan())
	}
	if _, text := get(r.Handler(), ""); !strings.Contains(text, `fairlead_api_request_duration_seconds_bucket{operation="getFleet",le="0.005"} 1`) {
		t.Errorf("the text has no classic bucket:\n%s", text)
	}
	if _, binary := get(r.Handler(), "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"); strings.Contains(binary, "# HELP") || !strings.Contains(binary, "fairlead_api_requests_total") {
		t.Error("who asks in protobuf is answered in text")
	}
}

// What breaks in one metric keeps back no other one.
func TestABrokenMetricKeepsBackNoOther(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	r := New(XDS, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s := r.section("Broken", XDS, XDS)
	s.reads(func(chan<- prometheus.Metric) { panic("scripted") }, s.value("fairlead_broken_total", Counter, "It panics."))
	code, text := get(r.Handler(), "")
	if code != http.StatusOK || !strings.Contains(text, "fairlead_build_info{") || strings.Contains(text, "fairlead_broken_total") {
		t.Errorf("%d:\n%s", code, text)
	}
	if !strings.Contains(log.String(), "metrics are missing from a scrape") || !strings.Contains(log.String(), "scripted") {
		t.Errorf("logged: %s", log.String())
	}
}

// BenchmarkMessages is what metrics cost of one change on one stream: a response, and its ACK.
func BenchmarkMessages(b *testing.B) {
	r := New(XDS, Config{Fleets: DefaultFleets})
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		s := r.Streams.Open(Delta, "envoy", newKey())
		for p.Next() {
			s.Response(fleet.Cluster, 1000)
			s.Request(fleet.Cluster)
			s.ACK(fleet.Cluster)
		}
	})
}

// BenchmarkWay is what they cost of one revision on its way to one node.
func BenchmarkWay(b *testing.B) {
	r := New(XDS, Config{})
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for i := 0; p.Next(); i++ {
			r.Delivery.Sent(time.Duration(i%100)*time.Millisecond, nil)
			r.Delivery.Acknowledged(time.Duration(i%200)*time.Millisecond, time.Duration(i%50)*time.Millisecond, nil)
		}
	})
}

// BenchmarkScrape is one of a server with 10,000 streams of 1,000 fleets.
func BenchmarkScrape(b *testing.B) {
	r := New(Dev, Config{Fleets: DefaultFleets})
	h := crowded(r)
	b.ReportAllocs()
	for b.Loop() {
		if code, _ := get(h, ""); code != http.StatusOK {
			b.Fatal(code)
		}
	}
}

// crowded has 10,000 streams of 1,000 fleets, and requests of 150 operations.
func crowded(r *Registry) http.Handler {
	watched(r)
	use(r)
	fleets := make([]FleetState, 1000)
	r.Delivery.Watch(func() DeliveryState { return DeliveryState{Fleets: fleets} })
	for i := range fleets {
		key := newKey()
		fleets[i] = FleetState{Key: key, Nodes: 10, Behind: 1, For: time.Second}
		for range 10 {
			s := r.Streams.Open(Delta, "envoy", key)
			s.NACK(fleet.Cluster)
		}
	}
	for i := range 150 {
		for _, status := range []int{200, 400, 404} {
			r.Requests.Begin()
			r.Requests.End(Answer{Operation: fmt.Sprint("operation", i), Status: status, Took: time.Millisecond})
		}
	}
	return r.Handler()
}

// 10,000 streams of 1,000 fleets have no more series than a scrape is to have.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	r := New(Dev, Config{Fleets: DefaultFleets})
	_, text := get(crowded(r), "")
	series := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			series++
		}
	}
	if series > 5000 || series < 1000 {
		t.Errorf("%d series, want 5,000 at most", series)
	}
	t.Logf("%d series, %d bytes", series, len(text))
}
