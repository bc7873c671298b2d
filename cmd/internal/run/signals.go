package run

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// StopSignals are the signals that ask a process to stop: SIGINT, SIGTERM and SIGHUP. The last one comes when a terminal is closed, and from
// whoever expects a server to read its files anew, which ours do by themselves. Where it is ignored at the start, as under nohup, it stays so.
func StopSignals() []os.Signal {
	stop := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		stop = append(stop, syscall.SIGHUP)
	}
	return stop
}

// Signals returns the context of a server, which ends with one of StopSignals. A reader of its log that goes away does not end it: what it says
// then is lost.
func Signals() (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	return signal.NotifyContext(context.Background(), StopSignals()...)
}
