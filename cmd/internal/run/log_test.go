package run

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestDebugEndsByItself after its time, which a second signal begins anew; the other signal ends it at once. A level below debug stays.
func TestDebugEndsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		l := newLogLevel(slog.LevelWarn)
		l.log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: &l.now}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.run(ctx) }()
		at := func(when string, want slog.Level) {
			t.Helper()
			synctest.Wait()
			if got := l.now.Level(); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		at("at first", slog.LevelWarn)
		l.more <- syscall.SIGUSR1
		at("after the signal", slog.LevelDebug)
		time.Sleep(10 * time.Minute)
		l.more <- syscall.SIGUSR1
		time.Sleep(10 * time.Minute)
		at("after another one", slog.LevelDebug)
		time.Sleep(5*time.Minute + time.Second)
		at("when its time is up", slog.LevelWarn)
		l.more <- syscall.SIGUSR1
		at("again", slog.LevelDebug)
		l.less <- syscall.SIGUSR2
		at("after the other signal", slog.LevelWarn)
		cancel()
		if err := <-ended; err != nil || strings.Count(lines.String(), "what it was") != 2 {
			t.Errorf("%v\n%s", err, &lines)
		}
	})
}
