package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/load"
	"fairlead/bench/internal/product"
)

// The servers that are compared.
const (
	ours           = "fairlead"
	theFloor       = "floor"
	theIncumbent   = "incumbent"
	incumbentNodes = "incumbent-nodes" // a snapshot for each node
)

// contender is what a run measures: one configuration, and the servers that serve it.
type contender interface {
	// start starts one more server, and returns when it serves the newest configuration.
	start(ctx context.Context) (*process, error)
	// change publishes load assignment, or cluster, i of the fleet, which was changed at now.
	change(ctx context.Context, i int, now time.Time) error
}

// newContender publishes f.
func (b *bench) newContender(ctx context.Context, name string, c cell, f *fleet.Fleet) (contender, error) {
	switch name {
	case ours:
		own, err := b.installed.Fleet(ctx)
		if err != nil {
			return nil, err
		}
		return &shipped{b, f, own}, own.Set(ctx, f)
	case theFloor:
		return &plain{bench: b, cmd: []string{"floor"}, clusters: c.Clusters}, nil
	case theIncumbent, incumbentNodes:
		cmd := []string{"incumbent", "-partial=" + strconv.FormatBool(c.has(optionOwn))}
		if name == incumbentNodes {
			cmd = append(cmd, "-nodes", strconv.Itoa(c.Streams))
		}
		return &plain{bench: b, cmd: cmd, clusters: c.Clusters}, nil
	}
	return nil, fmt.Errorf("no server %q: there are %s, %s, %s and %s", name, ours, theFloor, theIncumbent, incumbentNodes)
}

// shipped is Fairlead as it ships: changes go over its API through Postgres.
type shipped struct {
	bench *bench
	fleet *fleet.Fleet
	own   *product.Fleet
}

func (s *shipped) start(ctx context.Context) (*process, error) {
	at, err := freeAddresses(3)
	if err != nil {
		return nil, err
	}
	args, err := s.bench.installed.XDS(at[0], at[1], at[2])
	if err != nil {
		return nil, err
	}
	p, err := startProcess(s.bench.serverCPUs, args, load.Server{Target: at[0], Memory: "http://" + at[2] + "/memory", Token: s.own.NodeToken}, nil)
	if err != nil {
		return nil, err
	}
	return p, await(ctx, http.MethodGet, "http://"+at[1]+"/readyz")
}

func (s *shipped) change(ctx context.Context, i int, _ time.Time) error {
	return s.own.Change(ctx, s.fleet, i)
}

// plain is a server that keeps its configuration for itself: a second one is told all that
// the first was.
type plain struct {
	bench    *bench
	cmd      []string
	clusters int
	changes  []time.Time
	newest   string // its admin address
}

func (p *plain) start(ctx context.Context) (*process, error) {
	at, err := freeAddresses(2)
	if err != nil {
		return nil, err
	}
	args := append([]string{filepath.Join(p.bench.bin, p.cmd[0])}, p.cmd[1:]...)
	args = append(args, "-listen", at[0], "-admin", at[1])
	s, err := startProcess(p.bench.serverCPUs, args, load.Server{Target: at[0], Memory: "http://" + at[1] + "/memory"}, nil)
	if err != nil {
		return nil, err
	}
	p.newest = "http://" + at[1]
	if err := await(ctx, http.MethodPost, p.newest+"/set?clusters="+strconv.Itoa(p.clusters)); err != nil {
		return s, err
	}
	for _, now := range p.changes {
		if err := p.tell(ctx, now); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (p *plain) change(ctx context.Context, _ int, now time.Time) error {
	p.changes = append(p.changes, now)
	return p.tell(ctx, now)
}

func (p *plain) tell(ctx context.Context, now time.Time) error {
	return ask(ctx, http.MethodPost, p.newest+"/change?nanos="+strconv.FormatInt(now.UnixNano(), 10))
}
