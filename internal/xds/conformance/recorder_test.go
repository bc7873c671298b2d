package conformance_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// recorder is a testing.TB that notes failures instead of failing the test: others'
// servers may fail a check.
type recorder struct {
	testing.TB
	ctx    context.Context //nolint:containedctx // what Context returns
	cancel context.CancelFunc

	mu       sync.Mutex // guards what follows
	failed   bool
	said     []string
	cleanups []func()
}

func newRecorder(t testing.TB) *recorder {
	ctx, cancel := context.WithCancel(context.Background())
	return &recorder{TB: t, ctx: ctx, cancel: cancel}
}

// run runs f and says why it failed, "" if it did not.
func (r *recorder) run(f func(testing.TB)) string {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		f(r)
	}()
	<-done
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.failed {
		return ""
	}
	return strings.Join(r.said, "; ")
}

// clean does what is left to do when a check ended.
func (r *recorder) clean() {
	r.cancel()
	for {
		r.mu.Lock()
		n := len(r.cleanups)
		if n == 0 {
			r.mu.Unlock()
			return
		}
		f := r.cleanups[n-1]
		r.cleanups = r.cleanups[:n-1]
		r.mu.Unlock()
		f()
	}
}

func (r *recorder) say(failed bool, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = r.failed || failed
	r.said = append(r.said, text)
}

func (r *recorder) Helper()                           {}
func (r *recorder) Context() context.Context          { return r.ctx }
func (r *recorder) Log(args ...any)                   { r.say(false, fmt.Sprint(args...)) }
func (r *recorder) Logf(format string, args ...any)   { r.say(false, fmt.Sprintf(format, args...)) }
func (r *recorder) Error(args ...any)                 { r.say(true, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.say(true, fmt.Sprintf(format, args...)) }
func (r *recorder) Fail()                             { r.say(true, "failed") }

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}
