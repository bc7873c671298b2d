package xds

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/redact"
)

// maxDetail is the most that is kept of a NACK's text, in bytes.
const maxDetail = 4 << 10

// words takes out of a client's words about the response f what they quote of keys,
// passwords and tokens, before anything is done with them. Where these are more than can be
// looked for only the reason is left. It costs nothing where nobody acts on the words. Else it
// grows with the resources that are not answered for; those without a secret are decoded
// once for all streams, and of the others no more than Take takes.
func (st *stream) words(t fleet.Type, f *planner.Response, detail string) string {
	if f == nil || detail == "" {
		return ""
	}
	values := redact.NewValues()
	for r := range st.client.Quotable(t) {
		if r.Harmless() {
			continue
		}
		if values.Take(r.Encoded()) {
			r.SetHarmless()
		}
		if !values.Whole {
			break
		}
	}
	return quoteless(values, detail)
}

// quoteless takes the values out of a text.
func quoteless(values *redact.Values, detail string) string {
	if !values.Whole {
		detail = reason(detail)
	}
	if i := strings.LastIndex(detail, constraint); i >= 0 { // a key that was cut off ends there
		return values.Words(detail[:i]) + values.Words(detail[i:])
	}
	return values.Words(detail)
}

// kept makes of a client's words what may be kept: at most 4 KiB of valid text without
// control characters. The text is hostile, and of a Secret's NACK only the reason is
// kept: what Envoy dumps before it is the Secret (PROTOCOL rule 16).
func kept(t fleet.Type, detail string) string {
	if t == fleet.Secret {
		detail = reason(detail)
	}
	detail = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.TrimSpace(detail))
	if len(detail) <= maxDetail {
		return detail
	}
	cut := maxDetail
	for !utf8.RuneStart(detail[cut]) {
		cut--
	}
	return detail[:cut]
}

const constraint = ": Proto constraint validation failed"

// reason returns what can be no part of a message that Envoy dumped: all from the last
// mention of a failed constraint on; else all before the dump; else, since anything else
// may quote the Secret, the cause that follows "Failed to load ... from <inline>".
func reason(detail string) string {
	if i := strings.LastIndex(detail, constraint); i >= 0 {
		return strings.TrimPrefix(detail[i:], ": ")
	}
	before, _, dumped := strings.Cut(detail, "goo.gle/")
	if dumped || !strings.Contains(detail, "-----BEGIN") {
		return before
	}
	before, _, _ = strings.Cut(detail, "-----BEGIN")
	return before
}
