package httpapi

import (
	"encoding/base64"
	"errors"
	"testing"
)

func TestCursorIsGoodForItsOwnListAlone(t *testing.T) {
	t.Parallel()
	c := cursor{List: "resources/clusters", Type: "clusters", Name: "a/b \"ü\"", Variant: "eu"}
	s := c.String()
	if got, err := parseCursor("resources/clusters", &s); err != nil || got != c {
		t.Errorf("parseCursor = %+v, %v", got, err)
	}
	if _, err := parseCursor("resources", &s); err == nil {
		t.Error("a cursor of another list was taken")
	}
	for name, bad := range map[string]string{
		"no base64":       "***",
		"no JSON":         base64.RawURLEncoding.EncodeToString([]byte("x")),
		"unknown field":   base64.RawURLEncoding.EncodeToString([]byte(`{"l":"nodes","z":1}`)),
		"NUL":             cursor{List: "nodes", Name: "\x00"}.String(),
		"negative number": cursor{List: "nodes", Revision: -1}.String(),
	} {
		_, err := parseCursor("nodes", &bad)
		var p *problem
		if !errors.As(err, &p) || p.status != 400 || len(p.faults) != 1 || *p.faults[0].Parameter != "cursor" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(cursor{List: "nodes", Name: "n"}.String())
	f.Add("")
	f.Add("e30")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCursor("nodes", &s)
		if err != nil || s == "" {
			return
		}
		again := c.String()
		if back, err := parseCursor("nodes", &again); err != nil || back != c {
			t.Errorf("%q is %+v and again %+v, %v", s, c, back, err)
		}
	})
}
