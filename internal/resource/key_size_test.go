package resource_test

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
)

// rsaKey is an RSA key as PKCS #1 has it, whatever its numbers are.
type rsaKey struct {
	Version               int
	N                     *big.Int
	E                     int
	D, P, Q, Dp, Dq, Qinv *big.Int
}

// TestT19_KeysAreMeasuredBeforeTheyAreChecked: a modulus of 100,000 bits takes two seconds to look at, and fits into the bytes of a key. It is refused for its size,
// and so is every other number of a key.
func TestT19_KeysAreMeasuredBeforeTheyAreChecked(t *testing.T) {
	t.Parallel()
	of := func(bits uint) *big.Int { n := new(big.Int).Lsh(big.NewInt(1), bits-1); return n.SetBit(n, 0, 1) }
	small := func() rsaKey {
		return rsaKey{N: of(2048), E: 65537, D: of(2048), P: of(1024), Q: of(1024), Dp: of(1024), Dq: of(1024), Qinv: of(1024)}
	}
	for name, edit := range map[string]func(*rsaKey){
		"modulus": func(k *rsaKey) { k.N = of(100_000) }, "exponent": func(k *rsaKey) { k.D = of(100_000) },
		"prime": func(k *rsaKey) { k.P = of(100_000) }, "another prime": func(k *rsaKey) { k.Q = of(100_000) }, "coefficient": func(k *rsaKey) { k.Qinv = of(100_000) },
		"dp": func(k *rsaKey) { k.Dp = of(100_000) }, "dq": func(k *rsaKey) { k.Dq = of(100_000) }, "one bit more": func(k *rsaKey) { k.N = of(16_385) },
	} {
		k := small()
		edit(&k)
		der, err := asn1.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		wrapped, err := asn1.Marshal(struct {
			Version   int
			Algorithm pkix.AlgorithmIdentifier
			Key       []byte
		}{0, pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}, Parameters: asn1.NullRawValue}, der})
		if err != nil {
			t.Fatal(err)
		}
		chain := newECPair(t).chain
		for form, b := range map[string][]byte{"RSA PRIVATE KEY": der, "PRIVATE KEY": wrapped} {
			key := string(pem.EncodeToMemory(&pem.Block{Type: form, Bytes: b}))
			_, err := compileSecret(t, map[string]any{"tls_certificate": map[string]any{
				"certificate_chain": map[string]any{"inline_string": chain}, "private_key": map[string]any{"inline_string": key},
			}})
			if err == nil || !strings.Contains(err.Error(), "16384 bits") {
				t.Errorf("%s of a %s: %v", name, form, err)
			}
		}
	}
}
