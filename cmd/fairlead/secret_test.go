package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// keyPair makes a certificate and its key, as PEM.
func keyPair(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "shop.example"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(9000 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	pk, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pk}))
}

func TestSecret(t *testing.T) {
	t.Parallel()
	w := live(t)
	c, k := keyPair(t)
	cert, key := w.file("c.pem", c), w.file("k.pem", k)
	w.on("edge", "", "secret", "tls", "web", "--cert", cert, "--key", key, "--label", "team=shop").want(t, exitOK, "revision 1: 1 resource changed\n", "")
	w.on("edge", "", "secret", "tls", "web", "--cert", cert, "--key", key).want(t, exitOK, "nothing changed; revision 1 is current\n", "")
	c2, k2 := keyPair(t)
	other, otherKey := w.file("c2.pem", c2), w.file("k2.pem", k2)
	w.on("edge", "", "secret", "tls", "web", "--cert", other, "--key", otherKey, "-m", "rotated").want(t, exitOK, "revision 2: 1 resource changed\n", "")
	w.on("edge", "", "secret", "tls", "roots", "--ca", cert).want(t, exitOK, "revision 3: 1 resource changed\n", "")
	w.on("edge", "pass", "secret", "generic", "password", "--file", "-").want(t, exitOK, "revision 4: 1 resource changed\n", "")
	got := w.on("edge", "", "get", "secrets").is(t, exitOK)
	for _, want := range []string{"name: web\nlabels:\n  team: shop\nkeep: true\n", "kind: tls_certificate", "kind: validation_context", "kind: generic_secret", "subject: \"CN=shop.example\""} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	w.on("edge", "", "secret", "tls", "web", "--cert", cert, "--key", otherKey).want(t, exitFailed, "", "fairlead: DIR/c.pem and DIR/k2.pem are not a certificate and its private key, both as PEM without a password\n")
	w.on("edge", "", "secret", "tls", "web", "--cert", cert).want(t, exitUsage, "", "fairlead: give --cert and --key, or --ca\n")
	w.on("edge", "", "secret", "tls", "web", "--cert", cert, "--key", key, "--ca", cert).want(t, exitUsage, "", "fairlead: a secret holds a certificate or authorities: write --ca under a name of its own\n")
	w.on("edge", "", "secret", "tls", "new", "--variant", "eu", "--cert", cert, "--key", key).is(t, exitFailed)
	if out := w.on("edge", "x", "secret", "generic", "new", "--file", "-", "--json").is(t, exitOK); !strings.Contains(out, "\"revision\": 5,") {
		t.Error(out)
	}
}
