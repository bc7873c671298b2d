package resource

import (
	"bytes"
	"crypto/dsa" //nolint:staticcheck // it is to be told
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"iter"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// pemFault is what is wrong with a PEM text, and in which of its lines the block begins that it is about. It holds nothing of the text.
type pemFault struct {
	line int
	what string
}

func (f *pemFault) Error() string {
	return fmt.Sprintf("the block that begins in line %d %s", f.line, f.what)
}

var (
	pemBeginLine = []byte("-----BEGIN")
	pemEndLine   = []byte("-----END")
)

// pemBlocks yields the blocks of a text in their order, each with the line in which it begins; a block that cannot be read is a fault, and
// the last that is yielded. Go passes over such a block, and OpenSSL refuses the whole text: a chain would be taken for a shorter one. What
// stands between blocks counts for neither. Its cost is linear in the text.
func pemBlocks(in []byte) iter.Seq2[pemBlock, *pemFault] {
	return func(yield func(pemBlock, *pemFault) bool) {
		for line := 1; len(in) > 0; line++ {
			text, after, _ := bytes.Cut(in, []byte("\n"))
			if !bytes.HasPrefix(bytes.TrimLeft(text, " \t"), pemBeginLine) {
				in = after
				continue
			}
			size, lines, what := pemExtent(in)
			var block *pem.Block
			if what == "" {
				var left []byte
				if block, left = pem.Decode(in[:size]); block == nil || len(bytes.TrimSpace(left)) > 0 {
					what = "is damaged"
				}
			}
			if what != "" {
				yield(pemBlock{}, &pemFault{line, what})
				return
			}
			if !yield(pemBlock{block, line}, nil) {
				return
			}
			in, line = in[size:], line+lines-1
		}
	}
}

// CheckPEM returns an error for a text of which a block cannot be read. It names the line in which the block begins, and repeats nothing.
func CheckPEM(in []byte) error {
	for _, fault := range pemBlocks(in) {
		if fault != nil {
			return fault
		}
	}
	return nil
}

type pemBlock struct {
	*pem.Block
	line int
}

// pemExtent tells how far the block reaches with which a text begins: bytes and lines, with the line of its end; or what is wrong with it.
func pemExtent(in []byte) (size, lines int, what string) {
	if in[0] != pemBeginLine[0] {
		return 0, 0, "is indented, so that it is ignored"
	}
	for rest := in; len(rest) > 0; {
		text, after, _ := bytes.Cut(rest, []byte("\n"))
		size, rest, lines = size+len(rest)-len(after), after, lines+1
		switch {
		case lines > 1 && bytes.HasPrefix(bytes.TrimLeft(text, " \t"), pemBeginLine):
			return 0, 0, "has no end before the next one"
		case bytes.HasPrefix(text, pemEndLine):
			return size, lines, ""
		}
	}
	return 0, 0, "has no end"
}

// The blocks that hold a certificate. Behind a trusted one stands what it is trusted for.
const (
	pemCertificate    = "CERTIFICATE"
	pemOldCertificate = "X509 CERTIFICATE"
	pemTrusted        = "TRUSTED CERTIFICATE"
)

// parseCertificates reads the certificates of a chain or bundle; the error, a *pemFault, is about the first block that cannot be read.
func parseCertificates(in []byte) (certs []*x509.Certificate, err error) {
	for b, fault := range pemBlocks(in) {
		if fault != nil {
			return nil, fault
		}
		der := b.Bytes
		switch b.Type {
		case pemTrusted:
			var first asn1.RawValue
			if _, err := asn1.Unmarshal(der, &first); err == nil {
				der = first.FullBytes
			}
		case pemCertificate, pemOldCertificate:
		default:
			continue
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, &pemFault{b.line, notParsed(err)}
		}
		certs = append(certs, c)
	}
	return certs, nil
}

// notParsed says why a certificate cannot be read; the parser's words hold nothing of it.
func notParsed(err error) string {
	if strings.Contains(err.Error(), "unsupported elliptic curve") {
		return "is a certificate of an elliptic curve that Envoy does not know, such as secp256k1: make one of P-256, P-384 or P-521"
	}
	return "is no certificate"
}

// leastRSA is the size of the smallest RSA key that Envoy takes, in bits.
const leastRSA = 2048

// unusable says why Envoy does not take a certificate for a proxy's own, "" if it does.
func unusable(c *x509.Certificate) string {
	switch key := c.PublicKey.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < leastRSA {
			return fmt.Sprintf("its RSA key has %d bits: make one of %d or more", bits, leastRSA)
		}
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P224() {
			return "its key is of the elliptic curve P-224: make one of P-256, P-384 or P-521"
		}
	case *dsa.PublicKey: //nolint:staticcheck // it is to be told
		return "its key is of DSA: make one of P-256, P-384 or P-521"
	}
	return ""
}

// pems refuses certificates, authorities and revocation lists of which a part could not be read. Without any block nothing is said of them here.
func (r *report) pems(m protoreflect.Message, p place) {
	if warnUnchecked[m.Descriptor().FullName()] {
		walkTyped(m, p, r.typed, func(m protoreflect.Message, n *node, at *path, _ bool) { r.pems(m, place{n, at}) })
		return
	}
	switch v := m.Interface().(type) {
	case *tls.TlsCertificate:
		r.pem(v.GetCertificateChain(), p, m, "certificate_chain")
	case *tls.CertificateValidationContext:
		r.pem(v.GetTrustedCa(), p, m, "trusted_ca")
		r.pem(v.GetCrl(), p, m, "crl")
	}
}

func (r *report) pem(s *core.DataSource, p place, m protoreflect.Message, field protoreflect.Name) {
	text, ok := inline(s)
	if !ok {
		return
	}
	certs, err := parseCertificates(text)
	if err != nil {
		r.add(p.to(m, field).at, codeCertificate, "%v: proxies refuse all of it, or go without that part; write it again from a whole copy", err)
		return
	}
	if field == "certificate_chain" && len(certs) > 0 {
		if why := unusable(certs[0]); why != "" {
			r.add(p.to(m, field).at, codeCertificate, "Envoy refuses the first certificate: %s", why)
		}
	}
}
