package store_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

var quiet = slog.New(slog.DiscardHandler)

func TestT36_AListenerThatPanicsListensAgain(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	n := store.NewNotifier(store.NotifierConfig{URL: db.App})
	run(t, n.Run)
	e := ear{make(chan wake, 4096)}
	var broken atomic.Bool
	run(t, store.NewListener(store.ListenerConfig{URL: db.Node, Logger: quiet, Wake: func(f fleet.ID, all bool) {
		if !all && broken.Swap(false) {
			panic("scripted")
		}
		e.calls <- wake{f, all}
	}}).Run)
	e.all(t)
	broken.Store(true)
	n.Ring(fleet.Key{Fleet: fleet.NewID()})
	e.all(t) // it has connected again, and nothing is lost
	f := fleet.NewID()
	n.Ring(fleet.Key{Fleet: f})
	if heard := e.next(t); heard.fleet != f {
		t.Errorf("heard %+v", heard)
	}
}

func TestT36_WhatANotifierDidNotRingIsKept(t *testing.T) {
	t.Parallel()
	n := store.NewNotifier(store.NotifierConfig{})
	n.Ring(fleet.Key{Fleet: fleet.NewID()})
	err := lifecycle.Contain(quiet, "test", func() error { return n.Send(t.Context(), nil) })
	var p *lifecycle.PanicError
	if !errors.As(err, &p) {
		t.Fatalf("no connection gives %v: the test is blind", err)
	}
	if left := n.Pending(); left != 1 {
		t.Errorf("%d fleets are to be rung", left)
	}
}

func TestT36_CompactDueGoesOnAfterAFleetThatPanics(t *testing.T) {
	w := setup(t)
	poison := w.db.Fleet(t, w.tenant)
	w.db.Fleet(t, w.tenant)
	s := w.db.Open(t, store.Config{URL: w.db.App, Logger: quiet})
	compact := func(ctx context.Context, broken bool) (store.Compaction, error) {
		return s.CompactDueAround(ctx, func(f fleet.ID, compact func() error) error {
			if broken && f == poison {
				panic("scripted")
			}
			return compact()
		})
	}
	done, err := compact(t.Context(), true)
	var p *lifecycle.PanicError
	if !errors.As(err, &p) || done.Fleets != 2 || done.Failed != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = compact(t.Context(), false); err != nil || done.Fleets != 3 {
		t.Errorf("when the fault is gone: %+v, %v", done, err)
	}
}
