package run

import (
	"io"
	"log/slog"
)

// Log says how a process logs.
type Log struct {
	Level  slog.Level `name:"log-level" env:"FAIRLEAD_LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
	Format string     `name:"log-format" env:"FAIRLEAD_LOG_FORMAT" enum:"json,text" default:"json" help:"json or text."`
}

// Logger writes to w.
func (l Log) Logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: l.Level}
	if l.Format == "text" {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}
