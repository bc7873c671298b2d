package run

import (
	"fmt"
	"time"

	"fairlead/internal/fleet"
)

// LeastLoad is how often a fleet may have its proxies report their load. The API refuses what is more often, and the xDS servers, which the reports cost something,
// keep to it whatever a fleet has.
type LeastLoad struct {
	Interval time.Duration `name:"least-load-report-interval" env:"FAIRLEAD_LEAST_LOAD_REPORT_INTERVAL" default:"1s" help:"The shortest interval at which a fleet may have its proxies report their load, 1s to 1m; the same on all servers."`
}

// least is the interval; 1s where nothing is said.
func (l LeastLoad) least() (time.Duration, error) {
	switch {
	case l.Interval == 0:
		return time.Second, nil
	case l.Interval < time.Second || l.Interval > time.Minute || l.Interval%time.Second != 0:
		return 0, fmt.Errorf("--least-load-report-interval is %s: give whole seconds from 1s to 1m: %w", l.Interval, fleet.ErrInvalid)
	}
	return l.Interval, nil
}
