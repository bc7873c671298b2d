package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/bench/internal/load"
	"fairlead/bench/internal/proc"
	"fairlead/bench/internal/xds"
)

// result has a CPU time of ms in each change, and of s seconds in each connect.
func result(ms, s float64, rss int64) *load.Result {
	c := load.Change{Usage: load.Usage{ServerCPU: ms / 1e3}, Latency: load.Dist{Max: ms}}
	warmUp := load.Change{Usage: load.Usage{ServerCPU: 99}, Latency: load.Dist{Max: 99_000}}
	u := load.Usage{ServerCPU: s}
	return &load.Result{
		Changes: []load.Change{warmUp, c, c}, Storm: u, Same: u, Other: u, Changed: u,
		Idle: load.Memory{Memory: proc.Memory{RSS: 1 << 20}}, Rest: load.Memory{Memory: proc.Memory{RSS: 1<<20 + rss}},
	}
}

// churned has one phase.
func churned() *load.Churned {
	use := func(cpu float64, rss int64) load.Use { return load.Use{CPU: cpu, RSS: rss << 20} }
	return &load.Churned{
		Connections: 30, Connect: 1.5, Behind: .25, Lost: 1, Loss: "it broke",
		Phases: []load.Phase{{
			Name: "before the kill", Seconds: 10, Made: 10, Pushes: 990,
			Answer: load.Dist{Count: 10, P50: 4, P99: 5, Max: 6}, ACK: load.Dist{Count: 1000, P50: 1, P99: 2, Max: 300},
			Servers: []load.Use{use(5, 7), use(2.5, 8)}, API: use(1, 9), Postgres: use(2, 10), Clients: use(3, 11),
		}},
	}
}

// TestReport: the table has medians over the rounds, each server's, with the ratio of ours to
// the floor; times of rounds in which others worked count where there are no better ones.
func TestReport(t *testing.T) {
	t.Parallel()
	small, large := cell{100, 10, ""}, cell{100, 1000, optionOwn}
	file := filepath.Join(t.TempDir(), "results.jsonl")
	var b bytes.Buffer
	for _, r := range []run{
		{Server: theFloor, Protocol: "delta", Cell: large, Result: result(10, 1, 0)},
		{Server: theFloor, Protocol: "delta", Cell: small, Result: result(10, 1, 0)},
		{Server: ours, Protocol: "delta", Cell: small, Result: result(23, 1.5, 1600<<10)},
		{Server: ours, Protocol: "delta", Cell: small, Round: 1, Foreign: 0.5, Result: result(25, 1.5, 1600<<10)},
		{Server: ours, Protocol: "delta", Cell: large, Foreign: 0.5, Result: result(53, 12, 0)},
		{Server: theIncumbent, Protocol: "delta", Cell: large, Error: "it fell over"},
		{Server: ours, Protocol: "delta", Cell: cell{100, 10, optionShared}, Churn: churned()},
	} {
		if err := json.NewEncoder(&b).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report(&out, file, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### delta: fairlead / incumbent / floor",
		"| 100x10 | 24.0 / – / 10.0 (2.1x) | 23.0 / – / 10.0 (2.3x) | 1.50 / – / 1.00 (1.5x) |",
		"| 16.0 / – / 0.00 (+16) |",
		"| 100x1000+own | 53.0 / – / 10.0 (5.0x) | ~53.0 / – / 10.0 (5.3x) | 12.0 / – / 1.00 (12x) |",
		"| CPU per change, ms | 3.5x | 5.0x | delta 100x1000+own |",
		"| 100x10+shared, delta, 30 connections | before the kill, 10 | 1.00, 99 | 4.00 / 5.00 / 6.00 | 1.00 / 2.00 / 300 | – | – | –, 0 | 50 %, 25 %, 10 %, 20 %, 30 % | 7, 8, 9, 10, 11 |",
		"- 100x10+shared, delta: all connected after 1.5 s; 0.25 s after the last change all had it; others had 0 % of the machine; connections lost: 1. it broke",
		"Failed: incumbent delta 100x1000+own: it fell over",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "p99, ms") {
		t.Error("details stand in the short table")
	}
	if strings.Count(out.String(), "100x10+shared") != 2 {
		t.Errorf("a fleet is part of the grid in\n%s", out.String())
	}
}

// TestWhatIsMeasured: a run that says nothing is left out, and if all are, that is an error.
func TestWhatIsMeasured(t *testing.T) {
	t.Parallel()
	grid, err := parseGrid("5x5,5x5+cds")
	if err != nil {
		t.Fatal(err)
	}
	b := bench{servers: "fairlead,floor", protocols: "sotw,rest", rounds: 1}
	b.churn.on = true
	if all, err := b.plan(grid[:1]); err != nil || len(all) != 1 || all[0].Server != ours {
		t.Errorf("two servers of Fairlead: %+v, %v", all, err)
	}
	b.churn.on = false
	all, err := b.plan(grid)
	var got []string
	for _, r := range all {
		got = append(got, r.Server+" "+r.Protocol+" "+r.Cell.String())
	}
	if want := []string{"fairlead sotw 5x5", "floor sotw 5x5", "fairlead sotw 5x5+cds", "fairlead rest 5x5+cds"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	b.protocols = "rest"
	if _, err := b.plan(grid[:1]); err == nil || !strings.Contains(err.Error(), "+cds") {
		t.Errorf("nothing to measure: %v", err)
	}
	b.protocols = "soap"
	if _, err := b.plan(grid); err == nil {
		t.Error("a protocol that there is not is taken")
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	grid, err := parseGrid("100x10,1000x100+own,5x5+node+cds")
	if err != nil || len(grid) != 3 || grid[1] != (cell{1000, 100, optionOwn}) || grid[2].String() != "5x5+node+cds" || !grid[2].has(optionCDS) || grid[0].has(optionCDS) {
		t.Errorf("%v, %v", grid, err)
	}
	for in, want := range map[string]int{"10x10": 0, "1x1+shared": 1, "10x10+shared": 3, "19900x100+shared": 5970, "11x10+node+shared": 4} {
		grid, err := parseGrid(in)
		if err != nil || grid[0].connections() != want || grid[0].load(xds.Delta).Connections != want || grid[0].measures(ours, xds.REST) {
			t.Errorf("%s has %d connections, want %d, %v", in, grid[0].connections(), want, err)
		}
	}
	for _, bad := range []string{"", "100", "0x10", "10x0", "10x10+all", "x", "10x10+own+cds", "10x10+node+"} {
		if _, err := parseGrid(bad); err == nil || !strings.Contains(err.Error(), "bad cell") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestRateOfPushes: so many changes are made that clients get so many pushes.
func TestRateOfPushes(t *testing.T) {
	t.Parallel()
	c := churn{duration: time.Minute, leaving: 1, away: time.Second}
	if cfg := c.config(load.Config{Clients: 1000}); cfg.Every != time.Second || !cfg.Kill || cfg.Leaving != .01 || cfg.Away != time.Second || cfg.Duration != time.Minute {
		t.Errorf("%+v", cfg)
	}
	c.pushes = 10_000
	if cfg := c.config(load.Config{Clients: 1000}); cfg.Every != 100*time.Millisecond || cfg.Kill || cfg.Leaving != 0 {
		t.Errorf("%+v", cfg)
	}
}
