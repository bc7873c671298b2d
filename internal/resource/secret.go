package resource

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"fairlead/internal/fleet"
)

var errNoVersionKey = fmt.Errorf("this server has no version key, so it cannot take Secrets: %w", fleet.ErrUnavailable)

// SecretSummary is what may be shown of a Secret.
type SecretSummary struct {
	// Kind is the field of the Secret that is set: tls_certificate, validation_context,
	// session_ticket_keys, generic_secret.
	Kind string
	// Subject, SANs and NotAfter are of the leaf certificate; of a validation context
	// Subject is of its first authority and NotAfter the earliest of all. They are zero
	// where the certificate is not in the Secret itself.
	Subject  string
	SANs     []string
	NotAfter time.Time
	// Fingerprint is, in hex, the SHA-256 of the certificate that Subject is of. Of all
	// else there is none: by an equal one a short secret could be found.
	Fingerprint string
}

// summarize checks what can be checked of a Secret and returns what may be shown of it.
// No error holds anything out of it.
func summarize(s *tls.Secret, p place) (*SecretSummary, error) {
	m := s.ProtoReflect()
	sum := &SecretSummary{}
	if fd := m.WhichOneof(m.Descriptor().Oneofs().ByName("type")); fd != nil {
		sum.Kind = fd.TextName()
	} else {
		return nil, fail(p.at, codeRequired, "the Secret holds nothing: set tls_certificate, validation_context, session_ticket_keys or generic_secret")
	}
	if c := s.GetTlsCertificate(); c != nil {
		return sum, sum.certificate(c, p.to(m, "tls_certificate"))
	}
	if v := s.GetValidationContext(); v != nil {
		return sum, sum.authorities(v, p.to(m, "validation_context"))
	}
	return sum, nil
}

// certificate reads the leaf and checks that the private key is its own.
func (sum *SecretSummary) certificate(c *tls.TlsCertificate, p place) error {
	m := c.ProtoReflect()
	chain, ok := inline(c.GetCertificateChain())
	if !ok {
		return nil // in a file or a variable of the proxy, or PKCS #12
	}
	at := p.to(m, "certificate_chain").at
	certs, err := parseCertificates(chain)
	if err != nil || len(certs) == 0 {
		return fail(at, codeCertificate, "this is not a chain of PEM certificates")
	}
	sum.show(certs[0])
	key, ok := inline(c.GetPrivateKey())
	if _, encrypted := inline(c.GetPassword()); !ok || encrypted {
		return nil
	}
	keyAt := p.to(m, "private_key").at
	private, err := parseKey(key)
	if errors.Is(err, fleet.ErrLimit) {
		return fail(keyAt, codeLimit, "a private key may have %d KiB, and one of RSA %d bits", maxKey>>10, maxRSA)
	}
	if errors.Is(err, errEncrypted) {
		return fail(keyAt, codeCertificate, "the private key is encrypted: write its password beside it (password: {inline_string: ...}), or the key without one, as by openssl pkey")
	}
	if err != nil {
		return fail(keyAt, codeCertificate, "this is not a PEM private key that proxies take: one of RSA, of P-256, P-384 or P-521, or of Ed25519")
	}
	public, ok := private.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(certs[0].PublicKey) {
		return fail(keyAt, codeKey, "the private key is not the one of the first certificate of the chain")
	}
	return nil
}

// authorities reads the certificates of a validation context.
func (sum *SecretSummary) authorities(v *tls.CertificateValidationContext, p place) error {
	bundle, ok := inline(v.GetTrustedCa())
	if !ok {
		return nil
	}
	certs, err := parseCertificates(bundle)
	if err != nil || len(certs) == 0 {
		return fail(p.to(v.ProtoReflect(), "trusted_ca").at, codeCertificate, "this is not a bundle of PEM certificates")
	}
	sum.show(certs[0])
	for _, c := range certs {
		if c.NotAfter.Before(sum.NotAfter) {
			sum.NotAfter = c.NotAfter.UTC()
		}
	}
	return nil
}

// maxSANs bounds what is shown; a certificate may hold thousands of names.
const maxSANs = 100

func (sum *SecretSummary) show(c *x509.Certificate) {
	print := sha256.Sum256(c.Raw)
	sum.Fingerprint = hex.EncodeToString(print[:])
	sum.Subject = subjectOf(c)
	sum.NotAfter = c.NotAfter.UTC()
	sans := slices.Concat(c.DNSNames, c.EmailAddresses)
	for _, ip := range c.IPAddresses {
		sans = append(sans, ip.String())
	}
	for _, u := range c.URIs {
		sans = append(sans, u.String())
	}
	if len(sans) > maxSANs {
		sans = sans[:maxSANs]
	}
	for i := range sans {
		sans[i] = plainText(sans[i])
	}
	sum.SANs = sans
}

// maxSubject is up to how many bytes a certificate's subject is written out: a name of many parts
// costs the square of them.
const maxSubject = 4 << 10

func subjectOf(c *x509.Certificate) string {
	if len(c.RawSubject) > maxSubject {
		return fmt.Sprintf("a subject of %d bytes", len(c.RawSubject))
	}
	return plainText(c.Subject.String())
}

// plainText makes a text out of a certificate fit for the database.
func plainText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// inline returns the content of a data source that holds it itself.
func inline(s *core.DataSource) ([]byte, bool) {
	switch v := s.GetSpecifier().(type) {
	case *core.DataSource_InlineBytes:
		return v.InlineBytes, true
	case *core.DataSource_InlineString:
		return []byte(v.InlineString), true
	}
	return nil, false
}

const (
	maxKey = 16 << 10 // bytes of a private key: one of RSA with 16,384 bits has 9,300
	maxRSA = 16_384   // bits of each number of an RSA key: proxies take no more. To check a key costs up to the cube of that
)

// errEncrypted is a private key that its password opens.
var errEncrypted = fmt.Errorf("the key is encrypted: %w", fleet.ErrInvalid)

// parseKey reads the first private key in a PEM text, in any of the usual forms.
func parseKey(in []byte) (crypto.Signer, error) {
	for b, fault := range pemBlocks(in) {
		if fault != nil {
			return nil, fleet.ErrInvalid
		}
		if len(b.Bytes) > maxKey {
			return nil, fleet.ErrLimit
		}
		var key any
		var err error
		if b.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED") {
			return nil, errEncrypted
		}
		switch b.Type {
		case "PRIVATE KEY":
			if err := boundPKCS8(b.Bytes); err != nil {
				return nil, err
			}
			key, err = x509.ParsePKCS8PrivateKey(b.Bytes)
		case "RSA PRIVATE KEY":
			if err := boundRSA(b.Bytes); err != nil {
				return nil, err
			}
			key, err = x509.ParsePKCS1PrivateKey(b.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(b.Bytes)
		default: // "EC PARAMETERS" stands before the key of some tools
			continue
		}
		signer, ok := key.(crypto.Signer)
		if err != nil || !ok {
			return nil, fleet.ErrInvalid
		}
		return signer, nil
	}
	return nil, fleet.ErrInvalid
}

// boundRSA refuses a key of RSA with a number that is too large, before anything is computed with it: a modulus alone can have 130,000 bits in maxKey.
func boundRSA(der []byte) error {
	var key struct {
		Version               int
		N                     *big.Int
		E                     int
		D, P, Q, Dp, Dq, Qinv *big.Int
	}
	if _, err := asn1.Unmarshal(der, &key); err != nil || key.Version != 0 { // of more than two primes: no proxy takes it
		return fleet.ErrInvalid
	}
	for _, n := range []*big.Int{key.N, key.D, key.P, key.Q, key.Dp, key.Dq, key.Qinv} {
		if n.BitLen() > maxRSA {
			return fleet.ErrLimit
		}
	}
	return nil
}

var oidRSA = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}

// boundPKCS8 is boundRSA where the key may be of another kind.
func boundPKCS8(der []byte) error {
	var outer struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}
	if _, err := asn1.Unmarshal(der, &outer); err != nil {
		return fleet.ErrInvalid
	}
	if outer.Algorithm.Algorithm.Equal(oidRSA) {
		return boundRSA(outer.Key)
	}
	return nil
}
