package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/load"
	"fairlead/bench/internal/proc"
	"fairlead/bench/internal/xds"
)

// trial is one run: one server under the load of one cell.
type trial struct {
	contender
	fleet *fleet.Fleet

	mu      sync.Mutex // guards started, and keeps calls of the contender apart
	started []*process
}

// one runs a trial.
func (b *bench) one(ctx context.Context, r *run) (err error) {
	t := &trial{fleet: fleet.New(r.Cell.Clusters)}
	if r.Cell.has(optionCDS) {
		t.fleet.Changing = xds.Clusters
	}
	defer t.stop()
	if t.contender, err = b.newContender(ctx, r.Server, r.Cell, t.fleet); err != nil {
		return err
	}
	first, err := t.another(ctx)
	if err != nil {
		return err
	}
	proc.WaitIdle(b.idleWait)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	control := &http.Server{Handler: t.control(), ReadHeaderTimeout: 5 * time.Second}
	var serving sync.WaitGroup
	defer serving.Wait()
	defer control.Close() //nolint:errcheck // nobody calls any more
	serving.Go(func() { _ = control.Serve(lis) })
	cfg := r.Cell.load(xds.Protocol(r.Protocol))
	cfg.Server, cfg.Control, cfg.Timeout = first.Server, "http://"+lis.Addr().String(), b.timeout
	cfg.Changes, cfg.Returns, cfg.AtRest = b.changes, b.returns, b.atRest
	r.Result, r.Foreign, err = b.load(ctx, cfg)
	if err != nil {
		return fmt.Errorf("%w; the server says: %.1000s", err, bytes.TrimSpace(first.stderr.Bytes()))
	}
	return nil
}

// load runs the clients, in a process of their own so that they start with an empty heap. It
// returns the share of the machine's time that processes had which are not ours.
func (b *bench) load(ctx context.Context, cfg load.Config) (*load.Result, float64, error) {
	in, err := json.Marshal(cfg)
	if err != nil {
		return nil, 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	machine, own, start := proc.Machine(), proc.TreeCPU(os.Getpid()), time.Now()
	clients, err := startProcess("", []string{self, "load"}, load.Server{}, bytes.NewReader(in))
	if err != nil {
		return nil, 0, err
	}
	stop := context.AfterFunc(ctx, func() { _ = clients.cmd.Process.Kill() })
	defer stop()
	err = clients.cmd.Wait()
	own = proc.TreeCPU(os.Getpid()) - own + clients.cmd.ProcessState.UserTime() + clients.cmd.ProcessState.SystemTime()
	busy := proc.Machine().Busy - machine.Busy
	foreign := max(0, (busy-own).Seconds()/time.Since(start).Seconds()/float64(machine.CPUs))
	if err != nil {
		return nil, foreign, fmt.Errorf("%w: %s", err, bytes.TrimSpace(clients.stderr.Bytes()))
	}
	res := new(load.Result)
	return res, foreign, json.Unmarshal(clients.stdout.Bytes(), res)
}

// control is what the clients ask for.
func (t *trial) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /change", func(w http.ResponseWriter, r *http.Request) {
		made, err := t.makeChange(r.Context(), time.Now())
		answer(w, made, err)
	})
	mux.HandleFunc("POST /another", func(w http.ResponseWriter, r *http.Request) {
		p, err := t.another(r.Context())
		if err != nil {
			answer(w, nil, err)
			return
		}
		answer(w, p.Server, nil)
	})
	mux.HandleFunc("POST /killed", func(w http.ResponseWriter, r *http.Request) {
		t.kill()
		p, err := t.another(r.Context())
		if err != nil {
			answer(w, nil, err)
			return
		}
		answer(w, p.Server, nil)
	})
	return mux
}

func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(v)
}

func (t *trial) makeChange(ctx context.Context, now time.Time) (load.Made, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.fleet.Change(now)
	return load.Made{Epoch: t.fleet.Epoch, Nanos: now.UnixNano()}, t.change(ctx, i, now)
}

// another starts one more server.
func (t *trial) another(ctx context.Context) (*process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := t.start(ctx)
	if p != nil {
		t.started = append(t.started, p)
	}
	if err != nil && p != nil {
		err = errors.Join(err, errors.New(p.stderr.String()))
	}
	return p, err
}

// kill ends the server that was started last, which tells nobody.
func (t *trial) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.started[len(t.started)-1]
	_ = last.cmd.Process.Kill()
	_ = last.cmd.Wait()
}

func (t *trial) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.started {
		p.stop()
	}
}
