package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/load"
	"fairlead/bench/internal/proc"
	"fairlead/bench/internal/product"
	"fairlead/bench/internal/xds"
)

// churn is what -fleet asks for: two of our servers with one database, while clients come and go.
type churn struct {
	on       bool
	duration time.Duration
	pushes   float64
	leaving  float64
	away     time.Duration
}

func (c *churn) flags(f *flag.FlagSet) {
	f.BoolVar(&c.on, "fleet", false, "instead of the grid: each cell's clients on two servers of Fairlead with one database, one change a second, "+
		"and one server that is killed in the middle and started again; all on all CPUs")
	f.DurationVar(&c.duration, "duration", time.Hour, "with -fleet: how long")
	f.Float64Var(&c.pushes, "pushes", 0, "with -fleet: as many changes as make so many pushes in a second, and nobody hangs up or is killed")
	f.Float64Var(&c.leaving, "leaving", 1, "with -fleet: percent of the connections that hang up in a minute, and come back")
	f.DurationVar(&c.away, "away", 10*time.Second, "with -fleet: how long they are away at most")
}

// config of a run.
func (c *churn) config(cfg load.Config) load.ChurnConfig {
	out := load.ChurnConfig{Config: cfg, Duration: c.duration, Every: time.Second, Leaving: c.leaving / 100, Away: c.away, Kill: true}
	if c.pushes > 0 {
		out.Every, out.Leaving, out.Kill = time.Duration(float64(cfg.Clients)/c.pushes*float64(time.Second)), 0, false
	}
	return out
}

// pair are the two servers, and who makes the changes.
type pair struct {
	trial   *trial
	own     *product.Fleet
	servers []*process
	killed  time.Duration // what servers that were killed had run for
}

const pairSize = 2

// crowd is one run of -fleet. Its clients are in this process.
func (b *bench) crowd(ctx context.Context, r *run) (err error) {
	debug.FreeOSMemory() // the run before
	t := &trial{fleet: fleet.New(r.Cell.Clusters)}
	if r.Cell.has(optionCDS) {
		t.fleet.Changing = xds.Clusters
	}
	defer t.stop()
	own, err := b.installed.Fleet(ctx)
	if err != nil {
		return err
	}
	if err := own.Set(ctx, t.fleet); err != nil {
		return err
	}
	t.contender = &shipped{b, t.fleet, own}
	cfg := b.churn.config(r.Cell.load(xds.Protocol(r.Protocol)))
	cfg.Timeout, cfg.API = b.timeout, b.installed.PID()
	p := &pair{trial: t, own: own}
	for range pairSize {
		s, err := t.another(ctx)
		if err != nil {
			return err
		}
		p.servers = append(p.servers, s)
		cfg.Servers = append(cfg.Servers, s.Server)
	}
	proc.WaitIdle(b.idleWait)
	c, err := load.NewChurn(cfg, p)
	if err != nil {
		return err
	}
	machine, ours, start := proc.Machine(), proc.TreeCPU(os.Getpid()), time.Now()
	if r.Churn, err = c.Run(ctx); err != nil {
		return fmt.Errorf("%w; the servers say: %s", err, p.words())
	}
	ours = proc.TreeCPU(os.Getpid()) - ours + p.killed
	r.Foreign = max(0, (proc.Machine().Busy-machine.Busy-ours).Seconds()/time.Since(start).Seconds()/float64(machine.CPUs))
	return nil
}

// words are what the servers have said, when they have ended.
func (p *pair) words() string {
	p.trial.stop()
	var all []string
	for _, s := range p.trial.started {
		all = append(all, fmt.Sprintf("%.1000s", strings.TrimSpace(s.stderr.String())))
	}
	return strings.Join(all, "\n")
}

// Change implements load.Operator.
func (p *pair) Change(ctx context.Context) error {
	p.trial.mu.Lock()
	defer p.trial.mu.Unlock()
	return p.own.Put(ctx, p.trial.fleet, p.trial.fleet.Change(time.Now()))
}

// Kill implements load.Operator.
func (p *pair) Kill(i int) {
	_ = p.servers[i].cmd.Process.Kill()
}

// Start implements load.Operator.
func (p *pair) Start(ctx context.Context, i int) (load.Server, error) {
	c := p.servers[i].cmd
	_ = c.Wait() // how it ended is no result
	p.killed += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	s, err := p.trial.start(ctx)
	if s != nil {
		p.trial.mu.Lock()
		defer p.trial.mu.Unlock()
		p.trial.started = append(p.trial.started, s)
		p.servers[i] = s
	}
	if err != nil {
		return load.Server{}, errors.Join(fmt.Errorf("start server %d again", i), err)
	}
	return s.Server, nil
}
