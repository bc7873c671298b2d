package lifecycle

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// How long PersistThrough waits after a panic.
const (
	panicFirst = 100 * time.Millisecond
	panicMost  = 5 * time.Second
	// panicSpell is how long it must have gone well for the next panic to count as the
	// first again.
	panicSpell = time.Minute
)

// PanicError is a panic that was contained. It wraps nothing, also where an error was
// thrown: whatever kind that had, the fault is ours.
type PanicError struct {
	Where string // what ended with it
	Value any
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic in %s: %v", e.Where, e.Value) }

var panics atomic.Int64

// Panics is how many panics were contained since the process began.
func Panics() int64 { return panics.Load() }

// Contain calls f and returns its error. A panic in f ends f and nothing else: it is
// logged with its stack, counted, and returned as a *PanicError. Whatever f holds, a lock
// or a place in a queue, it has to give back by defer. about are the log line's further
// attributes.
func Contain(log *slog.Logger, where string, f func() error, about ...any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Contained(log, where, v, about...)
		}
	}()
	return f()
}

// Contained is Contain for a deferred function that has recovered v by itself.
func Contained(log *slog.Logger, where string, v any, about ...any) *PanicError {
	err := &PanicError{Where: where, Value: v}
	log.Error("panic", append([]any{"in", where, "panic", fmt.Sprint(v), "panics", panics.Add(1), "stack", string(debug.Stack())}, about...)...)
	return err
}

// PersistThrough calls run and returns its error. After a panic it calls run again, after
// a pause that grows up to some seconds, until ctx ends; then it returns nil.
func PersistThrough(ctx context.Context, log *slog.Logger, where string, run func(context.Context) error) error {
	for pause := panicFirst; ; pause = min(2*pause, panicMost) {
		begun, ended := time.Now(), false
		err := Contain(log, where, func() (err error) {
			err = run(ctx)
			ended = true
			return err
		})
		if ended {
			return err
		}
		if time.Since(begun) > panicSpell {
			pause = panicFirst
		}
		timer := time.NewTimer(pause/2 + rand.N(pause/2+1)) //nolint:gosec // jitter, no secret
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}
