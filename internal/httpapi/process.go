package httpapi

import (
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/compute"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/read"
	"fairlead/internal/metrics"
)

// doubtedAtOnce is how many tokens are looked up at the same time that come from addresses of
// bad ones: so many connections of the database a flood may have.
const doubtedAtOnce = 2

// Process is what keeps a process from harm: how much of its memory and of its processors requests have. The APIs of several cells share one.
// Tenants and tokens are counted by their ids, which no two cells have in common.
type Process struct {
	lookups   *auth.Lookups // of API tokens and sessions
	limits    *access.LimitsBook
	pace      *access.Pace
	polls     access.Polls
	shares    *access.Shares // of the processors
	unread    *access.Unread // answers
	bodies    *access.Bodies // of requests
	guesses   *access.Guesses
	denials   access.DenialsRoom
	facts     *read.Book
	computing *compute.Pool
}

// NewProcess has room for all, and tells m what is computed.
func NewProcess(m *metrics.Requests) *Process {
	p := &Process{
		lookups: auth.NewLookups(0, doubtedAtOnce),
		limits:  access.NewLimitsBook(time.Now, databasePatience), pace: access.NewPace(time.Now),
		shares: access.NewShares(), unread: access.NewUnread(streamPatience), bodies: access.NewBodies(),
		guesses: access.NewGuesses(time.Now), facts: read.NewBook(newReading()), computing: newComputing(),
	}
	m.Watch(func() metrics.ComputeState {
		s := p.computing.State()
		return metrics.ComputeState{Slots: s.Slots, Running: s.Running, Waiting: s.Waiting}
	})
	return p
}
