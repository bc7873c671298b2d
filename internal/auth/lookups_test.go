package auth_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

var errNoGood = errors.New("no good")

// TestT07_RejectedTokensAreRememberedForAMinute: the very token, and no other one.
func TestT07_RejectedTokensAreRememberedForAMinute(t *testing.T) {
	t.Parallel()
	l, now := auth.NewLookups(1, 1), time.Now()
	bad, other := auth.Hash("bad"), auth.Hash("other")
	l.Reject(bad, "10.0.0.1:1", errNoGood, now)
	for after, want := range map[time.Duration]error{0: errNoGood, 59 * time.Second: errNoGood, time.Minute: nil} {
		fresh := auth.NewLookups(1, 1)
		fresh.Reject(bad, "10.0.0.1:1", errNoGood, now)
		if got := fresh.Rejected(bad, now.Add(after)); !errors.Is(got, want) {
			t.Errorf("after %s: %v, want %v", after, got, want)
		}
	}
	if l.Rejected(other, now) != nil {
		t.Error("another one is rejected")
	}
}

// TestT07_RejectedTokensAreBounded: a flood pushes out rejections, and the first of them are
// there for half of it at least.
func TestT07_RejectedTokensAreBounded(t *testing.T) {
	t.Parallel()
	l, now := auth.NewLookups(1, 1), time.Now()
	hash := func(i int) [32]byte { return auth.Hash(fmt.Sprint(i)) }
	for i := range 3 * auth.MaxRejected {
		l.Reject(hash(i), fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255), errNoGood, now)
	}
	n := 0
	for i := range 3 * auth.MaxRejected {
		if l.Rejected(hash(i), now) != nil {
			n++
		}
	}
	if n > auth.MaxRejected || n < auth.MaxRejected/2 {
		t.Errorf("%d are remembered, want between half of %d and all", n, auth.MaxRejected)
	}
	if l.Rejected(hash(3*auth.MaxRejected-1), now) == nil {
		t.Error("the last one is forgotten")
	}
}

// TestT08_AFloodOfTokensWaitsForItself: who sends tokens that are no good gets out of the way
// of others.
func TestT08_AFloodOfTokensWaitsForItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := auth.NewLookups(1, 1)
		begin := func(address string) (func(), error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return l.Begin(ctx, address, time.Now())
		}
		for i := range 10 {
			l.Reject(auth.Hash(fmt.Sprint(i)), fmt.Sprintf("[2001:db8::%x]:5", i), errNoGood, time.Now())
		}
		leave, err := begin("[2001:db8::ffff]:9") // of the same network
		if err != nil {
			t.Fatal(err)
		}
		if _, err := begin("[2001:db8::1]:9"); !errors.Is(err, fleet.ErrUnavailable) {
			t.Errorf("the flood has more than one place: %v", err)
		}
		free, err := begin("10.0.0.1:5")
		if err != nil {
			t.Fatalf("somebody else waits behind the flood: %v", err)
		}
		free()
		leave()
		if leave, err = begin("[2001:db8::1]:9"); err != nil {
			t.Errorf("a place was not given back: %v", err)
		}
		time.Sleep(2 * auth.RejectedFor)
		if free, err = begin("[2001:db8::1]:9"); err != nil { // leave is not called
			t.Errorf("it is not forgiven: %v", err)
		}
		free()
		leave()
	})
}
