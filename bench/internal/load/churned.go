package load

import (
	"os"
	"time"

	"fairlead/bench/internal/proc"
)

// Phases are as many as there are in a churn at most: before the kill, the minute after it, and all that follows.
const Phases = 3

var phaseNames = [Phases]string{"before the kill", "the minute after", "after"}

// Churned is the outcome of a churn.
type Churned struct {
	Connections int     `json:"connections"`
	Connect     float64 `json:"connect_s"` // until all clients had everything for the first time
	Phases      []Phase `json:"phases"`
	Behind      float64 `json:"behind_s"`       // from the last change until all clients had it, those that were away too
	Lost        int     `json:"lost"`           // connections that ended though nobody had ended them
	Loss        string  `json:"loss,omitempty"` // how the first did
}

// Phase is a part of a churn. A change that a client did not have when the server was killed counts to the minute after that.
type Phase struct {
	Name     string  `json:"name"`
	Seconds  float64 `json:"seconds"`
	Made     int     `json:"made"`   // changes that were asked for
	Pushes   int64   `json:"pushes"` // responses that clients got
	Left     int64   `json:"left"`   // clients that hung up
	Answer   Dist    `json:"answer"` // from asking for a change to the answer
	ACK      Dist    `json:"ack"`    // from that answer to each client's ACK; one before the answer counts as 0
	Asked    Dist    `json:"asked"`  // from asking for a change to each client's ACK
	Last     Dist    `json:"last"`   // from the answer until the last of the clients that were there has it, for each change
	Returned Dist    `json:"returned"`

	Servers  []Use `json:"servers"`
	API      Use   `json:"api"`
	Postgres Use   `json:"postgres"`
	Clients  Use   `json:"clients"` // this process
}

// Use is what processes have used in a phase, and their memory at its end: of Postgres without what its processes share, but once.
type Use struct {
	CPU  float64 `json:"cpu_s"`
	RSS  int64   `json:"rss"`
	Peak int64   `json:"peak,omitempty"`
}

// look is the state of all at one moment; its CPU times are since the processes were started.
type look struct {
	at       time.Time
	made     uint64
	messages int64
	left     int64
	pids     []int
	servers  []Use
	api      Use
	postgres Use
	clients  Use
}

// useOf a process that is gone is nothing.
func useOf(pid int) (u Use) {
	if pid == 0 {
		return u
	}
	if ran, err := proc.CPU(pid); err == nil {
		u.CPU = ran.Seconds()
	}
	if m, err := proc.MemoryOf(pid); err == nil {
		u.RSS, u.Peak = m.RSS, m.Peak
	}
	return u
}

func (c *Churn) look() (l look) {
	l.at, l.made, l.messages, l.left = time.Now(), c.asked.Load(), c.messages.Load(), c.left.Load()
	for i := range c.cfg.Servers {
		s, _ := c.server(i)
		l.pids, l.servers = append(l.pids, s.PID), append(l.servers, useOf(s.PID))
	}
	l.clients = useOf(os.Getpid())
	if c.cfg.API == 0 {
		return l
	}
	l.api = useOf(c.cfg.API)
	below, err := proc.Below(c.cfg.API)
	if err == nil {
		l.postgres = Use{CPU: below.CPU.Seconds(), RSS: below.PSS}
	}
	return l
}

func (u Use) since(before Use) Use {
	u.CPU = max(0, u.CPU-before.CPU)
	return u
}

// since has the processor's times of two moments. A server that was started in between has used what it has.
func (l look) since(before look) Phase {
	p := Phase{
		Seconds: l.at.Sub(before.at).Seconds(), Made: int(l.made - before.made), Pushes: l.messages - before.messages, Left: l.left - before.left,
		API: l.api.since(before.api), Postgres: l.postgres.since(before.postgres), Clients: l.clients.since(before.clients),
	}
	for i, u := range l.servers {
		if l.pids[i] == before.pids[i] {
			u = u.since(before.servers[i])
		}
		p.Servers = append(p.Servers, u)
	}
	return p
}

// sumUp adds the distributions, when no client runs any more.
func (c *Churn) sumUp(phases []Phase) {
	var last [Phases]histogram
	for n := range c.asked.Load() {
		ch := &c.changed[n+1]
		asked, answered := ch.asked.Load(), ch.answered.Load()
		got := max(ch.last.Load(), answered)
		last[c.phase(asked, got)].add(time.Duration(got - answered))
		c.phases[c.phase(asked, answered)].answer.add(time.Duration(answered - asked))
	}
	for i := range phases {
		p, k := &phases[i], &c.phases[i]
		if p.Name = phaseNames[i]; len(phases) == 1 {
			p.Name = "all the time"
		}
		p.Answer, p.ACK, p.Asked, p.Returned, p.Last = k.answer.dist(), k.ack.dist(), k.asked.dist(), k.returned.dist(), last[i].dist()
	}
}
