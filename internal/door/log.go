package door

import (
	"context"
	"log"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Log bounds what those outside can make a process log: one line in a second of each source and message. What comes beyond it is
// counted, and told by the last of it when the second is over, with its number ("more"). Texts are cut to MaxText bytes. It is
// safe for concurrent use, and remembers maxSubjects at most.
type Log struct {
	to *slog.Logger

	mu    sync.Mutex // guards all below
	of    map[subject]*pending
	swept time.Time
	timer *time.Timer // nil: nothing is left to tell
}

const (
	// MaxText is how many bytes of a text a line has.
	MaxText = 200
	// maxSubjects is how many sources and messages have a line of their own in a second. The others share one for each message.
	maxSubjects = 100

	pause = time.Second
)

// subject is what has one line in a second.
type subject struct {
	from netip.Prefix // invalid: that of all that have no place of their own
	says string
}

// pending is what there is to tell of a subject.
type pending struct {
	said time.Time // the last line
	line line      // the last that was held back
	more int       // that were held back since said
}

// line is a line of the log that is not written yet.
type line struct {
	level slog.Level
	says  string
	attrs []slog.Attr
}

// NewLog writes to log.
func NewLog(to *slog.Logger) *Log { return &Log{to: to, of: make(map[subject]*pending)} }

// Say writes a line, or holds it back. says is a constant.
func (l *Log) Say(level slog.Level, from netip.Prefix, says string, attrs ...slog.Attr) {
	if !l.to.Enabled(context.Background(), level) {
		return
	}
	x, now := line{level, says, attrs}, time.Now()
	if l.holds(subject{from, says}, x, now) {
		return
	}
	l.write(x)
}

// holds reports whether the line is held back.
func (l *Log) holds(s subject, x line, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.of[s]
	if p == nil && len(l.of) >= maxSubjects {
		l.sweep(now)
	}
	if p == nil && len(l.of) >= maxSubjects {
		s.from = netip.Prefix{}
		p = l.of[s]
	}
	if p == nil {
		p = &pending{}
		l.of[s] = p
	}
	if p.more == 0 && now.Sub(p.said) >= pause {
		p.said = now
		return false
	}
	p.more++
	p.line = x
	if l.timer == nil {
		l.timer = time.AfterFunc(pause, l.tell)
	}
	return true
}

// sweep forgets who has been silent for long enough; at most ten times in a second, as it looks at all.
func (l *Log) sweep(now time.Time) {
	if now.Sub(l.swept) < pause/10 {
		return
	}
	l.swept = now
	for s, p := range l.of {
		if p.more == 0 && now.Sub(p.said) >= pause {
			delete(l.of, s)
		}
	}
}

// tell writes what was held back for long enough.
func (l *Log) tell() {
	for _, x := range l.due(time.Now()) {
		l.write(x)
	}
}

func (l *Log) due(now time.Time) (out []line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	left := false
	for s, p := range l.of {
		switch {
		case now.Sub(p.said) < pause:
			left = left || p.more > 0
		case p.more == 0:
			delete(l.of, s)
		default:
			x := p.line
			if p.more > 1 {
				x.attrs = append(x.attrs[:len(x.attrs):len(x.attrs)], slog.Int("more", p.more-1))
			}
			out = append(out, x)
			*p = pending{said: now}
		}
	}
	if left {
		l.timer = time.AfterFunc(pause/2, l.tell)
	}
	return out
}

func (l *Log) write(x line) {
	for i, a := range x.attrs {
		x.attrs[i].Value = cut(a.Value)
	}
	l.to.LogAttrs(context.Background(), x.level, x.says, x.attrs...)
}

func cut(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(Cut(v.String()))
	case slog.KindAny:
		switch x := v.Any().(type) {
		case error:
			return slog.StringValue(Cut(x.Error()))
		case net.Addr:
			return slog.StringValue(x.String())
		}
	}
	return v
}

// Cut returns the first MaxText bytes of a text that is longer, and how many it has.
func Cut(s string) string {
	if len(s) <= MaxText {
		return s
	}
	n := MaxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "... (" + strconv.Itoa(len(s)) + " bytes)"
}

// Server is for the log of an http.Server, which says of each handshake that fails why it did.
func (l *Log) Server() *log.Logger { return log.New(server{l}, "", 0) }

type server struct{ log *Log }

func (s server) Write(p []byte) (int, error) {
	s.log.Say(slog.LevelWarn, netip.Prefix{}, "the HTTP server says", slog.String("reason", strings.TrimSpace(string(p))))
	return len(p), nil
}
