package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/lifecycle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("broken")

// world notes what happens, in order.
type world struct {
	mu     sync.Mutex
	events []string
	up     sync.WaitGroup
}

func (w *world) note(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, s)
}

// part runs until it is told to stop, and says so.
func (w *world) part(name string) lifecycle.Component {
	w.up.Add(1)
	return lifecycle.Component{Name: name, Run: func(ctx context.Context) error {
		w.up.Done()
		<-ctx.Done()
		w.note(name)
		return ctx.Err()
	}}
}

func TestStopInReverse(t *testing.T) {
	t.Parallel()
	w := &world{}
	ctx, cancel := context.WithCancel(t.Context())
	parts := []lifecycle.Component{w.part("database"), w.part("server"), w.part("proxy")}
	var wg sync.WaitGroup
	wg.Go(func() { w.up.Wait(); cancel() })
	if err := lifecycle.Run(ctx, parts...); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if want := []string{"proxy", "server", "database"}; !slices.Equal(w.events, want) {
		t.Errorf("ended in the order %v, want %v", w.events, want)
	}
}

func TestFirstErrorStopsAll(t *testing.T) {
	t.Parallel()
	w := &world{}
	first, last := w.part("first"), w.part("last")
	broken := lifecycle.Component{Name: "listener", Run: func(context.Context) error { w.up.Wait(); return errBroken }}
	err := lifecycle.Run(t.Context(), first, broken, last)
	if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "listener: ") {
		t.Errorf("err = %v", err)
	}
	if want := []string{"last", "first"}; !slices.Equal(w.events, want) {
		t.Errorf("ended in the order %v, want %v", w.events, want)
	}
}

func TestEarlyEndIsAnError(t *testing.T) {
	t.Parallel()
	err := lifecycle.Run(t.Context(), lifecycle.Component{Name: "server", Run: func(context.Context) error { return nil }})
	if err == nil || !strings.Contains(err.Error(), "server: ended by itself") {
		t.Errorf("err = %v", err)
	}
}

func TestErrorsOfTheEndAreKept(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := lifecycle.Component{Name: "store", Run: func(ctx context.Context) error { <-ctx.Done(); return errBroken }}
	if err := lifecycle.Run(ctx, late); !errors.Is(err, errBroken) {
		t.Errorf("err = %v", err)
	}
}

func TestStuckComponentIsLeftBehind(t *testing.T) {
	t.Parallel()
	w := &world{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	release := make(chan struct{})
	var ended sync.WaitGroup
	ended.Add(1)
	defer ended.Wait()
	defer close(release)
	stuck := lifecycle.Component{Name: "stuck", StopTimeout: time.Millisecond, Run: func(context.Context) error {
		defer ended.Done()
		<-release
		return nil
	}}
	err := lifecycle.Run(ctx, w.part("before"), stuck)
	if !errors.Is(err, lifecycle.ErrStuck) || !strings.HasPrefix(err.Error(), "stuck: ") {
		t.Errorf("err = %v", err)
	}
	if want := []string{"before"}; !slices.Equal(w.events, want) {
		t.Errorf("ended %v, want %v", w.events, want)
	}
}

func TestValuesReachTheComponents(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	defer cancel()
	c := lifecycle.Component{Name: "c", Run: func(ctx context.Context) error {
		defer cancel()
		if ctx.Value(key{}) != "value" {
			return errBroken
		}
		cancel()
		<-ctx.Done()
		return nil
	}}
	if err := lifecycle.Run(ctx, c); err != nil {
		t.Error(err)
	}
}
