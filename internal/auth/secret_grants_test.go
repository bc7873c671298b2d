package auth_test

import (
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

func TestT47_SecretGrants(t *testing.T) {
	t.Parallel()
	g := auth.SecretGrants{"api-key", "shop-*", "team=shop"}
	for name, want := range map[string]bool{"api-key": true, "api-key2": false, "api": false, "shop-": true, "shop-db": true, "shop": false, "": false, "team=shop": false, "*": false} {
		if g.Name(name) != want {
			t.Errorf("the name %q is granted: %t", name, !want)
		}
	}
	for _, c := range []struct {
		labels map[string]string
		want   bool
	}{{nil, false}, {map[string]string{"team": "shop", "a": "b"}, true}, {map[string]string{"team": "shops"}, false}, {map[string]string{"api-key": ""}, false}, {map[string]string{"shop-*": ""}, false}} {
		if g.Labels(c.labels) != c.want {
			t.Errorf("the labels %v are granted: %t", c.labels, !c.want)
		}
	}
	if all := (auth.SecretGrants{"*"}); !all.Name("") || !all.Name("x") || all.Labels(nil) || all.Labels(map[string]string{"a": "b"}) {
		t.Error("* is not all names and no label")
	}
	var none auth.SecretGrants
	if none.Name("x") || none.Name("") || none.Labels(map[string]string{"team": "shop"}) {
		t.Error("no grant grants something")
	}
}

func TestSecretGrantsAreRead(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", "*", "a*", "team=shop", "spiffe://x/y", "日本", "a b", strings.Repeat("a", 512)} {
		if err := auth.CheckSecretGrant(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a*b", "**", "=", "=x", "x=", "team=sh*", "a\x00", "a\n", "\xff", strings.Repeat("a", 513)} {
		if err := auth.CheckSecretGrant(bad); !is(err, fleet.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if i, err := auth.CheckSecretGrants([]string{"a", "a*b"}); i != 1 || err == nil {
		t.Errorf("the second: %d, %v", i, err)
	}
	if i, err := auth.CheckSecretGrants(make([]string, 101)); i != -1 || err == nil {
		t.Errorf("too many: %d, %v", i, err)
	}
}
