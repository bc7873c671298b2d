package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/bench/internal/proc"
	"fairlead/bench/internal/xds"
)

// Operator is who has the servers of a churn.
type Operator interface {
	// Change makes the next change, and returns when that was answered.
	Change(ctx context.Context) error
	// Kill has server i end at once, and does not wait for that.
	Kill(i int)
	// Start starts it again, at another address.
	Start(ctx context.Context, i int) (Server, error)
}

// ChurnConfig says what happens to the clients of several servers. Of Config, Server, Changes, Returns, AtRest and Control are not used.
type ChurnConfig struct {
	Config
	Servers  []Server
	API      int           // process whose children are Postgres; 0: it is not looked at
	Duration time.Duration // of all phases together
	Every    time.Duration // from one change to the next
	Leaving  float64       // share of the connections that hang up in a minute...
	Away     time.Duration // ...and come back, to any server, after a random part of this
	Kill     bool          // the first server, as the change in the middle is asked for: its clients miss that
}

func (c ChurnConfig) check() error {
	switch {
	case c.Protocol == xds.REST || c.Own:
		return errors.New("clients that poll, or that choose their clusters, have no churn")
	case len(c.Servers) < 2 && c.Kill:
		return errors.New("one server of two is killed")
	case len(c.Servers) == 0 || c.Every <= 0 || c.Duration < c.Every || c.Leaving < 0 || c.Leaving > 0 && c.Away <= 0:
		return errors.New("there has to be a server, and time for a change")
	}
	return nil
}

// The minute after the kill is shorter in a short run, and the server is away for a part of it.
func (c ChurnConfig) minute() time.Duration { return min(time.Minute, c.Duration/4) }
func (c ChurnConfig) down() time.Duration   { return min(10*time.Second, c.minute()/2) }

// served is a server in one of its lives.
type served struct {
	Server
	life int
	dead bool
}

// Churn is a run in which clients come and go while one change follows the other.
type Churn struct {
	*Runner
	cfg     ChurnConfig
	by      Operator
	members []*member
	dials   chan struct{} // an element for each connection in the making
	work    sync.WaitGroup

	changed []changed      // by number; the first is not used
	asked   atomic.Uint64  // the newest change that was asked for
	final   atomic.Uint64  // the last one; 0: there are more to come
	killing chan chan look // asks who makes the changes for the kill, and for what all had used before
	all     chan struct{}  // closed when all clients have it
	once    sync.Once
	killed  atomic.Int64 // when the server was, in Unix nanoseconds; 0: it was not
	phases  [Phases]counts
	left    atomic.Int64 // how many clients hung up

	mu      sync.Mutex // guards what follows
	servers []served
	lost    int   // connections that ended though nobody had ended them
	loss    error // of the first
}

// changed is a change: times are in Unix nanoseconds, 0 before they come.
type changed struct {
	asked, answered atomic.Int64
	have            atomic.Int64 // how many clients have it
	last            atomic.Int64 // when a client that was there got it last
}

// counts are a phase's.
type counts struct{ answer, ack, asked, returned histogram }

// NewChurn checks cfg.
func NewChurn(cfg ChurnConfig, by Operator) (*Churn, error) {
	r, err := New(cfg.Config)
	if err = errors.Join(err, cfg.check()); err != nil {
		return nil, err
	}
	c := &Churn{
		Runner: r, cfg: cfg, by: by, dials: make(chan struct{}, dials), all: make(chan struct{}), killing: make(chan chan look),
		changed: make([]changed, 3+cfg.Duration/cfg.Every), // one may come while the middle is waited for
	}
	for _, s := range cfg.Servers {
		c.servers = append(c.servers, served{Server: s})
	}
	for i, g := range r.groups() {
		c.members = append(c.members, &member{churn: c, clients: g, random: rand.New(rand.NewPCG(2, uint64(i)))})
	}
	r.seen = c.note
	return c, nil
}

// Run has all clients connect, then makes the changes. It fails where a client cannot be served.
func (c *Churn) Run(ctx context.Context) (res *Churned, err error) {
	clients, end := context.WithCancel(ctx)
	defer c.work.Wait()
	defer end()
	res = &Churned{Connections: len(c.members)}
	c.start = time.Now()
	for i, m := range c.members {
		c.work.Go(func() { m.live(clients, i%len(c.servers)) })
	}
	if err := c.await(ctx, c.full, "not all clients got everything"); err != nil {
		return nil, err
	}
	res.Connect = time.Since(c.start).Seconds()
	for _, s := range c.cfg.Servers {
		if s.PID != 0 {
			if err := proc.Quiesce(ctx, s.PID); err != nil {
				return nil, err
			}
		}
	}
	phases, err := c.play(ctx)
	if err != nil {
		return nil, err
	}
	last := time.Now()
	if err := c.await(ctx, c.all, "not all clients got the last change"); err != nil {
		return nil, err
	}
	res.Behind = time.Since(last).Seconds()
	end()
	c.work.Wait()
	c.sumUp(phases)
	res.Phases, res.Lost = phases, c.lost
	if c.loss != nil {
		res.Loss = c.loss.Error()
	}
	return res, nil
}

// await waits for all clients, for as long as a phase may take.
func (c *Churn) await(ctx context.Context, all <-chan struct{}, words string) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		err := fmt.Errorf("%s: %w", words, ctx.Err())
		if c.loss != nil {
			err = fmt.Errorf("%w; %d connections were lost, the first so: %w", err, c.lost, c.loss)
		}
		return err
	}
}

// play makes the changes, phase after phase. When it returns no more are made, and no client hangs up.
func (c *Churn) play(ctx context.Context) (phases []Phase, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	times := []time.Duration{c.cfg.Duration}
	if c.cfg.Kill {
		half := c.cfg.Duration / 2
		times = []time.Duration{half, c.cfg.minute(), c.cfg.Duration - half - c.cfg.minute()}
	}
	var acting, starting sync.WaitGroup
	stop := make(chan struct{})
	acting.Go(func() {
		if err := c.change(ctx, stop); err != nil {
			fail(err)
		}
	})
	acting.Go(func() { c.leave(stop) })
	defer starting.Wait()
	var ending sync.Once
	enough := func() { ending.Do(func() { close(stop) }); acting.Wait() }
	defer enough()
	before := c.look()
	for i, d := range times {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(d):
		}
		if i == len(times)-1 {
			enough()
		}
		after := c.look()
		if i == 0 && c.cfg.Kill {
			before := make(chan look, 1)
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case c.killing <- before:
			}
			after = <-before
			starting.Go(func() {
				if err := c.restart(ctx); err != nil {
					fail(err)
				}
			})
		}
		phases = append(phases, after.since(before))
		before = after
	}
	starting.Wait()
	c.finish()
	return phases, context.Cause(ctx)
}

// change makes one change after the other.
func (c *Churn) change(ctx context.Context, stop <-chan struct{}) error {
	tick := time.NewTicker(c.cfg.Every)
	defer tick.Stop()
	for n := uint64(1); n < uint64(len(c.changed)); n++ {
		select {
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		select {
		case before := <-c.killing:
			before <- c.look() // has room
			c.kill()
		default:
		}
		ch := &c.changed[n]
		ch.asked.Store(time.Now().UnixNano())
		c.asked.Store(n)
		if err := c.by.Change(ctx); err != nil {
			return fmt.Errorf("change %d: %w", n, err)
		}
		ch.answered.Store(time.Now().UnixNano())
	}
	return nil
}

// leave has one connection after the other hang up.
func (c *Churn) leave(stop <-chan struct{}) {
	if c.cfg.Leaving == 0 {
		return
	}
	random := rand.New(rand.NewPCG(3, 0))
	tick := time.NewTicker(time.Duration(float64(time.Minute) / c.cfg.Leaving / float64(len(c.members))))
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			if m := c.members[random.IntN(len(c.members))]; m.hangUp() {
				c.left.Add(int64(len(m.clients)))
			}
		}
	}
}

// kill ends the first server.
func (c *Churn) kill() {
	c.mu.Lock()
	c.servers[0].dead = true
	c.servers[0].life++
	c.mu.Unlock()
	c.killed.Store(time.Now().UnixNano())
	c.by.Kill(0)
}

// restart starts it again after a while.
func (c *Churn) restart(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c.cfg.down()):
	}
	s, err := c.by.Start(ctx, 0)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[0] = served{Server: s, life: c.servers[0].life + 1}
	return nil
}

// server tells where a server is, and which of its lives that is.
func (c *Churn) server(i int) (Server, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[i].Server, c.servers[i].life
}

// ended notes the end of a connection to that life of a server. One to a server that was killed is no loss.
func (c *Churn) ended(i, life int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.servers[i].dead || c.servers[i].life != life {
		return
	}
	if c.lost++; c.loss == nil {
		c.loss = err
	}
}

// note is told when a client has gone from one change to another, as it sends the ACK.
func (c *Churn) note(who *client, from, to uint64) {
	now := time.Now().UnixNano()
	for n := from + 1; n <= to; n++ {
		ch := &c.changed[n]
		asked, answered := ch.asked.Load(), ch.answered.Load()
		p := &c.phases[c.phase(asked, now)]
		if answered != 0 && who.back >= answered {
			p.returned.add(time.Duration(now - who.back))
		} else {
			if answered == 0 { // it has the change before whoever made it is told
				answered = now
			}
			p.ack.add(time.Duration(now - answered))
			p.asked.add(time.Duration(now - asked))
			for old := ch.last.Load(); now > old && !ch.last.CompareAndSwap(old, now); old = ch.last.Load() {
			}
		}
		if have := ch.have.Add(1); n == c.final.Load() && have == int64(len(c.clients)) {
			c.once.Do(func() { close(c.all) })
		}
	}
}

// finish says that no more changes come.
func (c *Churn) finish() {
	n := c.asked.Load()
	c.final.Store(n)
	if n == 0 || c.changed[n].have.Load() == int64(len(c.clients)) {
		c.once.Do(func() { close(c.all) })
	}
}

// phase is that of a change which was asked for at one time, and which a client got at another: what a client did not have when the server
// was killed counts to the minute after that.
func (c *Churn) phase(asked, got int64) int {
	killed := c.killed.Load()
	switch {
	case killed == 0 || got < killed:
		return 0
	case asked >= killed+int64(c.cfg.minute()):
		return 2
	}
	return 1
}
