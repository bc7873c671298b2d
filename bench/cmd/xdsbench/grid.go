package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead/bench/internal/load"
	"fairlead/bench/internal/xds"
)

// cell is a point of the grid.
type cell struct {
	Streams  int `json:"streams"`
	Clusters int `json:"clusters"`
	// Option is what is special about the clients, with a + between them: "own", each chooses its clusters, so that
	// no two streams share what they ask for; "node", the first request has a node of 61 kB,
	// as that of a real Envoy, and so has every poll; "cds", they ask for clusters alone, which are what changes; "shared", ten streams
	// have three connections. "" is nothing.
	Option string `json:"option,omitempty"`
}

const (
	optionOwn    = "own"
	optionNode   = "node"
	optionCDS    = "cds"
	optionShared = "shared"
	nodeBytes    = 61_000
)

func (c cell) has(option string) bool { return slices.Contains(strings.Split(c.Option, "+"), option) }

// measures reports whether a server is measured by a protocol in a cell. Who polls does so for each type by itself, and so has a stream of one type beside
// it. Neither the floor nor the incumbent changes clusters.
func (c cell) measures(server string, p xds.Protocol) bool {
	return (c.has(optionCDS) && server == ours || !c.has(optionCDS) && p != xds.REST) && !(c.has(optionShared) && p == xds.REST)
}

// connections are those that the streams share; 0: each has its own.
func (c cell) connections() int {
	if !c.has(optionShared) {
		return 0
	}
	return (3*c.Streams + 9) / 10
}

// load is what a cell asks of the clients.
func (c cell) load(p xds.Protocol) load.Config {
	cfg := load.Config{
		Protocol: p, Clients: c.Streams, Connections: c.connections(), Clusters: c.Clusters, Own: c.has(optionOwn), Only: c.has(optionCDS),
	}
	if c.has(optionNode) {
		cfg.NodeBytes = nodeBytes
	}
	return cfg
}

func (c cell) String() string {
	s := fmt.Sprintf("%dx%d", c.Streams, c.Clusters)
	if c.Option != "" {
		s += "+" + c.Option
	}
	return s
}

// parseGrid reads cells such as 100x1000,100x1000+own.
func parseGrid(s string) (grid []cell, err error) {
	for f := range strings.SplitSeq(s, ",") {
		var c cell
		size, option, _ := strings.Cut(f, "+")
		if n, err := fmt.Sscanf(size, "%dx%d", &c.Streams, &c.Clusters); err != nil || n != 2 || c.Streams < 1 || c.Clusters < 1 {
			return nil, fmt.Errorf("bad cell %q: write streams x clusters, such as 100x1000", f)
		}
		c.Option = option
		for o := range strings.SplitSeq(option, "+") {
			if option != "" && !slices.Contains([]string{optionOwn, optionNode, optionCDS, optionShared}, o) {
				return nil, fmt.Errorf("bad cell %q: behind a + stands own, node, cds or shared", f)
			}
		}
		if c.has(optionOwn) && c.has(optionCDS) {
			return nil, fmt.Errorf("bad cell %q: own and cds do not go together", f)
		}
		grid = append(grid, c)
	}
	return grid, nil
}

// compare orders cells as a table lists them.
func (c cell) compare(d cell) int {
	return cmp.Or(cmp.Compare(c.Option, d.Option), cmp.Compare(c.Streams, d.Streams), cmp.Compare(c.Clusters, d.Clusters))
}

// run is one line of the results file.
type run struct {
	Server   string  `json:"server"`
	Protocol string  `json:"protocol"`
	Cell     cell    `json:"cell"`
	Round    int     `json:"round"`
	Foreign  float64 `json:"foreign"` // share of the machine that other processes had
	Error    string  `json:"error,omitempty"`

	Result *load.Result  `json:"result,omitempty"`
	Churn  *load.Churned `json:"churn,omitempty"` // of -fleet
}

// sortedCells returns the distinct cells of the runs.
func sortedCells(runs []run) (cells []cell) {
	for _, r := range runs {
		cells = append(cells, r.Cell)
	}
	slices.SortFunc(cells, cell.compare)
	return slices.Compact(cells)
}
