package run

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

const (
	settingsWait = time.Second     // that a first report of a fleet waits for its settings
	settingsKept = 5 * time.Minute // after the last report of a fleet; nodes report once a minute at least
)

// loadSettings has what the fleets whose nodes report say of it. A fleet is asked for with its first report, and all of them once in an interval: what it holds grows with
// these fleets, and a run reads the settings of those that have changed.
type loadSettings struct {
	store interface {
		LoadSettings(ctx context.Context, known []fleet.KnownLoadSettings) ([]fleet.KnownLoadSettings, error)
	}
	every time.Duration
	log   *slog.Logger

	mu     sync.Mutex // guards fleets and what they hold
	fleets map[fleet.Key]*loadSetting
}

// loadSetting is what is held of a fleet.
type loadSetting struct {
	set   *fleet.LoadSettings // never nil; another pointer when they have changed
	epoch int64               // of the fleet when they were read; 0: they were not
	asked time.Time           // last
	read  chan struct{}       // closed when they were read for the first time, or that has failed
}

// of returns the settings of a fleet. A first one waits until they are read, at most a second: then the server's own count until the next run.
func (l *loadSettings) of(ctx context.Context, key fleet.Key) *fleet.LoadSettings {
	s, first := l.find(key)
	if first {
		l.first(ctx, key, s)
	}
	select {
	case <-s.read:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return s.set
}

// first reads the settings for those who wait for them.
func (l *loadSettings) first(ctx context.Context, key fleet.Key, s *loadSetting) {
	defer close(s.read)
	ctx, cancel := context.WithTimeout(ctx, settingsWait)
	defer cancel()
	if err := l.refresh(ctx, []fleet.KnownLoadSettings{{Key: key}}); err != nil {
		l.log.Warn("the settings of a fleet's load reports cannot be read: those of the server count", "fleet", key, "error", err)
	}
}

// find returns what is held of a fleet; first: nothing was, and the caller is to read it.
func (l *loadSettings) find(key fleet.Key) (s *loadSetting, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s = l.fleets[key]; s == nil {
		s, first = &loadSetting{set: &fleet.LoadSettings{}, read: make(chan struct{})}, true
		if l.fleets == nil {
			l.fleets = map[fleet.Key]*loadSetting{}
		}
		l.fleets[key] = s
	}
	s.asked = time.Now()
	return s, first
}

// refresh reads what has changed since it was known.
func (l *loadSettings) refresh(ctx context.Context, known []fleet.KnownLoadSettings) error {
	changed, err := l.store.LoadSettings(ctx, known)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range changed {
		s := l.fleets[c.Key]
		if s == nil {
			continue
		}
		if s.epoch = c.Epoch; !reflect.DeepEqual(*s.set, c.LoadSettings) { // an epoch moves with other settings too
			set := c.LoadSettings
			s.set = &set
		}
	}
	return nil
}

func (l *loadSettings) run(ctx context.Context) error {
	failing := false
	return routine{log: l.log, name: "the settings of load reports", first: l.every, every: l.every, once: func(ctx context.Context) bool {
		err := l.refresh(ctx, l.known())
		if err != nil && !failing && ctx.Err() == nil {
			l.log.Warn("the settings of load reports cannot be read: those of before count", "error", err)
		}
		failing = err != nil
		return failing
	}}.run(ctx)
}

// known are the fleets whose nodes report; others are forgotten.
func (l *loadSettings) known() (known []fleet.KnownLoadSettings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, s := range l.fleets {
		if time.Since(s.asked) > settingsKept {
			delete(l.fleets, key)
			continue
		}
		known = append(known, fleet.KnownLoadSettings{Key: key, Epoch: s.epoch})
	}
	return known
}
