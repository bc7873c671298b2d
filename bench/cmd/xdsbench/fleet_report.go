package main

import (
	"fmt"
	"io"
	"slices"

	"fairlead/bench/internal/load"
)

// churned are the runs of -fleet.
func (rs results) churned() (out results) {
	for _, r := range rs {
		if r.Churn != nil {
			out = append(out, r)
		}
	}
	return out
}

// churns prints a table with the phases of each run.
func (rs results) churns(w io.Writer) {
	if len(rs) == 0 {
		return
	}
	fmt.Fprint(w, `
### Two servers, clients that come and go

Times in ms are p50 / p99 / max. CPU is of one processor.

| streams x clusters | phase, s | changes, pushes in a second | PUT, ms | its answer to each ACK, ms | the PUT to each ACK, ms | answer to the last client, ms | back to each ACK, ms, how many | CPU: servers, API, Postgres, clients | MiB: servers, API, Postgres, clients |
|---|---|---|---|---|---|---|---|---|---|
`)
	slices.SortStableFunc(rs, func(a, b run) int { return a.Cell.compare(b.Cell) })
	for _, r := range rs {
		for _, p := range r.Churn.Phases {
			cpu, memory := shares(p)
			fmt.Fprintf(w, "| %s, %s, %d connections | %s, %.0f | %.2f, %.0f | %s | %s | %s | %s | %s, %d | %s | %s |\n",
				r.Cell, r.Protocol, r.Churn.Connections, p.Name, p.Seconds, float64(p.Made)/p.Seconds, float64(p.Pushes)/p.Seconds,
				spread(p.Answer), spread(p.ACK), spread(p.Asked), spread(p.Last), spread(p.Returned), p.Returned.Count, cpu, memory)
		}
	}
	fmt.Fprintln(w)
	for _, r := range rs {
		fmt.Fprintf(w, "- %s, %s: all connected after %.1f s; %.2f s after the last change all had it; others had %.0f %% of the machine; connections lost: %d. %s\n",
			r.Cell, r.Protocol, r.Churn.Connect, r.Churn.Behind, 100*r.Foreign, r.Churn.Lost, r.Churn.Loss)
	}
}

func spread(d load.Dist) string {
	if d.Count == 0 {
		return "–"
	}
	return number(d.P50) + " / " + number(d.P99) + " / " + number(d.Max)
}

// shares are the parts of a processor, and the memory.
func shares(p load.Phase) (cpu, memory string) {
	for i, u := range slices.Concat(p.Servers, []load.Use{p.API, p.Postgres, p.Clients}) {
		if i > 0 {
			cpu, memory = cpu+", ", memory+", "
		}
		cpu += fmt.Sprintf("%.0f %%", 100*u.CPU/p.Seconds)
		memory += fmt.Sprintf("%.0f", float64(u.RSS)/mib)
	}
	return cpu, memory
}

// progressOf is what a line about a run says.
func progressOf(c *load.Churned) (out string) {
	for _, p := range c.Phases {
		out += fmt.Sprintf(" | %s: %d changes, ACK %s ms", p.Name, p.Made, spread(p.ACK))
	}
	return out + fmt.Sprintf(" | lost %d", c.Lost)
}
