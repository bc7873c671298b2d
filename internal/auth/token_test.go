package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

func is(err, kind error) bool { return errors.Is(err, kind) }

func TestAPITokenRoundTrip(t *testing.T) {
	t.Parallel()
	scanner := regexp.MustCompile("^(?:" + auth.ScannerPattern + ")$")
	for _, kind := range []auth.Kind{auth.KindAPI, auth.KindCI, auth.KindOperator} {
		id, token, hash := auth.NewAPIToken(kind)
		gotKind, gotID, err := auth.ParseAPIToken(token)
		if err != nil || gotKind != kind || gotID != id {
			t.Errorf("ParseAPIToken gave %v %v %v, want %v %v", gotKind, gotID, err, kind, id)
		}
		if !auth.Equal(hash, auth.Hash(token)) {
			t.Error("the hash is not the token's")
		}
		if !strings.HasPrefix(token, string(kind)+"_") || !scanner.MatchString(token) {
			t.Errorf("the scanner's pattern does not find a token of kind %s", kind)
		}
	}
}

func TestSessionRoundTrip(t *testing.T) {
	t.Parallel()
	id, secret, hash := auth.NewSession()
	text := secret.Reveal()
	got, err := auth.ParseSession(text)
	if err != nil || got != id || hash != auth.Hash(text) {
		t.Fatalf("ParseSession gave %v %v, want %v", got, err, id)
	}
	if !regexp.MustCompile("^(?:" + auth.ScannerPattern + ")$").MatchString(text) {
		t.Error("the scanner's pattern does not find the secret of a session")
	}
	_, token, _ := auth.NewAPIToken(auth.KindAPI)
	if _, err := auth.ParseSession(token); !is(err, fleet.ErrUnauthenticated) {
		t.Errorf("an API token is taken for a session: %v", err)
	}
	if _, _, err := auth.ParseAPIToken(text); !is(err, fleet.ErrUnauthenticated) || !strings.Contains(err.Error(), "cookie") {
		t.Errorf("a session's secret is taken for an API token: %v", err)
	}
}

func TestNodeTokenRoundTrip(t *testing.T) {
	t.Parallel()
	exp := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	id, token, hash := auth.NewNodeToken(exp)
	got, err := auth.ParseNodeToken(token)
	if err != nil || got != id || hash != auth.Hash(token) {
		t.Fatalf("ParseNodeToken gave %v %v, want %v", got, err, id)
	}
	if !regexp.MustCompile("^(?:" + auth.ScannerPattern + ")$").MatchString(token) {
		t.Error("the scanner's pattern does not find a node token")
	}
	// A gRPC client reads the expiry as it would from a JWT: three parts, base64url, "exp" a number.
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[0] != "flf1" {
		t.Fatalf("the token has %d parts", len(parts))
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Exp int64
		TID string
	}
	if err := json.Unmarshal(raw, &c); err != nil || c.Exp != exp.Unix() || c.TID != id.String() {
		t.Errorf("claims are %s, %v", raw, err)
	}
	if _, token, _ := auth.NewNodeToken(time.Time{}); len(token) == 0 {
		t.Error("no token without an expiry")
	} else if _, err := auth.ParseNodeToken(token); err != nil {
		t.Errorf("a token that does not end is refused: %v", err)
	}
}

// TestT27_TokenErrorsHoldNoToken: every one-character change of a token is refused by
// its checksum, and no error repeats what was sent.
func TestT27_TokenErrorsHoldNoToken(t *testing.T) {
	t.Parallel()
	_, api, _ := auth.NewAPIToken(auth.KindAPI)
	_, node, _ := auth.NewNodeToken(time.Now())
	parseAPI := func(s string) error { _, _, err := auth.ParseAPIToken(s); return err }
	parseNode := func(s string) error { _, err := auth.ParseNodeToken(s); return err }
	_, session, _ := auth.NewSession()
	parseSession := func(s string) error { _, err := auth.ParseSession(s); return err }
	for _, c := range []struct {
		token string
		parse func(string) error
	}{{api, parseAPI}, {node, parseNode}, {session.Reveal(), parseSession}} {
		for i := range len(c.token) {
			b := []byte(c.token)
			b[i] = "0A"[map[bool]int{true: 1, false: 0}[b[i] == '0']]
			assertRefused(t, c.parse, string(b))
		}
		for _, s := range []string{"", c.token + "0", c.token[1:], c.token + "\n", " " + c.token, c.token[:len(c.token)-1]} {
			assertRefused(t, c.parse, s)
		}
	}
	assertRefused(t, parseAPI, node)
	assertRefused(t, parseNode, api)
	assertRefused(t, parseNode, "flf1."+strings.Repeat("A", 1<<20))
}

func assertRefused(t *testing.T, parse func(string) error, s string) {
	t.Helper()
	err := parse(s)
	if !is(err, fleet.ErrUnauthenticated) {
		t.Fatalf("%d characters were accepted or gave another kind: %v", len(s), err)
	}
	if len(s) > 30 && strings.Contains(err.Error(), s[len(s)-30:len(s)-1]) {
		t.Errorf("the error repeats the token: %v", err)
	}
}

// TestAPITokenIDTooLarge: an id above 128 bits has a good checksum and is refused.
func TestAPITokenIDTooLarge(t *testing.T) {
	t.Parallel()
	_, _, err := auth.ParseAPIToken(auth.SumForTest("fla_" + strings.Repeat("z", 22) + strings.Repeat("0", 43)))
	if !is(err, fleet.ErrUnauthenticated) {
		t.Errorf("an id of more than 128 bits is read: %v", err)
	}
	_, _, err = auth.ParseAPIToken(auth.SumForTest("flx_" + strings.Repeat("0", 22+43)))
	if !is(err, fleet.ErrUnauthenticated) || !strings.Contains(err.Error(), "kind") {
		t.Errorf("an unknown kind is read: %v", err)
	}
	for _, middle := range []string{"e30", "bnVsbA", "eyJ0aWQiOiJ4In0", "!!!!", "eyJ0aWQiOjd9"} {
		if _, err := auth.ParseNodeToken(auth.SumForTest("flf1." + middle + "." + strings.Repeat("0", 43))); !is(err, fleet.ErrUnauthenticated) {
			t.Errorf("claims %s are read: %v", middle, err)
		}
	}
}

func TestUnexpandedVariableHasItsOwnMessage(t *testing.T) {
	t.Parallel()
	_, err := auth.ParseNodeToken("%ENVIRONMENT(FAIRLEAD_TOKEN)%")
	if !is(err, fleet.ErrUnauthenticated) || !strings.Contains(err.Error(), "token-env") {
		t.Errorf("error = %v", err)
	}
}

// TestEqualIsConstantTime reads the source: a timing test of 32 bytes would be noise.
func TestEqualIsConstantTime(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("token.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(src), "{ return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }") {
		t.Error("Equal does not use subtle.ConstantTimeCompare")
	}
	a := auth.Hash("a")
	for i := range a {
		for bit := range 8 {
			b := a
			b[i] ^= 1 << bit
			if auth.Equal(a, b) {
				t.Errorf("hashes that differ in bit %d of byte %d are equal", bit, i)
			}
		}
	}
}

func FuzzParseAPIToken(f *testing.F) {
	for _, k := range []auth.Kind{auth.KindAPI, auth.KindCI, auth.KindOperator} {
		_, token, _ := auth.NewAPIToken(k)
		f.Add(token)
	}
	f.Add("fla_")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		kind, id, err := auth.ParseAPIToken(s)
		if err != nil {
			if !is(err, fleet.ErrUnauthenticated) || kind != "" || id != (fleet.CredentialID{}) {
				t.Errorf("%q: %v %v %v", s, kind, id, err)
			}
			return
		}
		// One id has one spelling: a token that is read cannot be another's in disguise.
		if !strings.HasPrefix(s, string(kind)+"_"+auth.IDForTest(id)) {
			t.Errorf("%q is read as %v", s, id)
		}
	})
}

func FuzzParseNodeToken(f *testing.F) {
	_, token, _ := auth.NewNodeToken(time.Unix(2000000000, 0))
	f.Add(token)
	f.Add("%ENVIRONMENT(X)%")
	f.Add("flf1..")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := auth.ParseNodeToken(s)
		if err != nil && (!is(err, fleet.ErrUnauthenticated) || id != (fleet.CredentialID{})) {
			t.Errorf("%q: %v %v", s, id, err)
		}
	})
}
