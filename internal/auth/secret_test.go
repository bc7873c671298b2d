package auth_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"fairlead/internal/auth"
)

// TestT27_SecretIsRedactedEverywhere: no way to print a Secret gives its text.
func TestT27_SecretIsRedactedEverywhere(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a91"
	s := auth.Secret(canary)
	type holder struct {
		Token auth.Secret
		Ptr   *auth.Secret
		ByKey map[string]auth.Secret
		List  []auth.Secret
	}
	h := holder{s, &s, map[string]auth.Secret{"k": s}, []auth.Secret{s}}
	var out bytes.Buffer
	for _, v := range []any{s, &s, h, &h, []any{s}, map[string]any{"k": s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%T", "%10.3s", "%U", "%t"} {
			_, _ = fmt.Fprintf(&out, verb+"\n", v)
		}
		_, _ = fmt.Fprintln(&out, v)
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(j)
		for _, l := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(l).With("with", v).Info("m", "v", v, slog.Group("g", "v", v), slog.Any("s", s))
		}
	}
	if x, err := xml.Marshal(struct{ S auth.Secret }{s}); err == nil {
		out.Write(x)
	}
	_, _ = fmt.Fprintln(&out, fmt.Errorf("with %w %v", fmt.Errorf("%s", s), s))
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprintf("% x", canary)} {
		if strings.Contains(out.String(), form) {
			i := strings.Index(out.String(), form)
			t.Errorf("the text of the secret leaks as %q: ...%s", form, out.String()[max(0, i-80):i+len(form)])
		}
	}
	if strings.Count(out.String(), "[redacted]") < 100 {
		t.Error("the test prints next to nothing")
	}
	if s.Reveal() != canary {
		t.Error("Reveal does not give the text")
	}
}
