package resource_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// pair is a certificate of its own making with its key, in PEM.
type pair struct {
	chain, key string
	raw        []byte
}

func newPair(t testing.TB, key crypto.Signer, keyType string, keyBytes []byte, edit ...func(*x509.Certificate)) pair {
	t.Helper()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(7),
		Subject:      pkix.Name{CommonName: "www.example.com", Organization: []string{"Shop"}},
		DNSNames:     []string{"www.example.com", "example.com"},
		IPAddresses:  []net.IP{net.IPv4(10, 0, 0, 1)},
		NotBefore:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for _, e := range edit {
		e(tmpl)
	}
	raw, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		chain: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})),
		key:   string(pem.EncodeToMemory(&pem.Block{Type: keyType, Bytes: keyBytes})),
		raw:   raw,
	}
}

func newECPair(t testing.TB, edit ...func(*x509.Certificate)) pair {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return newPair(t, k, "EC PRIVATE KEY", b, edit...)
}

// secretDoc is a document of a Secret with this body, as JSON.
func compileSecret(t testing.TB, body map[string]any) (resource.Compiled, error) {
	t.Helper()
	body["name"] = "www"
	j, err := json.Marshal(map[string]any{"type": "secrets", "name": "www", "body": body})
	if err != nil {
		t.Fatal(err)
	}
	d, err := resource.ParseDocument(j)
	if err != nil {
		t.Fatal(err)
	}
	return newCompiler().Compile(testKey, d)
}

func inline(s string) map[string]any { return map[string]any{"inline_string": s} }

func tlsCert(chain, key any) map[string]any {
	return map[string]any{"tls_certificate": map[string]any{"certificate_chain": chain, "private_key": key}}
}

func TestSecretSummary(t *testing.T) {
	t.Parallel()
	p, other := newECPair(t), newECPair(t)
	sum := sha256.Sum256(p.raw)
	want := &resource.SecretSummary{
		Kind: "tls_certificate", Subject: "CN=www.example.com,O=Shop", SANs: []string{"www.example.com", "example.com", "10.0.0.1"},
		NotAfter: time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC), Fingerprint: hex.EncodeToString(sum[:]),
	}
	inBytes := map[string]any{"inline_bytes": base64.StdEncoding.EncodeToString([]byte(p.chain + other.chain))}
	c, err := compileSecret(t, tlsCert(inBytes, inline("junk before\n"+p.key)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Secret); diff != "" || !c.Sensitive {
		t.Error(diff)
	}
	want.Kind = "validation_context"
	c, err = compileSecret(t, map[string]any{"validation_context": map[string]any{"trusted_ca": inline(p.chain + other.chain)}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Secret); diff != "" {
		t.Error(diff)
	}
	for kind, body := range map[string]map[string]any{
		"tls_certificate":     tlsCert(map[string]any{"filename": "/a"}, map[string]any{"environment_variable": "K"}),
		"validation_context":  {"validation_context": map[string]any{}},
		"session_ticket_keys": {"session_ticket_keys": map[string]any{"keys": []any{map[string]any{"inline_bytes": strings.Repeat("QUFB", 80)}}}},
		"generic_secret":      {"generic_secret": map[string]any{"secret": inline("x")}},
	} {
		c, err := compileSecret(t, body)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if s := c.Secret; s.Kind != kind || s.Fingerprint != "" || s.Subject != "" || s.SANs != nil || !s.NotAfter.IsZero() {
			t.Errorf("%s: %+v", kind, s)
		}
	}
	if c := mustCompile(t, "{type: clusters, name: a, body: {name: a}}"); c.Secret != nil || c.Sensitive {
		t.Error("a cluster is a secret")
	}
}

func TestEveryKindOfKey(t *testing.T) {
	t.Parallel()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	edBytes, err := x509.MarshalPKCS8PrivateKey(ed)
	if err != nil {
		t.Fatal(err)
	}
	rsaBytes, err := x509.MarshalPKCS8PrivateKey(r)
	if err != nil {
		t.Fatal(err)
	}
	params := string(pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8}}))
	ec := newECPair(t)
	ec.key = params + ec.key
	for i, p := range []pair{
		newPair(t, ed, "PRIVATE KEY", edBytes), newPair(t, r, "PRIVATE KEY", rsaBytes),
		newPair(t, r, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(r)), ec,
	} {
		if _, err := compileSecret(t, tlsCert(inline(p.chain), inline(p.key))); err != nil {
			t.Errorf("pair %d: %v", i, err)
		}
	}
}

func TestBadSecrets(t *testing.T) {
	t.Parallel()
	p, other := newECPair(t), newECPair(t)
	const chainAt, keyAt = " /body/tls_certificate/certificate_chain", " /body/tls_certificate/private_key"
	for name, c := range map[string]struct {
		body map[string]any
		want string
	}{
		"another's key":         {tlsCert(inline(p.chain), inline(other.key)), "key_mismatch" + keyAt},
		"key of the second":     {tlsCert(inline(p.chain+other.chain), inline(other.key)), "key_mismatch" + keyAt},
		"no key":                {tlsCert(inline(p.chain), inline(p.chain)), "certificate_invalid" + keyAt},
		"a damaged key":         {tlsCert(inline(p.chain), inline(strings.Replace(p.key, "MH", "MX", 1))), "certificate_invalid" + keyAt},
		"no certificate":        {tlsCert(inline("hello"), inline(p.key)), "certificate_invalid" + chainAt},
		"a damaged certificate": {tlsCert(inline(strings.Replace(p.chain, "MII", "MIX", 1)), inline(p.key)), "certificate_invalid" + chainAt},
		"no authority":          {map[string]any{"validation_context": map[string]any{"trusted_ca": inline("x")}}, "certificate_invalid /body/validation_context/trusted_ca"},
		"nothing":               {map[string]any{}, "required /body"},
	} {
		_, err := compileSecret(t, c.body)
		if got := found(t, err); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	withPassword := tlsCert(inline(p.chain), inline("encrypted"))
	withPassword["tls_certificate"].(map[string]any)["password"] = inline("x")
	if _, err := compileSecret(t, withPassword); err != nil {
		t.Errorf("a key that only its password opens: %v", err)
	}
}

// TestT27_SecretsAreInNoText: the canary stands in every place of a Secret where a
// person might put it, right or wrong, and in no error and no text of any type.
func TestT27_SecretsAreInNoText(t *testing.T) {
	t.Parallel()
	const canary = "CANARY7f3a91"
	p := newECPair(t)
	bodies := []string{
		`{"name":"www","generic_secret":{"secret":{"inline_string":"` + canary + `"}}}`,
		`{"name":"www","generic_secret":{"secret":"` + canary + `"}}`,
		`{"name":"www","generic_secret":{"secret":{"inline_bytes":"` + canary + `!"}}}`,
		`{"name":"www","generic_secret":{"secret":{"inline_string":{"` + canary + `":1}}}}`,
		`{"name":"www","generic_secret":{"` + canary + `":1}}`,
		`{"name":"www","` + canary + `":1}`,
		`{"name":"` + canary + `"}`,
		`{"name":"www","tls_certificate":{"private_key":{"inline_string":"` + canary + `"},"certificate_chain":{"inline_string":"` + canary + `"}}}`,
		`{"name":"www","tls_certificate":{"private_key":{"inline_string":"` + canary + `"},"certificate_chain":{"inline_string":` + jsonText(p.chain) + `}}}`,
		`{"name":"www","tls_certificate":{"private_key":{"inline_string":"` + canary + `","filename":"` + canary + `"}}}`,
		`{"name":"www","tls_certificate":{"private_key":{"filename":"","inline_string":null}}}`,
		`{"name":"www","tls_certificate":{"password":{"inline_string":"` + canary + `"},"private_key_provider":{"provider_name":"` + canary + `","typed_config":{"@type":"` + canary + `"}}}}`,
		`{"name":"www","tls_certificate":{"private_key_provider":{"provider_name":"x","typed_config":{"@type":"type.googleapis.com/envoy.` + canary + `.v2.X","a":"` + canary + `"}}}}`,
		`{"name":"www","tls_certificate":{"private_key_provider":{"typed_config":{"@type":"type.googleapis.com/google.protobuf.StringValue","value":"` + canary + `"}}}}`,
		`{"name":"www","session_ticket_keys":{"keys":[{"inline_string":"` + canary + `"},{"environment_variable":""}]}}`,
		`{"name":"www","validation_context":{"trusted_ca":{"inline_string":"` + canary + `"},"verify_certificate_hash":["` + canary + `"],"match_typed_subject_alt_names":[{"san_type":"` + canary + `"},{"san_type":"DNS","matcher":{"safe_regex":{"regex":"` + canary + `("}}}]}}`,
		`{"name":"www","validation_context":{"max_verify_depth":"` + canary + `","only_verify_leaf_cert_crl":"` + canary + `"}}`,
	}
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, nil))
	texts := slog.New(slog.NewTextHandler(&out, nil))
	print := func(v any) {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X"} {
			_, _ = fmt.Fprintf(&out, verb+"\n", v)
		}
		logger.Info("m", "v", v)
		texts.Info("m", "v", v)
	}
	refused := 0
	for _, body := range bodies {
		d, err := resource.ParseDocument([]byte(`{"type":"secrets","name":"www","body":` + body + `}`))
		if err != nil {
			t.Fatal(err)
		}
		c, err := newCompiler().Compile(testKey, d)
		if err != nil {
			refused++
			var errs resource.Errors
			if !errors.As(err, &errs) || errs[0].Detail == "" {
				t.Errorf("%s: %v", body, err)
			}
			print(err)
			print(errs)
		}
		a, err := resource.ParseApply([]byte(`{"resources":[{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",` + body[1:] + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(body, `"name":"`+canary) { // a name is no secret
			for _, v := range []any{d, &d, c, &c, a, []resource.Compiled{c}, c.Secret, c.Derived} {
				print(v)
			}
		}
		if _, err := resource.Render(fleet.Secret, c.Value); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("a Secret was rendered: %v", err)
		} else {
			print(err)
		}
	}
	if refused < len(bodies)-2 {
		t.Errorf("only %d of %d bodies were refused: the test says little", refused, len(bodies))
	}
	for _, form := range []string{canary, hex.EncodeToString([]byte(canary)), strings.ToUpper(hex.EncodeToString([]byte(canary))), base64.StdEncoding.EncodeToString([]byte(canary))[:14], strings.Trim(fmt.Sprintf("%d", []byte(canary)), "[]")} {
		if i := strings.Index(out.String(), form); i >= 0 {
			t.Errorf("the canary leaks: ...%s", out.String()[max(0, i-200):min(out.Len(), i+len(form)+40)])
		}
	}
}

// TestT27_YAMLErrorsHoldNoValue: the reader does not know yet what is a Secret.
func TestT27_YAMLErrorsHoldNoValue(t *testing.T) {
	t.Parallel()
	const canary = "CANARY7f3a91"
	for _, in := range []string{
		"a: *" + canary, "a: &" + canary + " [*" + canary + "]", "a: !ignore " + canary, "<<: " + canary, "{<<: [{}, " + canary + "]}", "a: '" + canary, "a: \"" + canary + "\\q\"", "a: [" + canary,
		"a: " + canary + ": x", "a: |\n  " + canary + "\n b: x", "%" + canary + " 1\n---\na", "{? [" + canary + "] : 1}", "a: @" + canary, "a: `" + canary,
		"%TAG ! " + canary + "\n---\na: *x", "a:\n\t" + canary, "- " + canary + "\nb: 1", "a: \"" + canary + "\xff\"",
		"a: 1\n---\n*" + canary,
	} {
		_, err := resource.ToJSON(resource.YAML, []byte(in))
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", in, err)
		}
	}
	for _, in := range []string{`{"a":"` + canary + `\q"}`, `{"a":` + canary + `}`, `{"a":"` + canary, `{"a":"` + canary + "\n" + `"}`} {
		_, err := resource.ToJSON(resource.JSON, []byte(in))
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestDecoderErrorsHaveAPlace: what only protobuf's decoder notices is placed by the
// line and column that it names, and reduced for a Secret.
func TestDecoderErrorsHaveAPlace(t *testing.T) {
	t.Parallel()
	body := []byte("{\"name\": \"ä\", \n \"a\": [1, {\"b\": \"CANARY\"}]}")
	for in, want := range map[string]string{
		"proto:\u00a0(line 2:19): invalid value CANARY":    "/body/a/1/b",
		"proto: (line 2:13): unknown field CANARY":         "/body/a/1/b",
		"proto: syntax error (line 2:8): unexpected token": "/body/a/0",
		"proto: (line 1:11): x":                            "/body/name",
		"proto: (line 9:9): x":                             "/body",
		"proto:\u00a0exceeded max recursion depth":         "/body",
		"something else":                                   "/body",
	} {
		for _, hide := range []bool{false, true} {
			err := resource.DecodeErrorForTest(errors.New(in), body, hide)
			if got := found(t, err); len(got) != 1 || got[0] != "invalid_value "+want {
				t.Errorf("%q: %v, want %s", in, got, want)
			}
			if strings.Contains(err.Error(), "proto:") || hide && strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%q, hidden %t: %v", in, hide, err)
			}
		}
	}
}

func jsonText(s string) string { b, _ := json.Marshal(s); return string(b) }
