package main

import (
	"fmt"
	"math"
	"slices"

	"fairlead/bench/internal/load"
)

// figure is one number of a run.
type figure struct {
	name  string
	value func(cell, *load.Result) float64 // NaN: the run does not tell
	// share is Fairlead's fixed part, which the others do not have: it is taken off before a
	// ratio is made.
	share float64
	// more compares by the difference, not by the ratio.
	more bool
	// wall is spoilt by other processes, CPU time is not.
	wall bool
	// detail is left out of the short tables.
	detail bool
}

const (
	kib = 1 << 10
	mib = 1 << 20
	// databaseShare is what a change costs an xDS server to read it, in ms of CPU.
	databaseShare = 3
)

var figures = []figure{
	{name: "CPU per change, ms", share: databaseShare, value: perChange(func(c load.Change) float64 { return c.ServerCPU * 1e3 })},
	{name: "change to the last client, ms", wall: true, value: middleChange(func(c load.Change) float64 { return c.Latency.Max })},
	{name: "first connect, CPU s", value: func(_ cell, r *load.Result) float64 { return r.Storm.ServerCPU }},
	{name: "back to the same, CPU s", value: func(_ cell, r *load.Result) float64 { return r.Same.ServerCPU }},
	{name: "to another, CPU s", value: func(_ cell, r *load.Result) float64 { return r.Other.ServerCPU }},
	{name: "after a change, CPU s", value: func(_ cell, r *load.Result) float64 { return r.Changed.ServerCPU }},
	{name: "new processes after a kill, CPU s", value: func(_ cell, r *load.Result) float64 { return r.KilledAnew.ServerCPU }},
	{name: "the same after a kill, CPU s", value: func(_ cell, r *load.Result) float64 { return r.KilledSame.ServerCPU }},
	{name: "new processes after a kill, highest RSS per stream, KiB", more: true, value: func(c cell, r *load.Result) float64 { return highest(c, r.KilledAnew) }},
	{name: "the same after a kill, highest RSS per stream, KiB", more: true, value: func(c cell, r *load.Result) float64 { return highest(c, r.KilledSame) }},
	{name: "RSS per stream, KiB", more: true, value: func(c cell, r *load.Result) float64 {
		return float64(r.Rest.RSS-r.Idle.RSS) / kib / float64(c.Streams)
	}},
	{name: "heap per stream, KiB", more: true, value: func(c cell, r *load.Result) float64 {
		return float64(r.Rest.Heap-r.Idle.Heap) / kib / float64(c.Streams)
	}},

	{detail: true, name: "change to a client, p50, ms", wall: true, value: middleChange(func(c load.Change) float64 { return c.Latency.P50 })},
	{detail: true, name: "change to a client, p99, ms", wall: true, value: middleChange(func(c load.Change) float64 { return c.Latency.P99 })},
	{detail: true, name: "at rest, CPU ms in a second", value: func(_ cell, r *load.Result) float64 {
		if r.AtRest.Seconds == 0 {
			return math.NaN()
		}
		return 1e3 * r.AtRest.ServerCPU / r.AtRest.Seconds
	}},
	{detail: true, name: "received by a client per change, bytes", value: func(c cell, r *load.Result) float64 {
		return perChange(func(c load.Change) float64 { return float64(c.Received) })(c, r) / float64(c.Streams)
	}},
	{detail: true, name: "sent by a client per change, bytes", value: func(c cell, r *load.Result) float64 {
		return perChange(func(c load.Change) float64 { return float64(c.Sent) })(c, r) / float64(c.Streams)
	}},
	{detail: true, name: "first connect, all are complete, s", wall: true, value: func(_ cell, r *load.Result) float64 { return r.Storm.Seconds }},
	{detail: true, name: "first connect, received by a client, KiB", value: perClient(func(r *load.Result) int64 { return r.Storm.Received })},
	{detail: true, name: "back to the same, last byte, s", wall: true, value: func(_ cell, r *load.Result) float64 { return r.Same.LastByte }},
	{detail: true, name: "back to the same, received by a client, KiB", value: perClient(func(r *load.Result) int64 { return r.Same.Received })},
	{detail: true, name: "back to the same, at rest, s", wall: true, value: func(_ cell, r *load.Result) float64 { return r.Same.Settled }},
	{detail: true, name: "to another, at rest, s", wall: true, value: func(_ cell, r *load.Result) float64 { return r.Other.Settled }},
	{detail: true, name: "to another, last byte, s", wall: true, value: func(_ cell, r *load.Result) float64 { return r.Other.LastByte }},
	{detail: true, name: "to another, received by a client, KiB", value: perClient(func(r *load.Result) int64 { return r.Other.Received })},
	{detail: true, name: "after a change, all have it, s", wall: true, value: func(_ cell, r *load.Result) float64 { return r.Changed.Seconds }},
	{detail: true, name: "after a change, received by a client, KiB", value: perClient(func(r *load.Result) int64 { return r.Changed.Received })},
	{detail: true, name: "RSS before the clients, MiB", value: func(_ cell, r *load.Result) float64 { return float64(r.Idle.RSS) / mib }},
	{detail: true, name: "RSS, highest, MiB", value: func(_ cell, r *load.Result) float64 { return float64(r.Rest.Peak) / mib }},
	{detail: true, name: "first connect, CPU of the clients, s", value: func(_ cell, r *load.Result) float64 { return r.Storm.ClientCPU }},
}

// perChange is the mean over the changes, so that garbage collection counts; the first is a
// warm-up.
func perChange(of func(load.Change) float64) func(cell, *load.Result) float64 {
	return func(_ cell, r *load.Result) float64 {
		if len(r.Changes) < 2 {
			return math.NaN()
		}
		var sum float64
		for _, c := range r.Changes[1:] {
			sum += of(c)
		}
		return sum / float64(len(r.Changes)-1)
	}
}

// middleChange is the median over the changes but the first.
func middleChange(of func(load.Change) float64) func(cell, *load.Result) float64 {
	return func(_ cell, r *load.Result) float64 {
		if len(r.Changes) < 2 {
			return math.NaN()
		}
		var all []float64
		for _, c := range r.Changes[1:] {
			all = append(all, of(c))
		}
		return median(all)
	}
}

// highest is what the server has had at most for a stream.
func highest(c cell, k load.Killed) float64 {
	return float64(k.Rest.Peak-k.Idle.RSS) / kib / float64(c.Streams)
}

func perClient(of func(*load.Result) int64) func(cell, *load.Result) float64 {
	return func(c cell, r *load.Result) float64 { return float64(of(r)) / kib / float64(c.Streams) }
}

// median of none is NaN.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	m := len(v) / 2
	if len(v)%2 == 1 {
		return v[m]
	}
	return (v[m-1] + v[m]) / 2
}

// compare says how ours stands to the floor, ok if that can be told.
func (f figure) compare(v, floor float64) (d float64, ok bool) {
	d = v - floor
	if !f.more {
		d = max(0, v-f.share) / floor
	}
	return d, !math.IsNaN(d) && !math.IsInf(d, 0)
}

// standing renders a comparison.
func (f figure) standing(d float64) string {
	if f.more {
		return fmt.Sprintf("%+.0f", d)
	}
	if d >= 9.95 {
		return fmt.Sprintf("%.0fx", d)
	}
	return fmt.Sprintf("%.1fx", d)
}

func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
