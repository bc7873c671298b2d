package resource_test

import (
	"bytes"
	"encoding/pem"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestABrokenBlockOfPEMIsRefused: Go passes over it, and OpenSSL, which Envoy reads with, refuses all of the text or ends before it. The line is that in which the
// block begins.
func TestABrokenBlockOfPEMIsRefused(t *testing.T) {
	t.Parallel()
	p, other := newECPair(t), newECPair(t)
	leaf, issuer := p.chain, other.chain
	line := strings.Count(leaf, "\n") + 1
	cut := func(text string, lines int) string {
		all := strings.SplitAfter(text, "\n")
		return strings.Join(all[:len(all)-1-lines], "")
	}
	issuerLines := strings.SplitAfter(issuer, "\n")
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"without its end":                {leaf + cut(issuer, 1), line, "has no end"},
		"cut in its middle":              {leaf + cut(issuer, 3), line, "has no end"},
		"cut before another":             {cut(leaf, 1) + issuer, 1, "has no end before the next one"},
		"another end":                    {leaf + strings.Replace(issuer, "END CERTIFICATE", "END CERT", 1), line, "is damaged"},
		"a letter that is no base64":     {leaf + issuerLines[0] + "?" + strings.Join(issuerLines[1:], ""), line, "is damaged"},
		"a line is missing":              {leaf + issuerLines[0] + strings.Join(issuerLines[2:], ""), line, "is no certificate"},
		"half of its first line":         {leaf + strings.Replace(issuer, "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE", 1), line, "is damaged"},
		"indented":                       {leaf + "  " + issuer, line, "is indented"},
		"bytes that are no certificate":  {leaf + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), line, "is no certificate"},
		"text between them counts":       {leaf + "# issuer\n\n" + cut(issuer, 1), line + 2, "has no end"},
		"with the line ends of a DOS":    {strings.ReplaceAll(leaf+cut(issuer, 1), "\n", "\r\n"), line, "has no end"},
		"a block that is no certificate": {leaf + "-----BEGIN X509 CRL-----\nAAAA\n", line, "has no end"},
	} {
		for where, body := range map[string]map[string]any{
			"/body/tls_certificate/certificate_chain": tlsCert(inline(c.text), inline(p.key)),
			"/body/validation_context/trusted_ca":     {"validation_context": map[string]any{"trusted_ca": inline(c.text)}},
			"/body/validation_context/crl":            {"validation_context": map[string]any{"trusted_ca": inline(leaf), "crl": inline(c.text)}},
		} {
			_, err := compileSecret(t, body)
			got := found(t, err)
			if want := "certificate_invalid " + where; !slices.Contains(got, want) {
				t.Errorf("%s: %v, want %s", name, got, want)
				continue
			}
			if says := "the block that begins in line " + strconv.Itoa(c.line) + " " + c.says; !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", name, err, says)
			}
		}
	}
}

// TestWhatOpenSSLReadsIsTaken: text around the blocks, blocks that are something else, and the older names of a certificate.
func TestWhatOpenSSLReadsIsTaken(t *testing.T) {
	t.Parallel()
	p, other := newECPair(t), newECPair(t)
	trusted := string(pem.EncodeToMemory(&pem.Block{Type: "TRUSTED CERTIFICATE", Bytes: append(bytes.Clone(other.raw), 0x30, 0)}))
	for name, text := range map[string]string{
		"text before, between and behind": "subject=a\n" + p.chain + "\nissuer: b\n" + other.chain + "the end",
		"line ends of a DOS":              strings.ReplaceAll(p.chain+other.chain, "\n", "\r\n"),
		"no line end at the end":          strings.TrimSpace(p.chain + other.chain),
		"spaces behind the lines":         strings.ReplaceAll(p.chain, "-----\n", "-----  \n"),
		"the key beside it":               p.chain + "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
		"an older name":                   strings.ReplaceAll(p.chain, " CERTIFICATE", " X509 CERTIFICATE"),
		"a trusted one":                   p.chain + trusted,
	} {
		if _, err := compileSecret(t, tlsCert(inline(text), inline("text\n"+p.key))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestABrokenCertificateInAResourceIsRefused, in any other than a Secret too.
func TestABrokenCertificateInAResourceIsRefused(t *testing.T) {
	t.Parallel()
	p := newECPair(t)
	broken := jsonText(p.chain + "-----BEGIN CERTIFICATE-----\nMIIC\n")
	for body, at := range map[string]string{
		upstreamTLS + "common_tls_context: {validation_context: {trusted_ca: {inline_string: " + broken + "}}}}}":                                                                 "/common_tls_context/validation_context/trusted_ca",
		upstreamTLS + "common_tls_context: {tls_certificates: [{certificate_chain: {inline_string: " + broken + "}, private_key: {filename: /k}}]}}}":                             "/common_tls_context/tls_certificates/0/certificate_chain",
		typedStruct + "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, value: {common_tls_context: {validation_context: {crl: {inline_string: " + broken + "}}}}}}": "/value/common_tls_context/validation_context/crl",
	} {
		_, err := compile(documentOf("clusters", body))
		if got := found(t, err); len(got) != 1 || got[0] != "certificate_invalid "+tlsAt+at {
			t.Errorf("%.200s: %v", body, got)
		}
	}
}
