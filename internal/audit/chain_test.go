package audit_test

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead/internal/audit"
)

const tenant = "0198c0b1-0000-7000-8000-000000000001"

var noon = time.Date(2026, 1, 2, 12, 0, 0, 123456000, time.UTC)

// chained is a sound chain of n links behind the anchor a, made by what the documentation says and not by the package.
func chained(a audit.Anchor, n int) (ls []audit.Link) {
	prev := a.Hash
	for i := range n {
		seq := a.Seq + int64(i) + 1
		e := audit.Event{ID: "id-" + strconv.Itoa(i), At: noon, Actor: "ada", Address: "::1", RequestID: "r", Kind: "k", Object: "o"}
		row := "22:fairlead audit event 1,36:" + tenant + ","
		for _, s := range []string{strconv.FormatInt(seq, 10), e.ID, "1767355200123456", "", "ada", "::1", "r", "k", "o", "", "", "", ""} {
			if s == "" {
				row += "-,"
			} else {
				row += strconv.Itoa(len(s)) + ":" + s + ","
			}
		}
		prev = sha256.Sum256(append(slices.Clone(prev[:]), row...))
		ls = append(ls, audit.Link{Seq: seq, Hash: prev, Event: &e})
	}
	return ls
}

// verify is what is wrong with the links, "" for nothing.
func verify(a audit.Anchor, ls []audit.Link, head audit.Link, heads ...audit.Head) (string, int64) {
	c := audit.NewChain(tenant, a)
	c.Expect(heads...)
	for _, l := range ls {
		if f := c.Add(l); f != nil {
			return f.What, f.Seq
		}
	}
	if f := c.End(head.Seq, head.Hash); f != nil {
		return f.What, f.Seq
	}
	return "", 0
}

func TestT48_WhatIsWrongWithAChain(t *testing.T) {
	t.Parallel()
	headOf := func(l audit.Link) audit.Head { return audit.Head{Tenant: tenant, Seq: l.Seq, Hash: l.Hash, At: noon} }
	for name, c := range map[string]struct {
		do   func(ls []audit.Link) (_ []audit.Link, head audit.Link, heads []audit.Head)
		what string
		seq  int64
	}{
		"nothing": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			return ls, ls[9], []audit.Head{headOf(ls[9]), headOf(ls[2])}
		}, "", 0},
		"an event is changed": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			ls[4].Event.Actor = "eve"
			return ls, ls[9], nil
		}, audit.EventChanged, 5},
		"a text moves into the next": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			ls[4].Event.Actor, ls[4].Event.Address = "ada:", ":1"
			return ls, ls[9], nil
		}, audit.EventChanged, 5},
		"nothing becomes a text": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			ls[4].Event.Detail = new(string)
			return ls, ls[9], nil
		}, audit.EventChanged, 5},
		"a time moves": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			ls[4].Event.At = noon.Add(time.Microsecond)
			return ls, ls[9], nil
		}, audit.EventChanged, 5},
		"an event is gone": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			ls[4].Event = nil
			return ls, ls[9], nil
		}, audit.EventMissing, 5},
		"a link is gone": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			return slices.Delete(ls, 4, 5), ls[8], nil
		}, audit.LinkMissing, 5},
		"the first link is gone": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) { return ls[1:], ls[9], nil }, audit.LinkMissing, 1},
		"two change places": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			ls[4].Event, ls[5].Event = ls[5].Event, ls[4].Event
			return ls, ls[9], nil
		}, audit.EventChanged, 5},
		"the tail is gone":       {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) { return ls[:8], ls[9], nil }, audit.Truncated, 9},
		"the head is moved back": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) { return ls, ls[7], nil }, audit.HeadMovedBack, 8},
		"the tail and the head": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			return ls[:8], ls[7], []audit.Head{headOf(ls[3]), headOf(ls[9])}
		}, audit.Truncated, 9},
		"without an exported head": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) { return ls[:8], ls[7], nil }, "", 0},
		"a head of another chain": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			return ls, ls[9], []audit.Head{{Tenant: tenant, Seq: 3, Hash: ls[3].Hash}}
		}, audit.Rewritten, 3},
		"a head of another tenant": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			return ls, ls[9], []audit.Head{{Tenant: "x", Seq: 3}}
		}, "", 0},
		"another hash in the head": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) { return ls, audit.Link{Seq: 10}, nil }, audit.EventChanged, 10},
		"a number comes twice": {func(ls []audit.Link) ([]audit.Link, audit.Link, []audit.Head) {
			return slices.Insert(ls, 5, ls[4]), ls[9], nil
		}, audit.LinkMissing, 6},
	} {
		ls, head, heads := c.do(chained(audit.Anchor{}, 10))
		if what, seq := verify(audit.Anchor{}, ls, head, heads...); what != c.what || seq != c.seq {
			t.Errorf("%s: %q at %d, want %q at %d", name, what, seq, c.what, c.seq)
		}
	}
}

// What retention removed is no fault; what went before its time is, where a head tells.
func TestT48_AChainBeginsAtItsAnchor(t *testing.T) {
	t.Parallel()
	all := chained(audit.Anchor{}, 10)
	a := audit.Anchor{Seq: 4, Hash: all[3].Hash, EventAt: noon, At: noon.Add(31 * 24 * time.Hour)}
	if what, seq := verify(a, all[4:], all[9]); what != "" {
		t.Errorf("%s at %d", what, seq)
	}
	if what, seq := verify(audit.Anchor{Seq: 5, Hash: all[3].Hash}, all[5:], all[9]); what != audit.EventChanged || seq != 6 {
		t.Errorf("an anchor of another link: %q at %d", what, seq)
	}
	c := audit.NewChain(tenant, audit.Anchor{})
	c.Expect(audit.Head{Tenant: tenant, Seq: 2, Hash: all[1].Hash}, audit.Head{Tenant: tenant, Seq: 6, Hash: all[5].Hash})
	if f := c.Add(all[0]); f != nil {
		t.Error(f)
	}
	c.Removed(a) // while it was verified
	for _, l := range all[4:] {
		if f := c.Add(l); f != nil {
			t.Error(f)
		}
	}
	if f := c.End(10, all[9].Hash); f != nil {
		t.Error(f)
	}
	for days, early := range map[int]bool{10: true, 29: true, 31: false} {
		h := audit.Head{Tenant: tenant, Seq: 2, At: a.At.AddDate(0, 0, -days)}
		if f := audit.Early(a, h); (f != nil) != early {
			t.Errorf("a head of %d days before: %v", days, f)
		}
	}
	if f := audit.Early(a, audit.Head{Seq: 4, At: a.At}); f != nil {
		t.Error(f)
	}
}

func TestT48_ASignatureIsOfAllOfAHead(t *testing.T) {
	t.Parallel()
	s := audit.NewSigner([]byte("0123456789abcdef0123456789abcdef"))
	h := s.Sign(audit.Head{Tenant: tenant, Seq: 5, Hash: audit.Hash{1}, At: noon.Add(5), Anchor: 2, Unchained: 3})
	if !s.Signed(h) {
		t.Fatal("its own is not known")
	}
	if audit.NewSigner([]byte("another key that is as long, 32.")).Signed(h) {
		t.Error("of another key")
	}
	var back audit.Head
	raw, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &back); err != nil || !s.Signed(back) {
		t.Errorf("%s does not come back: %v", raw, err)
	}
	for name, change := range map[string]func(*audit.Head){
		"tenant": func(h *audit.Head) { h.Tenant = "x" }, "seq": func(h *audit.Head) { h.Seq++ }, "hash": func(h *audit.Head) { h.Hash[0]++ }, "at": func(h *audit.Head) { h.At = h.At.Add(time.Microsecond) },
		"anchor": func(h *audit.Head) { h.Anchor++ }, "unchained": func(h *audit.Head) { h.Unchained++ }, "signature": func(h *audit.Head) { h.Signature[3]++ },
	} {
		other := h
		change(&other)
		if s.Signed(other) {
			t.Errorf("%s is not signed", name)
		}
	}
}

func TestHashesAreRead(t *testing.T) {
	t.Parallel()
	var h audit.Hash
	for _, bad := range []string{"", "zz", strings.Repeat("g", 64), strings.Repeat("a", 63), strings.Repeat("a", 65)} {
		if err := h.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// FuzzT48_Canonical: two different events never have the same canonical form. It is told by the hash of a chain of one link.
func FuzzT48_Canonical(f *testing.F) {
	f.Add("a", "b", "c", "d", true, "a", "b", "c", "d", true)
	f.Add("1:a,", "", "", "", false, "", "1:a,", "", "", false)
	f.Add("", "", "", "", true, "", "", "", "", false)
	f.Add("-", ",", "-,", "1:-,", true, "-,", "", "-,", "1:-,", true)
	f.Fuzz(func(t *testing.T, a1, b1, c1, d1 string, has1 bool, a2, b2, c2, d2 string, has2 bool) {
		event := func(a, b, c, d string, has bool) audit.Event {
			e := audit.Event{At: noon, Actor: a, Address: b, Object: c}
			if has {
				e.Credential, e.Detail = &d, &d
			}
			return e
		}
		x, y := event(a1, b1, c1, d1, has1), event(a2, b2, c2, d2, has2)
		if !has1 {
			d1 = ""
		}
		if !has2 {
			d2 = ""
		}
		same := a1 == a2 && b1 == b2 && c1 == c2 && d1 == d2 && has1 == has2
		if got := string(audit.Canonical(&x)) == string(audit.Canonical(&y)); got != same {
			t.Errorf("%+v and %+v: alike %t", x, y, got)
		}
	})
}
