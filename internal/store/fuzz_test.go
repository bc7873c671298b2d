package store_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	_ "fairlead/test/pinned" // the same histories each time
)

// Whatever stands in a column, reading it ends in a value or an error.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{``, `{}`, `[]`, `null`, `{"refs":[["clusters","a"],["teapots","b"]],"eds":"x"}`,
		`[{"id":"00000000-0000-0000-0000-000000000001","hash":"00","nodes":"*"}]`,
		`[{"id":"n","state":9,"open":[["clusters","a"]],"type":"x"}]`, `[{"type":"clusters","resolved_by":1}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(_ *testing.T, b []byte) { _ = store.Decode(b) })
}

// Channels have no access control: anybody may send anything.
func FuzzPayload(f *testing.F) {
	f.Add(fleet.ID{1}.String() + "," + fleet.ID{2}.String())
	f.Add("")
	f.Add(",")
	f.Fuzz(func(t *testing.T, payload string) {
		calls, all := 0, 0
		l := store.NewListener(store.ListenerConfig{Wake: func(_ fleet.ID, a bool) {
			calls++
			if a {
				all++
			}
		}})
		l.Wake(payload)
		if calls == 0 || all > 1 || calls > 1+strings.Count(payload, ",") {
			t.Errorf("%q wakes %d times, %d for all", payload, calls, all)
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00\xff", 2)
	f.Add("é", 1)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 0 || limit > 1<<16 {
			return
		}
		c := store.Clean(s, limit)
		if !utf8.ValidString(c) || len(c) > limit || strings.ContainsRune(c, 0) {
			t.Errorf("%q at %d gives %q", s, limit, c)
		}
		if store.Clean(c, limit) != c {
			t.Errorf("cleaning %q twice changes it", s)
		}
	})
}

func TestPayloadsFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := make([]fleet.ID, rapid.IntRange(0, 1000).Draw(t, "ids"))
		for i := range ids {
			ids[i] = fleet.NewID()
		}
		var got []string
		for _, p := range store.Payloads(ids) {
			if len(p) > 7999 {
				t.Fatalf("%d bytes", len(p))
			}
			got = append(got, strings.Split(p, ",")...)
		}
		if len(got) != len(ids) {
			t.Fatalf("%d of %d ids", len(got), len(ids))
		}
	})
}

func TestDerivedComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := fleet.Derived{EDSName: rapid.String().Draw(t, "eds"), VHDS: rapid.Bool().Draw(t, "vhds"), Scopes: rapid.Bool().Draw(t, "scopes"), Domains: rapid.SliceOf(rapid.String()).Draw(t, "domains")}
		for range rapid.IntRange(0, 3).Draw(t, "refs") {
			d.Refs = append(d.Refs, fleet.Ref{Type: rapid.SampledFrom(fleet.Types()).Draw(t, "type"), Name: rapid.String().Draw(t, "name")})
		}
		back, err := store.EncodeDerived(d)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// State is the algebra of SEMANTICS 5.5.
func TestReceiptState(t *testing.T) {
	t.Parallel()
	for want, cs := range map[string][]fleet.Counts{
		fleet.ReceiptDelivered: {{Acked: 3}, {Acked: 1, Offline: 5}, {Late: 1}, {Offline: 2, Late: 1}},
		fleet.ReceiptStored:    {{}, {Offline: 2}},
		fleet.ReceiptPending:   {{Pending: 1}, {Acked: 9, Pending: 1, Offline: 1}, {Acked: 9, Offline: 2, Left: 1}, {Offline: 1, Left: 1}},
		fleet.ReceiptRejected:  {{Nacked: 1}, {Nacked: 1, Pending: 5, Acked: 5}, {Nacked: 1, Offline: 1, Left: 1}},
	} {
		for _, c := range cs {
			if got := fleet.State(c); got != want {
				t.Errorf("%+v is %s, want %s", c, got, want)
			}
		}
	}
}
