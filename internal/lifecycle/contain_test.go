package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

func TestT36_AContainedPanicIsAnErrorALogLineAndACount(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	var mu sync.Mutex
	before := lifecycle.Panics()
	err := lifecycle.Contain(log, "the fleet's turn", func() error {
		mu.Lock()
		defer mu.Unlock()
		panic(fleet.ErrNotFound)
	}, "fleet", "f1")
	var p *lifecycle.PanicError
	if !errors.As(err, &p) || err.Error() != "panic in the fleet's turn: not found" {
		t.Errorf("the error is %v", err)
	}
	if errors.Is(err, fleet.ErrNotFound) {
		t.Error("a fault of ours looks like the kind of error that was thrown")
	}
	if !mu.TryLock() {
		t.Error("the lock is still held")
	}
	if lifecycle.Panics() <= before {
		t.Error("it was not counted")
	}
	line := out.String()
	for _, want := range []string{`"level":"ERROR"`, `"in":"the fleet's turn"`, `"panic":"not found"`, `"panics":`, `"fleet":"f1"`, "contain_test.go"} {
		if strings.Count(line, "\n") != 1 || !strings.Contains(line, want) {
			t.Errorf("the line lacks %s: %s", want, line)
		}
	}
	if err := lifecycle.Contain(log, "x", func() error { return errBroken }); !errors.Is(err, errBroken) {
		t.Errorf("an error comes back as %v", err)
	}
}

func TestT36_PersistThroughGoesOnWithPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		quiet, begun := slog.New(slog.DiscardHandler), time.Now()
		var at []time.Duration
		err := lifecycle.PersistThrough(t.Context(), quiet, "part", func(context.Context) error {
			at = append(at, time.Since(begun))
			if len(at) < 20 {
				panic("scripted")
			}
			return errBroken
		})
		if !errors.Is(err, errBroken) || len(at) != 20 {
			t.Fatalf("%d calls, %v", len(at), err)
		}
		for i := range at[1:] {
			pause := at[i+1] - at[i]
			if pause < 50*time.Millisecond || pause > 5*time.Second || i > 8 && pause < 2500*time.Millisecond {
				t.Errorf("pause %d is %v", i, pause)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = lifecycle.PersistThrough(ctx, quiet, "part", func(context.Context) error { cancel(); panic("as it ends") })
		if err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
}

func TestT36_APanicOfAComponentStopsTheOthersInOrder(t *testing.T) {
	t.Parallel()
	w := &world{}
	first := w.part("first")
	broken := lifecycle.Component{Name: "broken", Run: func(context.Context) error { w.up.Wait(); panic("scripted") }}
	err := lifecycle.Run(t.Context(), first, broken)
	if err == nil || err.Error() != "broken: panic in broken: scripted" {
		t.Errorf("err = %v", err)
	}
	if len(w.events) != 1 || w.events[0] != "first" {
		t.Errorf("ended: %v", w.events)
	}
}
