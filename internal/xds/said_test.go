package xds

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// still is an attachment to a target that stays.
type still struct {
	Attachment
	target *snapshot.Target
}

func (s *still) Current() *snapshot.Target { return s.target }

// teller is a stream of state of the world whose requests are taken in without a server.
type teller struct {
	*stream
	own    ownLists
	forget bool // what was said before
	told   []string
}

func newTeller(t *testing.T, l Limits) *teller {
	t.Helper()
	tell := &teller{}
	srv, err := New(Config{Anonymous: &Identity{}, Source: nowhere{}, Limits: l, Denied: func(_ Identity, _ fleet.DeniedReason, _, _, note string) {
		if !slices.Contains(tell.told, note) {
			tell.told = append(tell.told, note)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	tell.stream = &stream{srv: srv, ctx: t.Context(), now: time.Now()}
	tell.client = srv.planner.Client(fleet.Key{}, planner.Kind{Envoy: true}, planner.Origin{}, false, tell.now)
	tell.has(fleet.Secret)
	return tell
}

type nowhere struct{ Source }

func (nowhere) Attach(context.Context, Identity, fleet.Node, StreamInfo) (Attachment, error) {
	return nil, fleet.ErrUnavailable
}

// has makes resources of these names the fleet's.
func (tell *teller) has(t fleet.Type, names ...string) {
	var s snapshot.Snapshot
	for _, name := range names {
		s.Types[t] = s.Types[t].With(snapshot.NewResource(t, fleet.Row{Name: name, Version: "1"}, nil))
	}
	tell.att = &still{target: snapshot.NewTarget(&s, nil)}
}

// read decodes a request for resources of these names, between the first of which and the others something else may stand.
func (tell *teller) read(t fleet.Type, first, others []string) *request {
	var b []byte
	for _, name := range first {
		b = protowire.AppendString(protowire.AppendTag(b, sotwNames, protowire.BytesType), name)
	}
	b = protowire.AppendString(protowire.AppendTag(b, sotwType, protowire.BytesType), t.URL())
	for _, name := range others {
		b = protowire.AppendString(protowire.AppendTag(b, sotwNames, protowire.BytesType), name)
	}
	if tell.forget {
		tell.own = nil
	}
	r := &request{bounds: bounds{maxListed, &tell.srv.lists, &tell.own}}
	r.receive(mem.BufferSlice{mem.SliceBuffer(b)})
	return r
}

// takes has a request taken in, and returns what is subscribed to then.
func (tell *teller) takes(t fleet.Type, r *request) *planner.Subscription {
	if tell.forget {
		tell.said[t] = nil
	}
	tell.handleSotW(t, r, !tell.client.Subscribed(t))
	tell.countNames(t)
	return tell.client.Subscription(t)
}

// says has a request for these names taken in.
func (tell *teller) says(t fleet.Type, names ...string) *planner.Subscription {
	return tell.takes(t, tell.read(t, names, nil))
}

func names(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("%06d.outsiders.example", i))
	}
	return all
}

// TestOfAListThatGoesOnTheRestIsNotReadAgain, whether all of it was taken up or not.
func TestOfAListThatGoesOnTheRestIsNotReadAgain(t *testing.T) {
	for what, c := range map[string]struct {
		before []string
		limits Limits
		all    bool // what is new is taken up
	}{
		"all of it was taken up":      {names(0, 1000), Limits{}, true},
		"one is no text":              {append(names(0, 1000), "b\xc3\x28"), Limits{}, true},
		"one is too long":             {append(names(0, 1000), strings.Repeat("x", 513)), Limits{}, true},
		"some are beyond the limits":  {names(0, 1000), Limits{Names: 900}, false},
		"the tenant asks for so many": {names(0, 1000), Limits{TenantNames: 1}, false},
	} {
		t.Run(what, func(t *testing.T) {
			tell := newTeller(t, c.limits)
			all := c.before
			tell.says(fleet.Secret, all...)
			for i, goOn := range []func(name string) []string{
				func(name string) []string { return append([]string{name}, all...) },
				func(name string) []string { return append(slices.Clone(all), name) },
				func(string) []string { return all },
			} {
				all = goOn(fmt.Sprint("new-", i)) // it may be the first one that is left out
				tell.says(fleet.Secret, all...)
				name := fmt.Sprint("newer-", i)
				all = goOn(name)
				r := tell.read(fleet.Secret, all, nil)
				if r.names.N != len(all) || r.fresh > 1 {
					t.Fatalf("%d of %d names were read, %d one by one", r.names.N, len(all), r.fresh)
				}
				before, behind := r.grown.parts[0], r.grown.parts[1]
				r.raw = slices.Concat(r.raw[:before.to], bytes.Repeat([]byte{0xff}, behind.from-before.to), r.raw[behind.from:])
				sub := tell.takes(fleet.Secret, r)
				if want := i < 2 && c.all; sub.Named(name) != want || sub.Len() < 900 {
					t.Errorf("%d names were taken up, the new one among them: %t, want %t", sub.Len(), sub.Named(name), want)
				}
			}
		})
	}
}

// TestListsThatGoOnComeToTheSame as if each was the first: random ones that grow, shrink, are turned round and say a name twice, of a fleet whose resources come and go.
func TestListsThatGoOnComeToTheSame(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test's
		limits := Limits{Names: []int{0, 70, 120}[r.IntN(3)], TenantNames: []int{0, 30_000}[r.IntN(2)]}
		typ := []fleet.Type{fleet.Secret, fleet.Cluster, fleet.Endpoint}[r.IntN(3)]
		clever, naive := newTeller(t, limits), newTeller(t, limits)
		naive.forget = true
		all := names(0, 60)
		for step := range 120 {
			fresh := fmt.Sprintf("%d.of.step.%d", r.IntN(3), step)
			apart := len(all)
			switch r.IntN(15) {
			case 0, 1, 2:
				all = append([]string{fresh}, all...)
			case 3, 4:
				all = append(slices.Clone(all), fresh)
			case 5:
				all = append(append([]string{"b\xc3\x28" + fresh}, all...), fresh)
			case 6:
				all = append([]string{strings.Repeat("x", 513), fresh}, all...)
			case 7:
				all = slices.Insert(slices.Clone(all), r.IntN(len(all)+1), fresh)
				if limits.Names == 0 { // else a name that is said twice takes the room of another one
					all = append(all, all[0])
				}
			case 8:
				if len(all) > 60 {
					all = slices.Delete(slices.Clone(all), 0, r.IntN(20))
				}
			case 9:
				all = slices.Clone(all)
				slices.Reverse(all)
			case 10:
				has := slices.DeleteFunc(slices.Clone(all[:r.IntN(len(all))]), func(name string) bool { return len(name) > 512 || !utf8.ValidString(name) })
				for _, tell := range []*teller{clever, naive} {
					tell.has(typ, has...)
				}
			case 11:
				all = append([]string{"*", fresh}, all...)
			case 12: // an answer
			case 13:
				all = append(slices.Clone(all), fresh)
				for _, tell := range []*teller{clever, naive} {
					tell.read(typ, all, nil) // it is stale
				}
				continue
			case 14:
				all = append(slices.Clone(all), fresh)
			}
			if apart = min(apart, len(all)); r.IntN(3) > 0 {
				apart = len(all)
			}
			var subs []*planner.Subscription
			for _, tell := range []*teller{clever, naive} {
				subs = append(subs, tell.takes(typ, tell.read(typ, all[:apart], all[apart:])))
			}
			a, b := subs[0], subs[1]
			if a.Len() != b.Len() || a.Bytes() != b.Bytes() || a.Has("another") != b.Has("another") {
				t.Fatalf("seed %d, step %d: %d names of %d bytes were taken up, want %d of %d; all: %t, want %t", seed, step, a.Len(), a.Bytes(), b.Len(), b.Bytes(), a.Has("another"), b.Has("another"))
			}
			for _, name := range all {
				if a.Named(name) != b.Named(name) {
					t.Fatalf("seed %d, step %d: %q is taken up: %t, want %t", seed, step, name, a.Named(name), b.Named(name))
				}
			}
			if !slices.Equal(clever.told, naive.told) {
				t.Fatalf("seed %d, step %d: told %q, want %q", seed, step, clever.told, naive.told)
			}
		}
	}
}

// TestWhatIsGivenUpMakesRoomForWhatWasLeftOut, of another type: the bytes of all names are bounded together.
func TestWhatIsGivenUpMakesRoomForWhatWasLeftOut(t *testing.T) {
	tell := newTeller(t, Limits{})
	long := func(what string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("%s%0*d", what, 512-len(what), i))
		}
		return all
	}
	endpoints, secrets := long("e", maxNameBytes/512-100), long("s", 300)
	tell.says(fleet.Endpoint, endpoints...)
	for range 2 {
		if sub := tell.says(fleet.Secret, secrets...); sub.Len() != 100 {
			t.Fatalf("%d are taken up", sub.Len())
		}
	}
	tell.says(fleet.Endpoint, endpoints[0])
	if sub := tell.says(fleet.Secret, secrets...); sub.Len() != 300 {
		t.Errorf("%d are taken up", sub.Len())
	}
}

// TestListsThatLookAlikeAreHashedAFewTimes, whoever makes them up.
func TestListsThatLookAlikeAreHashedAFewTimes(t *testing.T) {
	alike := func(middle string) []byte {
		b := bytes.Repeat([]byte("x"), 2*leastList)
		return append(append(b, middle...), b...)
	}
	var own ownLists
	known := listOf(alike("a"), counted{})
	own.add(known, listID{})
	tries := maxTries
	for range 10 {
		if own.find(alike("b"), &tries) != nil {
			t.Fatal("one is taken for another")
		}
	}
	if own.find(alike("a"), &tries) != nil || tries != 0 {
		t.Errorf("it is hashed for the eleventh time")
	}
	tries = 1
	if own.find(append(alike("a"), "more"...), &tries) != known {
		t.Error("it is not found")
	}
}
