package run

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// settingsTable is a database of settings.
type settingsTable struct {
	mu    sync.Mutex // guards what follows
	rows  map[fleet.Key]fleet.KnownLoadSettings
	away  bool
	slow  time.Duration
	asked [][]fleet.KnownLoadSettings
}

func (s *settingsTable) LoadSettings(ctx context.Context, known []fleet.KnownLoadSettings) (changed []fleet.KnownLoadSettings, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, known)
	select {
	case <-time.After(s.slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.away {
		return nil, errors.New("away")
	}
	for _, k := range known {
		if row, ok := s.rows[k.Key]; ok && row.Epoch != k.Epoch {
			changed = append(changed, row)
		}
	}
	return changed, nil
}

func (s *settingsTable) put(key fleet.Key, epoch int64, set fleet.LoadSettings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[key] = fleet.KnownLoadSettings{Key: key, Epoch: epoch, LoadSettings: set}
}

// A fleet's settings are known to its first report, a change within an interval, and what is the same keeps its pointer. Fleets that nobody asks for are forgotten.
func TestSettingsOfLoadReportsFollowTheDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key, other := fleet.Key{Fleet: fleet.NewID()}, fleet.Key{Fleet: fleet.NewID()}
		db := &settingsTable{rows: map[fleet.Key]fleet.KnownLoadSettings{}}
		l := &loadSettings{store: db, every: 10 * time.Second, log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.run(ctx) }()
		db.put(key, 1, fleet.LoadSettings{Interval: 5 * time.Second, Clusters: []string{"a"}})
		is := func(key fleet.Key, want fleet.LoadSettings) *fleet.LoadSettings {
			t.Helper()
			got := l.of(ctx, key)
			if !reflect.DeepEqual(*got, want) {
				t.Errorf("the settings are %+v, want %+v", *got, want)
			}
			return got
		}
		first := is(key, fleet.LoadSettings{Interval: 5 * time.Second, Clusters: []string{"a"}})
		is(other, fleet.LoadSettings{}) // it is gone, say
		db.put(key, 2, fleet.LoadSettings{Interval: 5 * time.Second, Clusters: []string{"a"}})
		time.Sleep(13 * time.Second)
		if is(key, *first) != first {
			t.Error("settings that are the same have another pointer")
		}
		db.put(key, 3, fleet.LoadSettings{Clusters: []string{"b"}})
		time.Sleep(13 * time.Second)
		is(key, fleet.LoadSettings{Clusters: []string{"b"}})
		time.Sleep(settingsKept + time.Minute)
		if known := l.known(); len(known) != 0 {
			t.Errorf("known are %v", known)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// While the database is away a first report waits for a second at most, and goes by the server's settings; those who come with it wait for the same answer.
func TestSettingsOfLoadReportsWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		key := fleet.Key{Fleet: fleet.NewID()}
		db := &settingsTable{slow: time.Hour, rows: map[fleet.Key]fleet.KnownLoadSettings{key: {Key: key, Epoch: 1, LoadSettings: fleet.LoadSettings{Interval: time.Second}}}}
		l := &loadSettings{store: db, every: 10 * time.Second, log: slog.New(slog.NewTextHandler(&out, nil))}
		begun := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if got := l.of(t.Context(), key); got.Interval != 0 {
					t.Errorf("the settings are %+v", got)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begun); took != settingsWait || len(db.asked) != 1 || strings.Count(out.String(), "those of the server count") != 1 {
			t.Errorf("it took %s and %d questions: %s", took, len(db.asked), out.String())
		}
		db.slow, db.away = 0, true
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.run(ctx) }()
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if n := strings.Count(out.String(), "those of before count"); n != 1 {
			t.Errorf("%d lines: %s", n, out.String())
		}
		db.mu.Lock()
		db.away = false
		db.mu.Unlock()
		time.Sleep(13 * time.Second)
		if got := l.of(ctx, key); got.Interval != time.Second {
			t.Errorf("when it is back the settings are %+v", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(db.asked, func(known []fleet.KnownLoadSettings) bool { return len(known) == 1 && known[0].Epoch == 0 }) {
			t.Errorf("asked %v", db.asked)
		}
	})
}
