package resource_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// selfSigned is a certificate of a key, and the key, as PEM.
func selfSigned(t *testing.T, key, public any) (cert, private string) {
	t.Helper()
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a"}, NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, public, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", pkcs8)
}

func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func ecdsaOf(t *testing.T, curve elliptic.Curve) (cert, private string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return selfSigned(t, key, key.Public())
}

// ofCurve writes another curve's name into a certificate, of as many bytes: nobody checks the signature.
func ofCurve(t *testing.T, cert string, was, is asn1.ObjectIdentifier) string {
	t.Helper()
	block, _ := pem.Decode([]byte(cert))
	from, err := asn1.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	to, err := asn1.Marshal(is)
	if err != nil || len(from) != len(to) || strings.Count(string(block.Bytes), string(from)) != 1 {
		t.Fatal("the curve cannot be exchanged", err)
	}
	return pemOf("CERTIFICATE", []byte(strings.Replace(string(block.Bytes), string(from), string(to), 1)))
}

// TestKeysThatEnvoyRefusesAreNamed: but for the last kind, each was seen to be refused by Envoy 1.40.
func TestKeysThatEnvoyRefusesAreNamed(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	good, key := ecdsaOf(t, elliptic.P256())
	weak, weakKey := selfSigned(t, small, small.Public())
	odd, oddKey := ecdsaOf(t, elliptic.P224())
	p384, p384Key := ecdsaOf(t, elliptic.P384())
	koblitz := ofCurve(t, p384, asn1.ObjectIdentifier{1, 3, 132, 0, 34}, asn1.ObjectIdentifier{1, 3, 132, 0, 10})
	for name, c := range map[string]struct{ chain, key, password, want string }{
		"P-256":               {good, key, "", ""},
		"RSA-1024":            {weak, weakKey, "", "/body/tls_certificate/certificate_chain: Envoy refuses the first certificate: its RSA key has 1024 bits: make one of 2048 or more"},
		"P-224":               {odd, oddKey, "", "/body/tls_certificate/certificate_chain: Envoy refuses the first certificate: its key is of the elliptic curve P-224: make one of P-256, P-384 or P-521"},
		"secp256k1":           {koblitz, p384Key, "", "/body/tls_certificate/certificate_chain: the block that begins in line 1 is a certificate of an elliptic curve that Envoy does not know, such as secp256k1: make one of P-256, P-384 or P-521: proxies refuse all of it, or go without that part; write it again from a whole copy"},
		"encrypted":           {good, pemOf("ENCRYPTED PRIVATE KEY", []byte("x")), "", "/body/tls_certificate/private_key: the private key is encrypted: write its password beside it (password: {inline_string: ...}), or the key without one, as by openssl pkey"},
		"encrypted as of old": {good, "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\neA==\n-----END RSA PRIVATE KEY-----\n", "", "/body/tls_certificate/private_key: the private key is encrypted: write its password beside it (password: {inline_string: ...}), or the key without one, as by openssl pkey"},
		"with its password":   {good, pemOf("ENCRYPTED PRIVATE KEY", []byte("x")), `, "password": {"inline_string": "p"}`, ""},
		"of another kind":     {good, pemOf("OPENSSH PRIVATE KEY", []byte("x")), "", "/body/tls_certificate/private_key: this is not a PEM private key that proxies take: one of RSA, of P-256, P-384 or P-521, or of Ed25519"},
	} {
		body := fmt.Sprintf(`{"name": "a", "tls_certificate": {"certificate_chain": {"inline_string": %s}, "private_key": {"inline_string": %s}%s}}`, jsonText(c.chain), jsonText(c.key), c.password)
		_, err := newCompiler().Compile(testKey, resource.Document{Type: fleet.Secret, Name: "a", Body: []byte(body)})
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	// what peers are checked against may be of another size
	if _, err := newCompiler().Compile(testKey, resource.Document{Type: fleet.Secret, Name: "a", Body: []byte(`{"name": "a", "validation_context": {"trusted_ca": {"inline_string": ` + jsonText(weak+odd) + `}}}`)}); err != nil {
		t.Error(err)
	}
}

func TestWhatIsProbablyAMistakeIsTold(t *testing.T) {
	t.Parallel()
	cert, key := ecdsaOf(t, elliptic.P256())
	secret := func(in string) (fleet.Type, string) {
		return fleet.Secret, `{"name": "a", "generic_secret": {"secret": {"inline_string": ` + jsonText(in) + `}}}`
	}
	endpoints := func(metadata ...string) (fleet.Type, string) {
		var out []json.RawMessage
		for _, m := range metadata {
			out = append(out, json.RawMessage(`{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}, "metadata": {"filter_metadata": {"envoy.lb": `+m+`}}}`))
		}
		all, _ := json.Marshal(out)
		return fleet.Endpoint, `{"cluster_name": "a", "endpoints": [{"lb_endpoints": ` + string(all) + `}]}`
	}
	type told struct {
		kind fleet.Type
		body string
		want string
	}
	of := func(kind fleet.Type, body string) func(string) told {
		return func(want string) told { return told{kind, body, want} }
	}
	for _, c := range []told{
		of(secret("${DB_PASSWORD}"))("unexpanded_variable /body/generic_secret/secret"),
		of(secret(" $DB_PASSWORD\n"))("unexpanded_variable /body/generic_secret/secret"),
		of(secret("{{ .Values.password }}"))("unexpanded_variable /body/generic_secret/secret"),
		of(secret("a${b}"))(""), of(secret("$2y$10$abc"))(""), of(secret("$ecret"))(""),
		{fleet.Secret, `{"name": "a", "tls_certificate": {"certificate_chain": {"inline_string": ` + jsonText(cert+key) + `}, "private_key": {"inline_string": ` + jsonText(key) + `}}}`, "key_in_chain /body/tls_certificate/certificate_chain"},
		{fleet.Secret, `{"name": "a", "validation_context": {"trusted_ca": {"inline_string": ` + jsonText(key+cert) + `}}}`, "key_in_chain /body/validation_context/trusted_ca"},
		of(endpoints(`{"v": 1, "w": "a"}`, `{"v": "1", "w": "b"}`, `{"v": 2}`))("mixed_kinds /body/endpoints/0/lb_endpoints/1/metadata/filter_metadata/envoy.lb/v"),
		of(endpoints(`{"v": 1}`, `{"v": 2, "w": "1"}`, `{"v": {"a": 1}}`))(""),
	} {
		out, err := newCompiler().Compile(testKey, resource.Document{Type: c.kind, Name: "a", Body: []byte(c.body)})
		if err != nil {
			t.Errorf("%.80s: %v", c.body, err)
			continue
		}
		if got := strings.Join(found(t, asError(out.Warnings)), ", "); got != c.want {
			t.Errorf("%.80s: %s, want %s", c.body, got, c.want)
		}
	}
}

// TestEndpointsThatEnvoyRefuses: each was seen to be refused by Envoy 1.40.
func TestEndpointsThatEnvoyRefuses(t *testing.T) {
	t.Parallel()
	const one = `{"endpoint": {"address": {"socket_address": {"address": "a.example", "port_value": 80}}}}`
	for in, want := range map[string]string{
		`"load_assignment": {"cluster_name": "a", "endpoints": [{"lb_endpoints": [{}]}]}`:                                 "required /body/load_assignment/endpoints/0/lb_endpoints/0/endpoint",
		`"type": "STATIC", "load_assignment": {"cluster_name": "a", "endpoints": [{"lb_endpoints": [{"endpoint": {}}]}]}`: "required /body/load_assignment/endpoints/0/lb_endpoints/0/endpoint",
		`"type": "STRICT_DNS", "load_assignment": {"cluster_name": "a", "endpoints": [{"lb_endpoints": [{}]}]}`:           "",
		`"type": "LOGICAL_DNS"`: "required /body/load_assignment",
		`"type": "LOGICAL_DNS", "load_assignment": {"cluster_name": "a"}`:                                                                                  "invalid_value /body/load_assignment/endpoints",
		`"type": "LOGICAL_DNS", "load_assignment": {"cluster_name": "a", "endpoints": [{"lb_endpoints": [` + one + `]}]}`:                                  "",
		`"type": "logical_dns", "load_assignment": {"cluster_name": "a", "endpoints": [{"lb_endpoints": [` + one + `, ` + one + `]}]}`:                     "invalid_value /body/load_assignment/endpoints/0/lb_endpoints",
		`"type": "LOGICAL_DNS", "load_assignment": {"cluster_name": "a", "endpoints": [{"lb_endpoints": [` + one + `]}, {"lb_endpoints": [` + one + `]}]}`: "invalid_value /body/load_assignment/endpoints",
		`"cluster_type": {"name": "own"}, "load_assignment": {"cluster_name": "a", "endpoints": [{"lb_endpoints": [{}]}]}`:                                 "",
	} {
		_, err := formed(t, fleet.Cluster, `{"name": "a", `+in+`}`, nil)
		if got := strings.Join(found(t, err), ", "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
