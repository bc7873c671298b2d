package delivery

import (
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// TestLabelsAreToldOnce: they may be many, and the database keeps them.
func TestLabelsAreToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.Connect(w.key, fleet.Node{ID: "n", Region: "eu", MetadataJSON: []byte(`{"a":"b"}`)}, StreamInfo{Protocol: "delta ADS", View: "v1"})
		big := w.Connect(w.key, fleet.Node{ID: "big", Region: "us", MetadataJSON: []byte(`{"a":"` + strings.Repeat("b", maxLabels) + `"}`)}, StreamInfo{Protocol: "delta ADS"})
		w.sink.set(lost) // nobody knows what of the report was taken
		time.Sleep(100 * time.Millisecond)
		w.sink.set(healthy)
		time.Sleep(5 * time.Second)
		n := w.sink.model(w.key).nodes["n"]
		if l := n.Labels; l == nil || l.Region != "eu" || string(l.MetadataJSON) != `{"a":"b"}` || l.Cut || n.View != "v1" {
			t.Errorf("told %+v of labels, view %q", n.Labels, n.View)
		}
		if l := w.sink.model(w.key).nodes["big"].Labels; l == nil || l.Region != "us" || l.MetadataJSON != nil || !l.Cut {
			t.Errorf("of the large one %+v is told", l)
		}
		s.View("v2")
		time.Sleep(time.Second)
		if n := w.sink.model(w.key).nodes["n"]; n.Labels != nil || n.View != "v2" {
			t.Errorf("after the view changed: labels %+v, view %q", n.Labels, n.View)
		}
		w.sink.take()
		s.View("v2")
		time.Sleep(time.Second)
		if got := w.sink.take(); len(got) != 0 {
			t.Errorf("the same view is told again: %+v", got)
		}
		s.Close(true)
		if p, ok := w.LastStream(w.key, "n"); !ok || p.View != "v2" {
			t.Errorf("the past is %+v", p)
		}
		big.Close(true)
	})
}
