package selector_test

import (
	"errors"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

func TestParseLabel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]selector.Label{
		"node.cluster=edge":                      {Names: []string{"node", "cluster"}, Text: "edge"},
		"locality.sub_zone == rack-3":            {Names: []string{"locality", "sub_zone"}, Text: "rack-3"},
		"metadata.canary=true":                   {Names: []string{"metadata", "canary"}, Text: "true"},
		`metadata.app."a.example/b"="two words"`: {Names: []string{"metadata", "app", "a.example/b"}, Text: "two words"},
		`metadata.empty=""`:                      {Names: []string{"metadata", "empty"}, Text: ""},
	} {
		got, err := selector.ParseLabel(text)
		if err != nil || !slices.Equal(got.Names, want.Names) || got.Text != want.Text {
			t.Errorf("%s is read as %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "role=edge", "metadata.a", "!metadata.a", "metadata.a!=b", "metadata.a^=b", "metadata.a in (b,c)", "metadata.a=b,metadata.c=d", "metadata=a",
	} {
		if l, err := selector.ParseLabel(text); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%q is read as %+v, %v; want it refused", text, l, err)
		}
	}
}
