package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fairlead/bench/internal/product"
	"fairlead/bench/internal/xds"
)

// bench is what all trials have in common.
type bench struct {
	cells, servers, protocols string
	bin, out                  string
	rounds, changes, returns  int
	atRest                    time.Duration
	serverCPUs, clientCPUs    string
	timeout, idleWait         time.Duration
	churn                     churn

	installed *product.Installation
}

func (b *bench) flags(f *flag.FlagSet) {
	self, _ := os.Executable()
	f.StringVar(&b.cells, "cells", "100x100,1000x100", "what to measure, streams x clusters, with +own, +node, +cds or +shared behind it")
	f.StringVar(&b.servers, "servers", strings.Join([]string{ours, theFloor, theIncumbent}, ","), "servers that take turns")
	f.StringVar(&b.protocols, "protocols", "delta,sotw", "variants of ADS, or rest: polls, in cells with +cds alone, which are Fairlead's")
	f.StringVar(&b.bin, "bin", filepath.Dir(self), "folder of the programs fairlead, xds, floor and incumbent")
	f.StringVar(&b.out, "out", "results.jsonl", "`file` to append results to")
	f.IntVar(&b.rounds, "rounds", 3, "rounds; in each, every server has one run for every cell and protocol")
	f.IntVar(&b.changes, "changes", 6, "changes in a run; the first is a warm-up")
	f.IntVar(&b.returns, "returns", 1, "returns to the same server in a run, and returns after a change, whose mean is the result")
	f.StringVar(&b.serverCPUs, "server-cpus", "0", "CPUs of the server that is measured, as taskset takes them; empty is all")
	f.StringVar(&b.clientCPUs, "client-cpus", "1", "CPUs of the clients, and of Fairlead's API and Postgres")
	f.DurationVar(&b.atRest, "at-rest", 0, "how long the server is looked at while nothing changes; 0: it is not")
	f.DurationVar(&b.timeout, "timeout", 5*time.Minute, "limit of each phase of a run")
	b.churn.flags(f)
	f.DurationVar(&b.idleWait, "idle-wait", 20*time.Second, "how long to wait for the machine to be idle before a run")
}

// run runs all trials and appends their results to a file. An error of a trial is a result.
func (b *bench) run(ctx context.Context) (err error) {
	grid, err := parseGrid(b.cells)
	if err != nil {
		return err
	}
	all, err := b.plan(grid)
	if err != nil {
		return err
	}
	if b.churn.on {
		b.serverCPUs, b.clientCPUs = "", ""
	}
	if b.clientCPUs != "" { // this process and all that it starts
		if out, err := exec.Command("taskset", "-acp", b.clientCPUs, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
			return fmt.Errorf("taskset: %w: %s", err, out)
		}
	}
	if b.churn.on || strings.Contains(b.servers, ours) {
		stop, err := b.install(ctx)
		if err != nil {
			return err
		}
		defer stop()
	}
	w, err := os.OpenFile(b.out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, r := range all {
		one := b.one
		if b.churn.on {
			one = b.crowd
		}
		if err := one(ctx, &r); err != nil {
			r.Error = err.Error()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := json.NewEncoder(w).Encode(r); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, r.progress())
	}
	return nil
}

// plan is what is to be run, one after the other.
func (b *bench) plan(grid []cell) (all []run, err error) {
	for round := range b.rounds {
		for _, c := range grid {
			for name := range strings.SplitSeq(b.protocols, ",") {
				p, err := xds.ParseProtocol(name)
				if err != nil {
					return nil, err
				}
				servers := b.servers
				if b.churn.on {
					servers = ours
				}
				for s := range strings.SplitSeq(servers, ",") {
					if c.measures(s, p) {
						all = append(all, run{Server: s, Protocol: name, Cell: c, Round: round})
					}
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there is nothing to measure: rest goes with cells that have +cds, and these with the server fairlead")
	}
	return all, nil
}

// install starts a Fairlead whose data goes when it is stopped.
func (b *bench) install(ctx context.Context) (stop func(), err error) {
	dir, err := os.MkdirTemp("", "xdsbench-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	if b.installed, err = product.Start(ctx, product.Config{Bin: b.bin, Dir: dir}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return func() {
		if err := errors.Join(b.installed.Stop(), os.RemoveAll(dir)); err != nil {
			fmt.Fprintln(os.Stderr, "xdsbench: stop Fairlead:", err)
		}
	}, nil
}
