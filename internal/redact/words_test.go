package redact

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// old is a resource as it was written before keys had to be in Secrets.
func old(t testing.TB, value string) []byte {
	t.Helper()
	a := new(anypb.Any)
	if err := protojson.Unmarshal([]byte(`{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"redis","typed_extension_protocol_options":{"envoy.filters.network.redis_proxy":{
		"@type":"type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions","auth_password":{"inline_string":`+quoted(value)+`}}}}`), a); err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func collect(resources ...[]byte) *Values {
	v := NewValues()
	for _, r := range resources {
		v.Take(r)
	}
	return v
}

func octal(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\%03o`, s[i])
	}
	return b.String()
}

func hexEscapes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return b.String()
}

func unicodeEscapes(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// writings are the ways in which a text may be quoted.
var writings = map[string]func(string) string{
	"plain":            func(s string) string { return s },
	"escaped":          strconv.Quote,
	"escaped twice":    func(s string) string { return strconv.Quote(strconv.Quote(s)) },
	"octal":            octal,
	"hex":              hexEscapes,
	"unicode":          unicodeEscapes,
	"base64":           func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 for URLs":  func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 after one": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x" + s + "yz")) },
	"base64 after two": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("xx" + s + "y")) },
	"octal, escaped":   func(s string) string { return strconv.Quote(octal(s)) },
	"yaml":             func(s string) string { return "|\n      " + strings.ReplaceAll(s, "\n", "\n      ") },
	"the first half":   func(s string) string { return s[:len(s)/2] },
	"the last half":    func(s string) string { return s[len(s)/2:] },
}

// TestT42_WordsQuoteNoValue: however Envoy quotes the password of a resource, it is not
// kept; the rest is.
func TestT42_WordsQuoteNoValue(t *testing.T) {
	t.Parallel()
	for _, value := range []string{canary, canary + "\n\"ünïcödé\" + \\ " + canary, "hunter2"} {
		v := collect(old(t, value))
		for name, write := range writings {
			if len(value) < 8 && (strings.Contains(name, "half") || strings.Contains(name, "after")) {
				continue
			}
			text := "Error adding/updating cluster(s) redis: auth_password { inline_string: \"" + write(value) + "\" } is no good"
			got := v.Words(text)
			if i := leak(got, value); i != "" {
				t.Errorf("%s of %q: %q shows %q", name, value, got, i)
			}
			if !strings.HasPrefix(got, "Error adding/updating cluster(s) redis: auth_password { inline_string: \"") || !strings.HasSuffix(got, "} is no good") {
				t.Errorf("%s: %q lost more than the value", name, got)
			}
		}
	}
}

// TestT42_WordsBesideAValueAreKept although the value ends like what stands before them.
func TestT42_WordsBesideAValueAreKept(t *testing.T) {
	t.Parallel()
	got := collect(old(t, canary+"\nmore")).Words("password: " + canary + "\nname: a")
	if want := "password: " + Mark + "name: a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// leak returns a part of the value that stands in the text, in any of the writings.
func leak(text, value string) string {
	const much = 8
	in64 := func(before string) string {
		return base64.StdEncoding.EncodeToString([]byte(before + value))[4*len(before)/2:]
	}
	for _, form := range []string{
		value, in64(""), in64("x"), in64("xx"),
		octal(value), strings.ReplaceAll(octal(value), `\`, `\\`), hexEscapes(value), unicodeEscapes(value),
	} {
		n := min(much, len(form))
		if len(form) > 4*len(value)-1 { // escapes are longer
			n = min(3*much, len(form))
		}
		for i := 0; i+n <= len(form); i++ {
			if strings.Contains(text, form[i:i+n]) {
				return form[i : i+n]
			}
		}
	}
	return ""
}

// TestT42_WordsThatDumpTheResource in the forms in which Envoy prints messages.
func TestT42_WordsThatDumpTheResource(t *testing.T) {
	t.Parallel()
	for _, value := range []string{canary, pemKey} {
		resource := old(t, value)
		a := new(anypb.Any)
		if err := proto.Unmarshal(resource, a); err != nil {
			t.Fatal(err)
		}
		m, err := a.UnmarshalNew()
		if err != nil {
			t.Fatal(err)
		}
		v := collect(resource)
		for name, dump := range map[string]string{
			"text": prototext.Format(m), "one line": prototext.MarshalOptions{}.Format(a), "json": protojson.Format(m),
			"json in json": strconv.Quote(protojson.Format(m)),
			"unread bytes": fmt.Sprintf("type_url: %q value: %q", a.GetTypeUrl(), a.GetValue()),
			"octal bytes":  fmt.Sprintf("value: \"%s\"", octal(string(a.GetValue()))),
			"base64 bytes": base64.StdEncoding.EncodeToString(a.GetValue()),
		} {
			for cut := len(dump); cut > len(dump)-40; cut-- { // as Envoy cuts its texts
				got := v.Words("goo.gle/debugstr " + dump[:cut])
				if strings.Contains(got, canary[:8]) || strings.Contains(got, base64.StdEncoding.EncodeToString([]byte(canary))[:12]) || leak(got, value) != "" {
					t.Fatalf("%s, cut at %d: %q", name, cut, got)
				}
			}
		}
	}
}

// TestT42_KeysAreTakenOut of words, whoever wrote them.
func TestT42_KeysAreTakenOut(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"before " + pemKey + " after":                                   "before " + Mark + "\n after",
		"before -----BEGIN RSA PRIVATE KEY-----\\nMII" + canary:         "before " + Mark,
		canary + "\\n-----END PRIVATE KEY-----\\n: no":                  Mark + "\\n: no",
		"a " + base64.StdEncoding.EncodeToString([]byte(pemKey)) + " b": "a " + Mark + " b",
		pemKey + "-" + pemKey + "end":                                   Mark + "\n-" + Mark + "\nend",
		"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----":   "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
	} {
		if got := Keys(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if got := collect().Words(in); got != want {
			t.Errorf("%q, of a resource without secrets: got %q, want %q", in, got, want)
		}
	}
}

// TestT42_MoreThanCanBeLookedFor is told, so that the words are dropped.
func TestT42_MoreThanCanBeLookedFor(t *testing.T) {
	t.Parallel()
	var many [][]byte
	for i := range maxValues {
		many = append(many, old(t, canary+strconv.Itoa(i)))
	}
	if v := collect(many...); !v.Whole || len(v.values) != maxValues {
		t.Errorf("%d values: whole %v", len(v.values), v.Whole)
	}
	if v := collect(append(many, old(t, canary))...); v.Whole {
		t.Error("one value more is said to be looked for")
	}
	if v := collect(old(t, strings.Repeat("x", maxBytes+1))); v.Whole {
		t.Error("a value that is too long is said to be looked for")
	}
	if NewValues().Take(old(t, canary)) || !NewValues().Take(plain(t, 1)) || NewValues().Take([]byte("\xff")) || NewValues().Take(plain(t, maxRead)) {
		t.Error("what holds no secret, for sure, is told wrong")
	}
	if v := collect([]byte("\xff")); v.Whole {
		t.Error("what cannot be read is said to hold nothing")
	}
	if v := collect(old(t, strings.Repeat("x", maxBytes)), plain(t, maxRead-maxBytes-1_000)); !v.Whole {
		t.Error("what is few enough bytes is said to be too many")
	}
	if v := collect(plain(t, maxRead)); v.Whole {
		t.Error("too many bytes are said to be read")
	}
}

// plain is a resource of so many bytes, and some, without a secret.
func plain(t *testing.T, size int) []byte {
	t.Helper()
	a, err := anypb.New(wrapperspb.String(strings.Repeat("x", size)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzWords: whatever stands around it, the value does not survive.
func FuzzWords(f *testing.F) {
	f.Add("dump: ", " : Proto constraint validation failed", uint8(0))
	f.Add(`\`, `\1`, uint8(3))
	f.Add("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", uint8(5))
	f.Add(strings.Repeat(canary[:9], 20), canary[20:], uint8(7))
	v := collect(old(f, canary))
	names := make([]string, 0, len(writings))
	for name := range writings {
		names = append(names, name)
	}
	slices.Sort(names)
	f.Fuzz(func(t *testing.T, before, after string, how uint8) {
		if len(before)+len(after) > 8<<10 {
			return
		}
		before, after = strings.ToValidUTF8(before, "\uFFFD"), strings.ToValidUTF8(after, "\uFFFD")
		name := names[int(how)%len(names)]
		got := v.Words(before + " \"" + writings[name](canary) + "\" " + after)
		if part := leak(got, canary); part != "" {
			t.Errorf("%s: %q shows %q", name, got, part)
		}
	})
}

func BenchmarkWords(b *testing.B) {
	var resources [][]byte
	for i := range maxValues {
		resources = append(resources, old(b, canary+strings.Repeat("k", 400)+strconv.Itoa(i)))
	}
	text := strings.Repeat("a text of a client that quotes something or other, ", 160)
	b.Run("collect", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			collect(resources...)
		}
	})
	v := collect(resources...)
	b.Run("words", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v.Words(text)
		}
	})
}
