package auth_test

import (
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

func TestNodePattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, id string
		want        bool
	}{
		{"*", "anything", true}, {"*", "", false},
		{"edge-1", "edge-1", true}, {"edge-1", "edge-10", false}, {"edge-1", "Edge-1", false}, {"edge-1", "", false},
		{"edge-*", "edge-", true}, {"edge-*", "edge-7", true}, {"edge-*", "edge", false}, {"edge-*", "xedge-7", false},
		{"a/b*", "a/b~10.0.0.1", true}, {"\u00e9*", "\u00e91", true}, {"\u00e9*", "e\u03011", false}, // composed is not decomposed
	} {
		p, err := auth.ParseNodePattern(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		if p.Match(c.id) != c.want || p.String() != c.pattern {
			t.Errorf("pattern %q (%s) matches %q: %t", c.pattern, p, c.id, !c.want)
		}
	}
	for _, bad := range []string{"", "a*b", "**", "*a", "a\x00", "a\n*", "\xff", strings.Repeat("a", 513)} {
		if _, err := auth.ParseNodePattern(bad); !is(err, fleet.ErrInvalid) {
			t.Errorf("pattern %q is accepted: %v", bad, err)
		}
	}
	if (auth.NodePattern{}).Match("x") || (auth.NodePattern{}).Match("") {
		t.Error("the zero pattern admits a node")
	}
}

func FuzzParseNodePattern(f *testing.F) {
	f.Add("edge-*", "edge-1")
	f.Add("*", "")
	f.Fuzz(func(t *testing.T, pattern, id string) {
		p, err := auth.ParseNodePattern(pattern)
		if err != nil {
			return
		}
		again, err := auth.ParseNodePattern(p.String())
		if err != nil || again != p || again.Match(id) != p.Match(id) {
			t.Errorf("%q does not survive being written: %v %v", pattern, again, err)
		}
	})
}
