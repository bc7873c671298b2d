package run

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"fairlead/internal/lifecycle"
)

// Log says how a process logs.
type Log struct {
	Level  slog.Level `name:"log-level" env:"FAIRLEAD_LOG_LEVEL" default:"info" help:"debug, info, warn or error. SIGUSR1 sets debug for 15 minutes, SIGUSR2 ends that."`
	Format string     `name:"log-format" env:"FAIRLEAD_LOG_FORMAT" enum:"json,text" default:"json" help:"json or text."`
}

// Open returns what writes to w, and what has to run for its level to be changed by signals. From now on these do not end the process.
func (l Log) Open(w io.Writer) (*slog.Logger, lifecycle.Component) {
	level := newLogLevel(l.Level)
	o := &slog.HandlerOptions{Level: &level.now}
	level.log = slog.New(slog.NewJSONHandler(w, o))
	if l.Format == "text" {
		level.log = slog.New(slog.NewTextHandler(w, o))
	}
	signal.Notify(level.more, syscall.SIGUSR1)
	signal.Notify(level.less, syscall.SIGUSR2)
	return level.log, lifecycle.Component{Name: "log level", Run: level.run}
}

// debugFor is how long debug lasts: a level that somebody forgot must not fill a disk.
const debugFor = 15 * time.Minute

// logLevel is changed by whoever may send the process signals: its own user, and root. No port takes it: that of the health is anybody's who reaches it.
type logLevel struct {
	now        slog.LevelVar
	given      slog.Level
	more, less chan os.Signal // capacity 1
	lasts      time.Duration
	log        *slog.Logger
}

func newLogLevel(given slog.Level) *logLevel {
	l := &logLevel{given: given, more: make(chan os.Signal, 1), less: make(chan os.Signal, 1), lasts: debugFor}
	l.now.Set(given)
	return l
}

// run sets the level by signals until ctx ends.
func (l *logLevel) run(ctx context.Context) error {
	over := time.NewTimer(0)
	over.Stop()
	defer over.Stop()
	for {
		select {
		case <-l.more:
			over.Reset(l.lasts)
			l.now.Set(min(slog.LevelDebug, l.given))
			l.log.LogAttrs(ctx, slog.LevelDebug, "the log level is debug", slog.Duration("for", l.lasts))
			continue
		case <-l.less:
			over.Stop()
		case <-over.C:
		case <-ctx.Done():
			return nil
		}
		if l.now.Level() != l.given {
			l.log.LogAttrs(ctx, slog.LevelDebug, "the log level is what it was", slog.Any("level", l.given))
			l.now.Set(l.given)
		}
	}
}
