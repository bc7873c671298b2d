package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// estate is one fleet of a tenant, with its own tokens and connections to the API.
type estate struct {
	*installation
	tenant, fleet string
	api           *client.ClientWithResponses
	token         string // of api
	nodeToken     string
	again         int // writes that were refused for a moment (429 and 503) and sent again
}

// found makes a tenant whose rates do not stand in a test's way, and a fleet of it.
func (w *installation) found(tenant, fleetName string, limits client.LimitsUpdate) *estate {
	w.T.Helper()
	op := w.As(w.Operator)
	made, err := op.CreateTenantWithResponse(w.T.Context(), client.TenantCreate{Slug: tenant})
	w.Made(made, err)
	most := int64(10_000_000)
	all := client.LimitsUpdate{"writes_per_minute": &most, "token_writes_per_minute": &most, "reads_per_minute": &most, "token_reads_per_minute": &most}
	for what, n := range limits {
		all[what] = n
	}
	w.limit(tenant, all)
	token, err := op.CreateTokenWithResponse(w.T.Context(), tenant, client.TokenCreate{Name: "soak", Role: client.Admin})
	w.Made(token, err)

	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	w.Whole.Cleanup(transport.CloseIdleConnections)
	api, err := client.NewClientWithResponses(w.API, client.WithHTTPClient(&http.Client{Transport: transport}), client.WithToken(token.JSON201.Token))
	world.Must(w.T, err)
	f, err := api.CreateFleetWithResponse(w.T.Context(), tenant, client.FleetCreate{Name: fleetName})
	w.Made(f, err)
	c, err := api.CreateCredentialWithResponse(w.T.Context(), tenant, fleetName, client.CredentialCreate{Nodes: "*"})
	w.Made(c, err)
	return &estate{installation: w, tenant: tenant, fleet: fleetName, api: api, token: token.JSON201.Token, nodeToken: c.JSON201.Token}
}

// limit sets limits of a tenant, as the operator does.
func (w *installation) limit(tenant string, limits client.LimitsUpdate) {
	w.T.Helper()
	l, err := w.As(w.Operator).UpdateLimitsWithResponse(w.T.Context(), tenant, limits)
	w.Made(l, err)
}

// used is how much of a limit the fleet uses.
func (e *estate) used(what string) int64 {
	e.T.Helper()
	u, err := e.api.GetFleetUsageWithResponse(e.T.Context(), e.tenant, e.fleet)
	e.Made(u, err)
	for _, l := range u.JSON200.Items {
		if string(l.What) == what && l.Used != nil {
			return *l.Used
		}
	}
	e.T.Fatalf("no use of %s is told: %s", what, u.Body)
	return 0
}

// write makes one revision.
func (e *estate) write(rs ...world.Resource) *client.WriteResult {
	e.T.Helper()
	w, again, err := e.try(e.T.Context(), rs...)
	world.Must(e.T, err)
	e.again += again
	return w
}

// try is write for any goroutine. A write that is refused for a moment is sent again for a minute, as a client should;
// again is how often.
func (e *estate) try(ctx context.Context, rs ...world.Resource) (w *client.WriteResult, again int, err error) {
	doc := world.Together(rs...)
	for until := time.Now().Add(time.Minute); ; again++ {
		r, err := e.api.ApplyWithBodyWithResponse(ctx, e.tenant, e.fleet, nil, "application/yaml", strings.NewReader(doc))
		if err != nil {
			return nil, again, err
		}
		if r.JSON200 != nil {
			return r.JSON200, again, nil
		}
		code := r.StatusCode()
		if code != http.StatusServiceUnavailable && code != http.StatusTooManyRequests || time.Now().After(until) {
			return nil, again, fmt.Errorf("the API answered %d: %s", code, r.Body)
		}
		after, _ := strconv.Atoi(r.HTTPResponse.Header.Get("Retry-After"))
		select {
		case <-time.After(time.Duration(after) * time.Second):
		case <-ctx.Done():
			return nil, again, ctx.Err()
		}
	}
}

// receiptNow asks for a receipt without waiting, and says how long the answer took.
func (e *estate) receiptNow(revision int64) (*client.Receipt, time.Duration) {
	e.T.Helper()
	began := time.Now()
	r, err := e.api.GetReceiptWithResponse(e.T.Context(), e.tenant, e.fleet, revision, nil)
	took := time.Since(began)
	world.Must(e.T, err)
	if r.StatusCode() == http.StatusServiceUnavailable {
		return nil, took
	}
	e.Made(r, nil)
	return r.JSON200, took
}

// beat is the resource that a busy fleet changes.
const beat = "beat"

// bustle changes one cluster of the fleet, time and again, and measures how long each change takes from its PUT
// until the last node has sent its ACK.
type bustle struct {
	*estate
	every time.Duration
	nodes int
	acks  chan ackOf

	mu    sync.Mutex // guards waits and puts, and again while it runs
	waits []time.Duration
	puts  []time.Duration // how long the PUTs took of these
}

type ackOf struct {
	version string
	at      time.Time
}

// bustle connects the nodes, and returns when all have the fleet.
func (e *estate) bustle(nodes int, every time.Duration, at *site) *bustle {
	e.T.Helper()
	b := &bustle{estate: e, every: every, nodes: nodes, acks: make(chan ackOf, 100*nodes)}
	first := *e.write(static(beat, "1s")).Resources[0].Version
	s := &swarm{nodes: nodes, prefix: e.fleet + "-", token: e.nodeToken, asks: []subscription{{}}, sites: []*site{at},
		took: func(version string, at time.Time) { b.acks <- ackOf{version, at} }}
	end, err := s.start(context.WithoutCancel(e.T.Context()))
	world.Must(e.T, err)
	e.Whole.Cleanup(end)
	if _, ok := b.await(first); !ok {
		e.T.FailNow()
	}
	return b
}

// await returns when the last of the nodes has ACKed the version; not ok: some did not, which is an error of the test.
func (b *bustle) await(version string) (last time.Time, ok bool) {
	deadline := time.After(time.Minute)
	for missing := b.nodes; missing > 0; {
		select {
		case a := <-b.acks:
			if a.version == version {
				missing--
				last = a.at
			}
		case <-deadline:
			b.Whole.Errorf("%d of %d nodes of the fleet %s did not take a change within a minute", missing, b.nodes, b.fleet)
			return last, false
		}
	}
	return last, true
}

// run makes changes until ctx ends.
func (b *bustle) run(ctx context.Context) {
	tick := time.NewTicker(b.every)
	defer tick.Stop()
	for count := 1; ctx.Err() == nil; count++ {
		began := time.Now()
		w, again, err := b.try(ctx, static(beat, sprintf("%d.%03ds", 1+count/1000%1000, count%1000)))
		if err != nil {
			if ctx.Err() == nil {
				b.Whole.Errorf("fleet %s: %v", b.fleet, err)
			}
			return
		}
		put := time.Since(began)
		last, ok := b.await(*w.Resources[0].Version)
		if !ok {
			return
		}
		b.mu.Lock()
		b.again += again
		b.waits = append(b.waits, last.Sub(began))
		b.puts = append(b.puts, put)
		b.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// since returns what was measured since the last time: until the last ACK, and until the answer to the PUT.
func (b *bustle) since() (waits, puts []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	waits, puts = b.waits, b.puts
	b.waits, b.puts = nil, nil
	return waits, puts
}

// sinceThen is what several measured since the last time, until the last ACK.
func sinceThen(t testing.TB, when string, others []*bustle) (all quantiles) {
	t.Helper()
	var waits, puts []time.Duration
	for _, b := range others {
		w, p := b.since()
		waits, puts = append(waits, w...), append(puts, p...)
	}
	all = quantilesOf(waits)
	t.Logf("other fleets, %s: PUT to ACK %v; the PUT alone %v", when, all, quantilesOf(puts))
	return all
}

// quantiles are of times in milliseconds.
type quantiles struct {
	n                  int
	p50, p90, p99, max float64
}

func quantilesOf(waits []time.Duration) quantiles {
	if len(waits) == 0 {
		return quantiles{}
	}
	slices.Sort(waits)
	at := func(q int) float64 { return waits[min(len(waits)*q/100, len(waits)-1)].Seconds() * 1000 }
	return quantiles{len(waits), at(50), at(90), at(99), waits[len(waits)-1].Seconds() * 1000}
}

func (q quantiles) String() string {
	return sprintf("n=%d p50 %.1f p90 %.1f p99 %.1f max %.1f ms", q.n, q.p50, q.p90, q.p99, q.max)
}
