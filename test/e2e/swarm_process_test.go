package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unique"

	"fairlead/test/world"
)

// swarmEnv makes the test program a swarm: it is told what to do on its input, and tells its counters on its output.
const swarmEnv = "FAIRLEAD_E2E_SWARM"

// swarmOrder is what a swarm in a process of its own is told. The first one starts it; of later ones Sites and Refuses count.
type swarmOrder struct {
	Nodes   int
	Prefix  string
	Token   string
	Asks    []subscription
	Within  time.Duration
	Alone   bool     // each node has a connection of its own
	Sites   []string // addresses
	Refuses []string
	Number  int64 // of this order; larger than the one before
}

// swarmCount is what it tells.
type swarmCount struct {
	Order                      int64 // the number of the last order that is obeyed
	Opened, Ended, Acks, Nacks int64
	Resources                  int64
	Reason                     string // why one of the streams that ended did
}

// swarmProcess is a swarm in a process of its own.
type swarmProcess struct {
	t     testing.TB
	order swarmOrder
	tell  *json.Encoder
	last  atomic.Pointer[swarmCount]
}

// swarm starts a swarm in a process of its own. It ends with the test.
func (w *installation) swarm(order swarmOrder) *swarmProcess {
	w.T.Helper()
	command := append(slices.Clone(w.Under), os.Args[0])
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), swarmEnv+"=1"), os.Stderr
	in, err := cmd.StdinPipe()
	world.Must(w.T, err)
	out, err := cmd.StdoutPipe()
	world.Must(w.T, err)
	world.Must(w.T, cmd.Start())
	c := &swarmProcess{t: w.Whole, order: order, tell: json.NewEncoder(in)}
	c.last.Store(&swarmCount{})
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := json.NewDecoder(bufio.NewReader(out))
		for {
			var n swarmCount
			if lines.Decode(&n) != nil {
				return
			}
			c.last.Store(&n)
		}
	}()
	w.Whole.Cleanup(func() {
		_ = in.Close()
		<-read
		if err := cmd.Wait(); err != nil {
			w.Whole.Errorf("the swarm's process: %v", err)
		}
	})
	world.Must(w.T, c.tell.Encode(c.order))
	return c
}

// now is what has been counted, at most a tenth of a second ago.
func (c *swarmProcess) now() swarmCount { return *c.last.Load() }

// move tells where the server of a site is now.
func (c *swarmProcess) move(site int, address string) {
	c.t.Helper()
	c.order.Sites[site] = address
	c.send()
}

// refuse has the nodes refuse these names from now on, and no others.
func (c *swarmProcess) refuse(names ...string) {
	c.t.Helper()
	c.order.Refuses = names
	c.send()
}

// send returns when the order is obeyed: a write that follows it meets nodes that know of it.
func (c *swarmProcess) send() {
	c.t.Helper()
	c.order.Number++
	world.Must(c.t, c.tell.Encode(c.order))
	world.Eventually(c.t, time.Minute, "the swarm does not obey", func() bool { return c.now().Order == c.order.Number })
}

// runSwarm is that process, until its input ends.
func runSwarm(in io.Reader, out io.Writer) error {
	orders := json.NewDecoder(in)
	var o swarmOrder
	if err := orders.Decode(&o); err != nil {
		return fmt.Errorf("the first order: %w", err)
	}
	s := &swarm{nodes: o.Nodes, prefix: o.Prefix, token: o.Token, asks: o.Asks, alone: o.Alone, within: o.Within}
	for range o.Sites {
		s.sites = append(s.sites, &site{})
	}
	var obeyed atomic.Int64
	obey := func(o swarmOrder) {
		for i, address := range o.Sites {
			s.sites[i].move(address)
		}
		names := make([]handle, len(o.Refuses))
		for i, n := range o.Refuses {
			names[i] = unique.Make(n)
		}
		s.refuse(names...)
		obeyed.Store(o.Number)
	}
	obey(o)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	end, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer end()
	told := make(chan struct{})
	go func() {
		defer close(told)
		tell := json.NewEncoder(out)
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				n := s.count()
				n.Order = obeyed.Load()
				_ = tell.Encode(n) // who does not listen any more has ended
			}
		}
	}()
	for {
		var next swarmOrder // the nodes still read what the first one asked for
		if orders.Decode(&next) != nil {
			break
		}
		obey(next)
	}
	cancel()
	<-told
	return nil
}
