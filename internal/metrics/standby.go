package metrics

import "github.com/prometheus/client_golang/prometheus"

// StandbyReading is what became of a reading of a fleet that a hot standby may answer.
type StandbyReading int

// The readings.
const (
	StandbyRead    StandbyReading = iota // the standby has answered
	StandbyBehind                        // it did not have in time what the primary has
	StandbyFailed                        // it is away, or has refused
	StandbyResting                       // it was not asked, as one of these was so lately

	numStandbyReadings = 4
)

var standbyReadingNames = [numStandbyReadings]string{StandbyRead: "read", StandbyBehind: "behind", StandbyFailed: "failed", StandbyResting: "resting"}

// Standby is what an xDS server measures of its hot standby.
type Standby struct {
	readings [numStandbyReadings]prometheus.Counter
}

func newStandby(s section) *Standby {
	m := &Standby{}
	readings := s.counter("fairlead_standby_readings_total", "Readings of fleets that a hot standby may answer (`--read-database-url`). All but `read` were answered by the primary: the standby was `behind`, or it `failed`, or it was `resting` after one of these.",
		Label{"result", oneOf(standbyReadingNames[:]...)})
	for r, name := range standbyReadingNames {
		m.readings[r] = readings.WithLabelValues(name)
	}
	return m
}

// Read counts a reading.
func (m *Standby) Read(r StandbyReading) { m.readings[r].Inc() }
