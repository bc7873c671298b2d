package selector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	s, err := Parse("locality.region=eu, metadata.canary in (a, b), !metadata.old, node.id^=edge")
	if err != nil {
		t.Fatal(err)
	}
	n := fleet.Node{ID: "edge-1", Region: "us", MetadataJSON: []byte(`{"canary": "b"}`)}
	got := map[string]Finding{}
	for _, f := range s.Explain(LabelsOf(n)) {
		key := f.Requirement
		f.Requirement = ""
		got[key] = f
	}
	want := map[string]Finding{
		"locality.region=eu":       {Has: "us", Known: true},
		"metadata.canary in (a,b)": {Has: "b", Known: true, Holds: true},
		"!metadata.old":            {Holds: true},
		"node.id^=edge":            {Has: "edge-1", Known: true, Holds: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, id := range []string{"edge-1", "x"} { // all hold where it matches
		n.ID, n.Region = id, "eu"
		all := true
		for _, f := range s.Explain(LabelsOf(n)) {
			all = all && f.Holds
		}
		if all != s.Match(n) {
			t.Errorf("%s: explained as %v, matches %v", id, all, s.Match(n))
		}
	}
}
