package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 365 * 24 * time.Hour
	clocksDiffer    = time.Hour // what the clock of who checks may be behind
)

// authority signs the certificates of one installation.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte // of cert
}

// openAuthority reads the authority of a folder, or makes it where there is none.
func openAuthority(dir string, now time.Time) (*authority, error) {
	certFile, keyFile := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil { //nolint:gosec // a folder needs the x; a volume comes open to all
		return nil, fmt.Errorf("make the authority's folder: %w", err)
	}
	_, errCert := os.Stat(certFile)
	_, errKey := os.Stat(keyFile)
	if errors.Is(errCert, fs.ErrNotExist) && errors.Is(errKey, fs.ErrNotExist) {
		return makeAuthority(dir, now)
	}
	chain, errCert := os.ReadFile(certFile)
	key, errKey := os.ReadFile(keyFile)
	if err := errors.Join(errCert, errKey); err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("read the authority in %s: %w", dir, err)
	}
	signer, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%s holds no authority that this command made", dir)
	}
	if now.Add(certificateLife).After(pair.Leaf.NotAfter) {
		return nil, fmt.Errorf("the authority in %s expires at %s, before what it would sign: move the folder away, sign again with another one, and give its ca.crt to every client", dir, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return &authority{pair.Leaf, signer, chain}, nil
}

func makeAuthority(dir string, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("draw the authority's key: %w", err)
	}
	a := &authority{key: key}
	a.cert = &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "Fairlead installation authority"},
		NotBefore: now.Add(-clocksDiffer), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	if a.cert, a.pem, err = a.issue(a.cert, &key.PublicKey); err != nil {
		return nil, err
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	return a, errors.Join(replace(filepath.Join(dir, "ca.key"), keyPEM, 0o400, nobodyElse), replace(filepath.Join(dir, "ca.crt"), a.pem, 0o444, nobodyElse))
}

// sign makes a certificate of a server for the names, with its key.
func (a *authority) sign(names []string, now time.Time) (chain, key []byte, ends time.Time, err error) {
	c := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: names[0]}, NotBefore: now.Add(-clocksDiffer), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, ends, fmt.Errorf("draw a certificate's key: %w", err)
	}
	if _, chain, err = a.issue(c, &private.PublicKey); err != nil {
		return nil, nil, ends, err
	}
	key, err = encodeKey(private)
	return chain, key, c.NotAfter, err
}

func (a *authority) issue(c *x509.Certificate, public *ecdsa.PublicKey) (*x509.Certificate, []byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, public, a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign the certificate of %s: %w", c.Subject.CommonName, err)
	}
	made, err := x509.ParseCertificate(der)
	return made, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// serial is 128 random bits: nobody guesses the next one, and two are never the same.
func serial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand.Read never fails
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b)
}
