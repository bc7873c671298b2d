package world

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// Certificate is a self-signed one of CN=test for 127.0.0.1, localhost and example.com, as
// PEM.
func Certificate(t testing.TB) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"localhost", "example.com"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	Must(t, err)
	pk, err := x509.MarshalECPrivateKey(k)
	Must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: pk})
}

// TLS makes a certificate, and returns the arguments by which a server shows it, and its
// file, which clients are to trust.
func (w *World) TLS() (args []string, certFile string) {
	w.T.Helper()
	cert, key := Certificate(w.T)
	certFile = w.Path("tls.crt")
	Must(w.T, os.WriteFile(certFile, cert, 0o600), os.WriteFile(w.Path("tls.key"), key, 0o600))
	return []string{"--tls-cert", certFile, "--tls-key", w.Path("tls.key")}, certFile
}

// TokenFile holds the fleet's token, without a newline at its end.
func (w *World) TokenFile() string {
	w.T.Helper()
	file := w.Path("node.token")
	Must(w.T, os.WriteFile(file, []byte(w.NodeToken), 0o600))
	return file
}
