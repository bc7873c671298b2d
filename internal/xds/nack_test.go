package xds

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	basicauthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/basic_auth/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
	"fairlead/internal/redact"
)

func TestWordsThatAreKept(t *testing.T) {
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
			got := kept(c.t, c.detail)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.t == fleet.Secret && strings.Contains(got, "canary") {
				t.Error("the secret shows")
			}
		})
	}
}

// FuzzT42_Words: whatever a client says, it is bounded, valid, and quotes no key.
func FuzzT42_Words(f *testing.F) {
	const canary = "cAnArY-7f3a9e51-must-not-be-seen"
	body, err := anypb.New(&basicauthv3.BasicAuth{Users: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: canary}}})
	if err != nil {
		f.Fatal(err)
	}
	encoded, err := proto.Marshal(body)
	if err != nil {
		f.Fatal(err)
	}
	values := redact.NewValues()
	values.Take(encoded)
	f.Add("x", ": Proto constraint validation failed", uint8(0), uint8(0))
	f.Add(strings.Repeat("ä", 2048), "goo.gle/", uint8(2), uint8(1))
	f.Add(`\`, "-----BEGIN PRIVATE KEY-----", uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, before, after string, typ, how uint8) {
		quoted := []string{canary, strconv.Quote(canary), base64.StdEncoding.EncodeToString([]byte(canary)), canary[:16]}[how%4]
		detail := before + " " + quoted + " " + after
		detail = strings.ToValidUTF8(detail[:min(len(detail), maxWords)], "\uFFFD") // as decoded
		got := kept(fleet.Type(typ%fleet.NumTypes), quoteless(values, detail))
		if len(got) > maxDetail || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r") {
			t.Errorf("%q became %q", detail, got)
		}
		for _, part := range []string{canary[:8], canary[8:16], canary[16:24], base64.StdEncoding.EncodeToString([]byte(canary))[:12]} {
			if len(before) < maxWords-2*len(canary) && strings.Contains(got, part) {
				t.Errorf("%q shows the key: %q", detail, got)
			}
		}
	})
}
