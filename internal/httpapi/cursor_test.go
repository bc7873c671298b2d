package httpapi

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
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
		"a number alone":  base64.RawURLEncoding.EncodeToString([]byte{0}),
		"a text too few":  base64.RawURLEncoding.EncodeToString([]byte("\x00\x05nodes\x00\x00")),
		"a text too many": base64.RawURLEncoding.EncodeToString([]byte("\x00\x05nodes\x00\x00\x00\x00")),
		"cut off":         base64.RawURLEncoding.EncodeToString([]byte("\x00\x05nodes\x00\x00\x02x")),
		"an endless text": base64.RawURLEncoding.EncodeToString([]byte("\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
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

// Whatever a name holds, the server takes the cursor that it gave.
func TestTheLongestCursorIsTaken(t *testing.T) {
	t.Parallel()
	spec, err := oapi.GetSpec()
	must(t, err)
	most := *spec.Components.Parameters["CursorParam"].Value.Schema.Value.MaxLength
	name, variant := strings.Repeat("\x01", maxName), strings.Repeat("\x01", 128)
	f := findings.Finding{Ref: fleet.Ref{Name: name}, Variant: variant, Pointer: strings.Repeat("\x01", 2000), To: fleet.Ref{Name: name}, ToVariant: variant, Code: findings.MissingReference}
	key := f.Key()
	for _, c := range []cursor{{List: "findings", Key: &key}, {List: "resources/virtual-hosts", Type: "virtual-hosts", Name: name, Variant: variant}} {
		if s := c.String(); uint64(len(s)) > most {
			t.Errorf("a cursor of %s has %d characters, and %d are taken", c.List, len(s), most)
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
		if back, err := parseCursor("nodes", &again); err != nil || back.String() != again {
			t.Errorf("%q is %+v and again %+v, %v", s, c, back, err)
		}
	})
}
