package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"fairlead/bench/internal/admin"
	"fairlead/bench/internal/proc"
)

// traffic counts what all clients receive and send.
type traffic struct {
	received, sent, messages, resources atomic.Int64
	last                                atomic.Int64 // when bytes came in, in Unix nanoseconds
}

func (t *traffic) count(read, written int) {
	t.received.Add(int64(read))
	t.sent.Add(int64(written))
	if read > 0 {
		t.last.Store(time.Now().UnixNano())
	}
}

// usage is the cost of everything so far.
func (r *Runner) usage() (u Usage, err error) {
	u = Usage{
		Received: r.received.Load(), Sent: r.sent.Load(),
		Messages: r.messages.Load(), Resources: r.resources.Load(),
	}
	if r.server.PID == 0 {
		return u, nil
	}
	own, err := proc.CPU(os.Getpid())
	if err != nil {
		return u, err
	}
	server, err := proc.CPU(r.server.PID)
	u.ClientCPU, u.ServerCPU = own.Seconds(), server.Seconds()
	return u, err
}

// measure runs a phase and takes its cost.
func (r *Runner) measure(ctx context.Context, phase func(context.Context) error) (Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	before, err := r.usage()
	if err != nil {
		return before, err
	}
	start := time.Now()
	if err := phase(ctx); err != nil {
		return Usage{}, err
	}
	took := time.Since(start)
	if err := r.quiesce(ctx); err != nil {
		return Usage{}, err
	}
	settled := time.Since(start)
	after, err := r.usage()
	u := after.since(before)
	u.Seconds, u.LastByte, u.Settled = took.Seconds(), max(0, time.Unix(0, r.last.Load()).Sub(start).Seconds()), settled.Seconds()
	return u, err
}

// since is what was used from one moment to another.
func (u Usage) since(before Usage) Usage {
	return Usage{
		ServerCPU: u.ServerCPU - before.ServerCPU, ClientCPU: u.ClientCPU - before.ClientCPU,
		Received: u.Received - before.Received, Sent: u.Sent - before.Sent,
		Messages: u.Messages - before.Messages, Resources: u.Resources - before.Resources,
	}
}

// plus is what two phases cost together.
func (u Usage) plus(v Usage) Usage {
	return Usage{
		Seconds: u.Seconds + v.Seconds, LastByte: u.LastByte + v.LastByte, Settled: u.Settled + v.Settled,
		ServerCPU: u.ServerCPU + v.ServerCPU, ClientCPU: u.ClientCPU + v.ClientCPU,
		Received: u.Received + v.Received, Sent: u.Sent + v.Sent,
		Messages: u.Messages + v.Messages, Resources: u.Resources + v.Resources,
	}
}

// by is what one of n phases cost.
func (u Usage) by(n int) Usage {
	f, i := float64(n), int64(n)
	return Usage{
		Seconds: u.Seconds / f, LastByte: u.LastByte / f, Settled: u.Settled / f,
		ServerCPU: u.ServerCPU / f, ClientCPU: u.ClientCPU / f,
		Received: u.Received / i, Sent: u.Sent / i, Messages: u.Messages / i, Resources: u.Resources / i,
	}
}

// quiesce waits until the server is at rest.
func (r *Runner) quiesce(ctx context.Context) error {
	if r.server.PID == 0 {
		return nil
	}
	return proc.Quiesce(ctx, r.server.PID)
}

// settle waits until the server is at rest, and has the machine hold the memory that those who connect next will use.
func (r *Runner) settle(ctx context.Context) error {
	if err := r.quiesce(ctx); err != nil {
		return err
	}
	return r.warm()
}

// memoryPerClient is more than a client and the server need for one another, in bytes, where streams share what they subscribe to.
// leastMemory is warmed for any number. Once a server has served all of them it is known what it takes: those that share nothing
// need more.
const (
	memoryPerClient = 200 << 10
	leastMemory     = 128 << 20
)

// warm does nothing for a server on another machine.
func (r *Runner) warm() error {
	if r.server.PID == 0 {
		return nil
	}
	m, err := proc.MemoryOf(r.server.PID)
	if err != nil {
		return err
	}
	r.peak = max(r.peak, m.Peak)
	return proc.Warm(max(leastMemory, len(r.clients)*memoryPerClient, int(r.peak)))
}

// memory is the server's.
func (r *Runner) memory(ctx context.Context) (m Memory, err error) {
	if r.server.Memory != "" {
		var left admin.Memory
		if err := call(ctx, r.server.Memory, &left); err != nil {
			return m, err
		}
		m.Heap = int64(left.Heap + left.Stacks)
	}
	if r.server.PID != 0 {
		m.Memory, err = proc.MemoryOf(r.server.PID)
	}
	return m, err
}

// call POSTs to url and decodes the answer.
func call(ctx context.Context, url string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s: %s", url, resp.Status, bytes.TrimSpace(b))
	}
	return json.Unmarshal(b, answer)
}
