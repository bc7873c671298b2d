package seal_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/seal"
)

type world struct {
	keys   seal.Keys
	sealer *seal.Sealer
	opener *seal.Opener
	place  seal.Context
}

func setup(t testing.TB) world {
	t.Helper()
	k, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	s, err := seal.NewSealer(k.Public)
	if err != nil {
		t.Fatal(err)
	}
	o, err := seal.NewOpener(k.Private)
	if err != nil {
		t.Fatal(err)
	}
	return world{k, s, o, seal.Context{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID(), Name: "tls/www", Version: "v1"}}
}

func (w world) seal(t testing.TB, plain string) []byte {
	t.Helper()
	b, err := w.sealer.Seal(w.place, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealOpens(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, plain := range []string{"", "x", strings.Repeat("key ", 5000)} {
		sealed := w.seal(t, plain)
		got, err := w.opener.Open(w.place, sealed)
		if err != nil || string(got) != plain {
			t.Errorf("opened %q, %v", got, err)
		}
		if len(plain) > 3 && bytes.Contains(sealed, []byte("key ")) {
			t.Error("the plaintext stands in what was sealed")
		}
		if bytes.Equal(sealed, w.seal(t, plain)) {
			t.Error("sealed twice, the bytes are the same")
		}
	}
	if w.sealer.KeyID() != w.opener.KeyID() {
		t.Error("the two halves of a pair have two ids")
	}
}

// TestT28_CopiedRowDoesNotOpen: what was sealed for one place opens in no other.
func TestT28_CopiedRowDoesNotOpen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	sealed := w.seal(t, "canary")
	for name, move := range map[string]func(*seal.Context){
		"tenant":            func(c *seal.Context) { c.Tenant = fleet.NewTenantID() },
		"fleet":             func(c *seal.Context) { c.Fleet = fleet.NewID() },
		"name":              func(c *seal.Context) { c.Name = "tls/ww" },
		"version":           func(c *seal.Context) { c.Version = "v2" },
		"a shifted border":  func(c *seal.Context) { c.Name, c.Version = "tls/wwwv", "1" },
		"tenant and fleet":  func(c *seal.Context) { c.Tenant, c.Fleet = fleet.TenantID(c.Fleet), fleet.ID(c.Tenant) },
		"an empty version":  func(c *seal.Context) { c.Version = "" },
		"the empty context": func(c *seal.Context) { *c = seal.Context{} },
	} {
		other := w.place
		move(&other)
		assertClosed(t, name, w.opener, other, sealed)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	w, stranger := setup(t), setup(t)
	sealed := w.seal(t, "canary")
	assertClosed(t, "another key", stranger.opener, w.place, sealed)
	forged := bytes.Clone(sealed)
	copy(forged[1:9], stranger.seal(t, "x")[1:9])
	assertClosed(t, "another key with its id written over", stranger.opener, w.place, forged)
	for n := range sealed {
		assertClosed(t, fmt.Sprintf("cut to %d bytes", n), w.opener, w.place, sealed[:n])
		tampered := bytes.Clone(sealed)
		tampered[n] ^= 1
		assertClosed(t, fmt.Sprintf("byte %d flipped", n), w.opener, w.place, tampered)
	}
	assertClosed(t, "a byte more", w.opener, w.place, append(bytes.Clone(sealed), 0))
	assertClosed(t, "zeros", w.opener, w.place, make([]byte, 200))
}

func assertClosed(t *testing.T, name string, o *seal.Opener, c seal.Context, sealed []byte) {
	t.Helper()
	plain, err := o.Open(c, sealed)
	if !errors.Is(err, fleet.ErrInvalid) || plain != nil {
		t.Errorf("%s: opened %q, %v", name, plain, err)
	}
	if err != nil && strings.Contains(err.Error(), "canary") {
		t.Errorf("%s: the error holds the secret: %v", name, err)
	}
}

// TestFormatIsStable opens a secret that an earlier build sealed: what is stored must
// stay readable for ever.
func TestFormatIsStable(t *testing.T) {
	t.Parallel()
	priv, _ := hex.DecodeString("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8")
	o, err := seal.NewOpener(priv)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := hex.DecodeString(goldenSealed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.Open(goldenPlace(), sealed)
	if err != nil || string(got) != "what was sealed once" {
		t.Errorf("opened %q, %v", got, err)
	}
	if o.KeyID() != goldenKeyID {
		t.Errorf("key id = %s, want %s", o.KeyID(), goldenKeyID)
	}
}

func goldenPlace() seal.Context {
	return seal.Context{Tenant: fleet.TenantID{1, 2, 3}, Fleet: fleet.ID{4, 5, 6}, Name: "a/b", Version: "AbCdEfGhIjKlMnOpQrSt"}
}

const (
	goldenKeyID  = "8177c371465ad5b2"
	goldenSealed = "018177c371465ad5b2ea4e75e8d79f29f62f3e06bb6a94044576310c54d03c6255c417d0041fe28636bb598fbd54080c7b42888ad5556310c4966cea72b7dfdda1ce6e9c180c72193c25cf22db"
)

func TestKeysMustBeGood(t *testing.T) {
	t.Parallel()
	for name, key := range map[string][]byte{
		"none": nil, "short": bytes.Repeat([]byte{1, 2}, 15), "long": make([]byte, 33),
		"zeros": make([]byte, 32), "a phrase": []byte("passwordpasswordpasswordpassword"),
	} {
		if _, err := seal.NewSealer(key); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("NewSealer, %s: %v", name, err)
		}
		if _, err := seal.NewOpener(key); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("NewOpener, %s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	w := setup(f)
	f.Add(w.seal(f, "x"))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, sealed []byte) {
		if plain, err := w.opener.Open(w.place, sealed); err == nil && string(plain) != "x" {
			t.Errorf("forged: %q", plain)
		}
	})
}

func BenchmarkSealAndOpen5KB(b *testing.B) {
	w := setup(b)
	plain := bytes.Repeat([]byte("x"), 5<<10)
	for b.Loop() {
		sealed, err := w.sealer.Seal(w.place, plain)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.opener.Open(w.place, sealed); err != nil {
			b.Fatal(err)
		}
	}
}
