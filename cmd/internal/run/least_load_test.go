package run

import (
	"errors"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// TestLeastLoad: a second where nothing is said, and nothing that a fleet could not ask for.
func TestLeastLoad(t *testing.T) {
	t.Parallel()
	for said, want := range map[time.Duration]time.Duration{0: time.Second, 5 * time.Second: 5 * time.Second, time.Minute: time.Minute} {
		if got, err := (LeastLoad{said}).least(); err != nil || got != want {
			t.Errorf("%s: %s, %v", said, got, err)
		}
	}
	for _, said := range []time.Duration{time.Millisecond, -time.Second, 61 * time.Second, 1500 * time.Millisecond} {
		if _, err := (LeastLoad{said}).least(); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%s: %v", said, err)
		}
	}
}
