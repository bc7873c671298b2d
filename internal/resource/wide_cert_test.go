package resource_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"
	"time"
)

// largeKey is a Secret whose private key is one of RSA with that many bytes.
func largeKey(n int) string {
	prime := func() *big.Int {
		b := make([]byte, n/8)
		_, _ = rand.Read(b)
		b[0] |= 0xc0
		b[len(b)-1] |= 1
		return new(big.Int).SetBytes(b)
	}
	p, q, one := prime(), prime(), big.NewInt(1)
	e := big.NewInt(65537)
	d := new(big.Int).ModInverse(e, new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one)))
	if d == nil {
		return largeKey(n)
	}
	der, err := asn1.Marshal(struct {
		Version                     int
		N, E, D, P, Q, Dp, Dq, Qinv *big.Int
	}{0, new(big.Int).Mul(p, q), e, d, p, q, new(big.Int).Mod(d, new(big.Int).Sub(p, one)), new(big.Int).Mod(d, new(big.Int).Sub(q, one)), one})
	if err != nil {
		panic(err)
	}
	oneLine := func(kind string, der []byte) string {
		return strings.ReplaceAll(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})), "\n", `\n`)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	c := &x509.Certificate{SerialNumber: one, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<31, 0)}
	leaf, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return wideDocument("secrets", `"tls_certificate":{"certificate_chain":{"inline_string":"`+oneLine("CERTIFICATE", leaf)+`"},"private_key":{"inline_string":"`+oneLine("RSA PRIVATE KEY", der)+`"}}`)
}

// certificateOf is a Secret with a certificate authority whose subject has many parts.
func certificateOf(n int) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	var subject pkix.RDNSequence
	for range n / 24 {
		subject = append(subject, pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 5, 4, 11}, Value: "a"}})
	}
	raw, err := asn1.Marshal(subject)
	if err != nil {
		panic(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), RawSubject: raw, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<31, 0)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return caOf(strings.ReplaceAll(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), "\n", `\n`))
}
