package run

import (
	"os/signal"
	"syscall"
	"testing"
)

// TestSignalsThatStop: SIGHUP does, unless it is ignored when the program starts; a reader of the log that goes away does not.
func TestSignalsThatStop(t *testing.T) { //nolint:paralleltest // signals are the process's
	defer signal.Reset(syscall.SIGPIPE)
	if want := 3; len(StopSignals()) != want && !signal.Ignored(syscall.SIGHUP) { // as nohup starts it
		t.Fatalf("%v stop it, want %d signals", StopSignals(), want)
	}
	for _, s := range StopSignals() {
		ctx, stop := Signals()
		if s, ok := s.(syscall.Signal); !ok || syscall.Kill(syscall.Getpid(), s) != nil {
			t.Fatal(s)
		}
		<-ctx.Done()
		stop()
	}
	ctx, stop := Signals()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGPIPE); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Error("SIGPIPE ends it")
	}
	stop()
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	for _, s := range StopSignals() {
		if s == syscall.SIGHUP {
			t.Error("SIGHUP, which is ignored, would end it")
		}
	}
}
