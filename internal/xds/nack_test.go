package xds

import (
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN EC PRIVATE KEY-----\ncanary"
	for name, c := range map[string]struct {
		t            fleet.Type
		detail, want string
	}{
		"as it is":                     {fleet.Cluster, "Error adding/updating cluster(s) a: no\n", "Error adding/updating cluster(s) a: no"},
		"escape codes":                 {fleet.Cluster, "\x1b[31mred\x00\x07", "\uFFFD[31mred\uFFFD\uFFFD"},
		"a secret's constraint":        {fleet.Secret, "goo.gle/debugstr name: \"s\" " + key + ": Proto constraint validation failed (SecretValidationError.Name)", "Proto constraint validation failed (SecretValidationError.Name)"},
		"a secret's dump":              {fleet.Secret, "wrong type goo.gle/debugstr " + key, "wrong type"},
		"a secret's own words":         {fleet.Secret, "Failed to load private key from <inline>, Cause: KEY_VALUES_MISMATCH", "Failed to load private key from <inline>, Cause: KEY_VALUES_MISMATCH"},
		"a secret without a dump mark": {fleet.Secret, "cannot parse " + key, "cannot parse"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := redact(c.t, c.detail)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.t == fleet.Secret && strings.Contains(got, "canary") {
				t.Error("the secret shows")
			}
		})
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("x: Proto constraint validation failed", uint8(0))
	f.Add(strings.Repeat("ä", 4096), uint8(2))
	f.Fuzz(func(t *testing.T, detail string, typ uint8) {
		detail = strings.ToValidUTF8(detail, "\uFFFD") // as decoded
		got := redact(fleet.Type(typ%fleet.NumTypes), detail)
		if len(got) > maxDetail || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r") {
			t.Errorf("%q became %q", detail, got)
		}
	})
}
