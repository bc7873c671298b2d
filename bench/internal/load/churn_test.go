package load

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"fairlead/bench/internal/xds"
)

// operator has the two servers of a world.
type operator struct {
	world   *world
	servers []*grpc.Server
	started int
	each    func(change int) error // called before each change
	made    int
}

// two servers have a churn of two seconds, of twenty clients on six connections.
func two(t *testing.T, p xds.Protocol) (*operator, ChurnConfig) {
	t.Helper()
	const clients, clusters, connections = 20, 10, 6
	w, cfg := setup(t, newIncumbent(0, false), clusters)
	cfg.Protocol, cfg.Clients, cfg.Connections = p, clients, connections
	o := &operator{world: w, servers: []*grpc.Server{w.last}, each: func(int) error { return nil }}
	second := w.another()
	o.servers = append(o.servers, w.last)
	return o, ChurnConfig{
		Config: cfg, Servers: []Server{cfg.Server, second},
		Duration: 2 * time.Second, Every: 25 * time.Millisecond, Leaving: 100, Away: 200 * time.Millisecond, Kill: true,
	}
}

// Change implements Operator.
func (o *operator) Change(ctx context.Context) error {
	if err := o.each(o.made); err != nil {
		return err
	}
	o.made++
	var made Made
	return call(ctx, o.world.url+"/change", &made)
}

// Kill implements Operator.
func (o *operator) Kill(i int) { o.servers[i].Stop() }

// Start implements Operator.
func (o *operator) Start(context.Context, int) (Server, error) {
	o.world.mu.Lock()
	defer o.world.mu.Unlock()
	o.started++
	return o.world.another(), nil
}

// play runs a churn and has each client have each change once.
func (o *operator) play(t *testing.T, cfg ChurnConfig) *Churned {
	t.Helper()
	c, err := NewChurn(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, answered, last, acks := 0, 0, 0, 0
	for _, p := range res.Phases {
		made, answered, last, acks = made+p.Made, answered+p.Answer.Count, last+p.Last.Count, acks+p.ACK.Count+p.Returned.Count
		if p.ACK.Count != p.Asked.Count || p.Made == 0 || p.Pushes == 0 || p.Seconds <= 0 || p.ACK.Max > p.Last.Max {
			t.Errorf("%s: %+v", p.Name, p)
		}
	}
	if made != o.made || answered != made || last != made || acks != made*cfg.Clients {
		t.Errorf("of %d changes %d were counted, %d answered, %d had by all, and %d ACKs; want %d", o.made, made, answered, last, acks, o.made*cfg.Clients)
	}
	return res
}

// TestChurn: clients come and go, one of two servers is killed and started again, and each client gets each change, once.
func TestChurn(t *testing.T) {
	t.Parallel()
	for _, p := range []xds.Protocol{xds.SotW, xds.Delta} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			o, cfg := two(t, p)
			res := o.play(t, cfg)
			if len(res.Phases) != 3 || res.Lost != 0 || res.Connections != 6 || res.Connect <= 0 || o.started != 1 {
				t.Fatalf("%+v, %d starts", res, o.started)
			}
			var left int64
			returned := 0
			for _, p := range res.Phases {
				left, returned = left+p.Left, returned+p.Returned.Count
			}
			if left == 0 || returned == 0 {
				t.Errorf("%d clients left, and %d changes were made while they were away", left, returned)
			}
			if before, minute := res.Phases[0], res.Phases[1]; before.Name != "before the kill" || minute.Seconds > before.Seconds || minute.Last.P50 > minute.Last.Max {
				t.Errorf("%+v", res)
			}
		})
	}
}

// TestPushes: nobody hangs up and nobody is killed where that is not asked for, and there is one phase.
func TestPushes(t *testing.T) {
	t.Parallel()
	o, cfg := two(t, xds.Delta)
	cfg.Kill, cfg.Leaving, cfg.Duration = false, 0, 500*time.Millisecond
	res := o.play(t, cfg)
	if len(res.Phases) != 1 || res.Lost != 0 || o.started != 0 {
		t.Fatalf("%+v", res)
	}
	if p := res.Phases[0]; p.Name != "all the time" || p.Left != 0 || p.Returned.Count != 0 || p.ACK.Count != o.made*cfg.Clients {
		t.Errorf("%+v", p)
	}
}

// TestLostConnections: a server that nobody was to kill ends, and that is told; its clients go to the other one all the same.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	o, cfg := two(t, xds.Delta)
	cfg.Kill, cfg.Leaving, cfg.Duration = false, 0, 500*time.Millisecond
	o.each = func(change int) error {
		if change == 3 {
			o.servers[1].Stop()
		}
		return nil
	}
	if res := o.play(t, cfg); res.Lost != 3 || res.Loss == "" {
		t.Errorf("%+v", res)
	}
}

// TestChurnsThatFail: a change that is refused ends the run, and so do clients that no server has anything for.
func TestChurnsThatFail(t *testing.T) {
	t.Parallel()
	o, cfg := two(t, xds.Delta)
	refused := errors.New("it is refused")
	o.each = func(int) error { return refused }
	c, err := NewChurn(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); !errors.Is(err, refused) || !strings.Contains(err.Error(), "change 1: ") {
		t.Errorf("got %v", err)
	}
	cfg.Clusters, cfg.Timeout = cfg.Clusters+1, 100*time.Millisecond
	if c, err = NewChurn(cfg, o); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not all clients got everything") {
		t.Errorf("got %v", err)
	}
}

func TestChurnsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	good := ChurnConfig{
		Config:  Config{Protocol: xds.Delta, Clients: 1, Clusters: 100, Timeout: time.Second},
		Servers: make([]Server, 2), Duration: time.Second, Every: time.Second, Leaving: 1, Away: time.Second, Kill: true,
	}
	if _, err := NewChurn(good, nil); err != nil {
		t.Fatal(err)
	}
	for name, breakIt := range map[string]func(*ChurnConfig){
		"polls":              func(c *ChurnConfig) { c.Protocol, c.Only = xds.REST, true },
		"clusters of choice": func(c *ChurnConfig) { c.Own = true },
		"no clients":         func(c *ChurnConfig) { c.Clients = 0 },
		"nobody is left":     func(c *ChurnConfig) { c.Servers = c.Servers[:1] },
		"no server":          func(c *ChurnConfig) { c.Servers, c.Kill = nil, false },
		"no changes":         func(c *ChurnConfig) { c.Every = 0 },
		"no time":            func(c *ChurnConfig) { c.Duration = 0 },
		"no time away":       func(c *ChurnConfig) { c.Away = 0 },
	} {
		c := good
		breakIt(&c)
		if _, err := NewChurn(c, nil); err == nil {
			t.Errorf("%s are run", name)
		}
	}
}
