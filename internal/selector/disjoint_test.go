package selector_test

import (
	"testing"

	"fairlead/internal/selector"
)

func TestDisjoint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"locality.region=eu", "locality.region=us", true},
		{"locality.region in (eu,us)", "locality.region in (us,asia)", false},
		{"locality.region=eu,node.id=a", "node.cluster=x,locality.region notin (eu,us)", true},
		{"locality.region=eu", "locality.region!=us", false},
		{"locality.region=eu", "locality.zone=us", false},
		{"node.id^=edge-", "node.id=core-1", true},
		{"node.id^=edge-", "node.id in (core-1,edge-1)", false},
		{"node.id^=edge-", "node.id^=core-", false}, // plain to a person, and not looked for
		{"!metadata.canary", "metadata.canary", true},
		{"!metadata.canary", "metadata.canary^=t", true},
		{"!metadata.canary", "metadata.canary!=true", false},
		{"node.id", "node.id=a", false},
	} {
		a, b := parse(t, c.a), parse(t, c.b)
		if selector.Disjoint(a, b) != c.want || selector.Disjoint(b, a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}
