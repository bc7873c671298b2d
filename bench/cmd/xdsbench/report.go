package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

// maxForeign is the share of the machine that other processes may have had in a run whose
// wall times count.
const maxForeign = 0.1

// results are the runs of a file.
type results []run

// report prints what a file of results says, in Markdown: a table for each protocol, then how
// Fairlead stands to the floor over all cells.
func report(w io.Writer, file string, detail bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var all results
	for d := json.NewDecoder(f); ; {
		var r run
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, r)
	}
	churned := all.churned()
	grid := slices.DeleteFunc(slices.Clone(all), func(r run) bool { return r.Churn != nil })
	for _, p := range grid.protocols() {
		grid.of(p).table(w, p, detail)
	}
	grid.summary(w)
	churned.churns(w)
	all.failures(w)
	return nil
}

func (rs results) protocols() (ps []string) {
	for _, r := range rs {
		if !slices.Contains(ps, r.Protocol) {
			ps = append(ps, r.Protocol)
		}
	}
	return ps
}

func (rs results) of(protocol string) (out results) {
	for _, r := range rs {
		if r.Protocol == protocol {
			out = append(out, r)
		}
	}
	return out
}

// servers are those of the runs: ours first, the floor last.
func (rs results) servers() (out []string) {
	for _, s := range []string{ours, theIncumbent, incumbentNodes, theFloor} {
		if slices.ContainsFunc(rs, func(r run) bool { return r.Server == s }) {
			out = append(out, s)
		}
	}
	return out
}

// value is the median over the rounds. Wall times of runs beside which others worked count
// only where there are none without: then clean is false.
func (rs results) value(f figure, server string, c cell) (v float64, clean bool) {
	var good, any []float64
	for _, r := range rs {
		if r.Server != server || r.Cell != c || r.Result == nil {
			continue
		}
		v := f.value(c, r.Result)
		any = append(any, v)
		if r.Foreign <= maxForeign {
			good = append(good, v)
		}
	}
	if f.wall && len(good) > 0 {
		return median(good), true
	}
	return median(any), !f.wall
}

func (rs results) table(w io.Writer, protocol string, detail bool) {
	servers := rs.servers()
	fmt.Fprintf(w, "\n### %s: %s\n\n| streams x clusters |", protocol, strings.Join(servers, " / "))
	lines := "|---|"
	for _, f := range figures {
		if !f.detail || detail {
			fmt.Fprintf(w, " %s |", f.name)
			lines += "---|"
		}
	}
	fmt.Fprintf(w, "\n%s\n", lines)
	for _, c := range sortedCells(rs) {
		fmt.Fprintf(w, "| %s |", c)
		for _, f := range figures {
			if !f.detail || detail {
				fmt.Fprintf(w, " %s |", rs.entry(f, servers, c))
			}
		}
		fmt.Fprintln(w)
	}
}

// entry has the value of each server, and how the first stands to the floor.
func (rs results) entry(f figure, servers []string, c cell) string {
	var values []string
	for _, s := range servers {
		v, clean := rs.value(f, s, c)
		mark := ""
		if !clean && !math.IsNaN(v) {
			mark = "~"
		}
		values = append(values, mark+number(v))
	}
	out := strings.Join(values, " / ")
	if d, ok := rs.standing(f, servers[0], c); ok && servers[0] != theFloor {
		out += " (" + f.standing(d) + ")"
	}
	return out
}

func (rs results) standing(f figure, server string, c cell) (float64, bool) {
	v, _ := rs.value(f, server, c)
	floor, _ := rs.value(f, theFloor, c)
	return f.compare(v, floor)
}

// summary says how every server but the floor stands to it: the median over the cells of both
// protocols, and the worst.
func (rs results) summary(w io.Writer) {
	type place struct {
		d     float64
		where string
	}
	for _, s := range rs.servers() {
		if s == theFloor || !slices.Contains(rs.servers(), theFloor) {
			continue
		}
		fmt.Fprintf(w, "\n### %s to the floor\n\n| figure | median | worst | where |\n|---|---|---|---|\n", s)
		for _, f := range figures {
			if s != ours {
				f.share = 0
			}
			var all []float64
			var worst place
			for _, p := range rs.protocols() {
				of := rs.of(p)
				for _, c := range sortedCells(of) {
					if d, ok := of.standing(f, s, c); ok {
						if all = append(all, d); len(all) == 1 || d > worst.d {
							worst = place{d, p + " " + c.String()}
						}
					}
				}
			}
			if !f.detail && len(all) > 0 {
				fmt.Fprintf(w, "| %s | %s | %s | %s |\n", f.name, f.standing(median(all)), f.standing(worst.d), worst.where)
			}
		}
	}
}

func (rs results) failures(w io.Writer) {
	for _, r := range rs {
		if r.Error != "" {
			fmt.Fprintf(w, "\nFailed: %s %s %s: %s\n", r.Server, r.Protocol, r.Cell, r.Error)
		}
	}
}

// progress is one line about a run.
func (r run) progress() string {
	out := fmt.Sprintf("%d %-15s %-5s %-14s", r.Round, r.Server, r.Protocol, r.Cell)
	if r.Churn != nil {
		return out + progressOf(r.Churn)
	}
	if r.Result == nil {
		return out + " " + r.Error
	}
	for _, f := range figures {
		if !f.detail {
			out += fmt.Sprintf(" | %s %s", f.name, number(f.value(r.Cell, r.Result)))
		}
	}
	return out + fmt.Sprintf(" | others had %.0f %%", 100*r.Foreign)
}
