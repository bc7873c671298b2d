package replica

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// BenchmarkMemoryOfRefusals is what 10,000 nodes cost that refuse one resource, against as
// many that refuse none: their targets are interned, so the ratio stays below 1.2
// (SEMANTICS 3.1).
func BenchmarkMemoryOfRefusals(b *testing.B) {
	var ratio float64
	for b.Loop() {
		healthy, refusing := heapOf(b, false), heapOf(b, true)
		ratio = float64(refusing) / float64(healthy)
		b.ReportMetric(float64(healthy)/10_000, "B/node")
		b.ReportMetric(float64(refusing)/10_000, "B/refusing-node")
	}
	b.ReportMetric(ratio, "ratio")
	if ratio > 1.2 {
		b.Errorf("nodes that refuse one resource take %.2f of what others do", ratio)
	}
}

// heapOf returns what 10,000 attachments keep alive, in bytes.
func heapOf(b *testing.B, refuse bool) uint64 {
	b.Helper()
	w := setup(b)
	defer w.stop()
	key := w.feed.add()
	rows := make([]fleet.Row, 1000)
	for i := range rows {
		rows[i] = cluster(fmt.Sprint("cluster-", i), "1")
	}
	w.feed.write(key, rows...)
	id, _ := w.newCredential(key, "*", time.Time{})
	all := make([]*attachment, 10_000)
	w.feed.pasts = map[string]fleet.LastStream{} // of a node that is known nobody is told first
	for i := range all {
		w.feed.pasts[fmt.Sprint("node-", i)] = fleet.LastStream{Known: true, Clean: true}
	}
	before := alive()
	for i := range all {
		all[i] = w.attachWhenRunning(id, fmt.Sprint("node-", i))
		all[i].Settled(1)
	}
	if refuse {
		for _, a := range all {
			a.owner.except(a, snapshot.Verdict{Type: fleet.Cluster, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Cluster, Refused: a.Current().Types[fleet.Cluster].Get("cluster-7")}}})
		}
	}
	after := alive()
	runtime.KeepAlive(all)
	if after < before {
		b.Fatal("the heap shrank")
	}
	return after - before
}

func alive() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
