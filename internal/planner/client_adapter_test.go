package planner_test

import (
	"fmt"
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// client is a stream's client as the tests write it down: twice, once with a planner that
// remembers and once with one that does not. Both must say the same, or the test fails.
type client struct {
	t interface {
		Helper()
		Fatalf(format string, args ...any)
	}

	Delta, Envoy, SingleType, TTL, Opening, Errors bool
	MaxSet                                         int
	Past                                           planner.Past
	Before, Between                                *snapshot.Snapshot
	Now                                            time.Time

	c, plain *planner.Client
	verdicts []snapshot.Verdict
	doubted  []refusal.Key
}

// request is a request with its names as texts.
type request struct {
	Type           fleet.Type
	Names, Dropped []string
	Version        string
	Versions       map[string]string
}

// response is one that was sent.
type response struct {
	*planner.Response
	Nonce string
	plain *planner.Response
}

func (c *client) init() {
	if c.c != nil {
		return
	}
	k := planner.Kind{Delta: c.Delta, Envoy: c.Envoy, SingleType: c.SingleType, TTL: c.TTL, Errors: c.Errors, MaxSet: c.MaxSet}
	o := planner.Origin{Past: c.Past, Before: c.Before, Between: c.Between}
	c.c = planner.New(planner.DefaultMemo).Client(fleet.Key{}, k, o, c.Opening, c.Now)
	c.plain = planner.New(0).Client(fleet.Key{}, k, o, c.Opening, c.Now)
}

func (c *client) find(f, plain planner.Findings) {
	if len(f.Verdicts) != len(plain.Verdicts) || !slices.Equal(sorted(f.Doubted), sorted(plain.Doubted)) {
		c.t.Helper()
		c.t.Fatalf("without a memo %+v was found, and not %+v", plain, f)
	}
	c.verdicts, c.doubted = append(c.verdicts, f.Verdicts...), append(c.doubted, f.Doubted...)
}

func sorted(ds []refusal.Key) []refusal.Key {
	ds = slices.Clone(ds)
	slices.SortFunc(ds, func(a, b refusal.Key) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return ds
}

func (c *client) Subscribe(r request, target *snapshot.Target) {
	c.init()
	star := func(names []string) ([]string, bool) {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "*" }), slices.Contains(names, "*")
	}
	names, all := star(r.Names)
	dropped, none := star(r.Dropped)
	q := planner.Request{
		Type: r.Type, Names: planner.NamesOf(names...), Star: all, Dropped: planner.NamesOf(dropped...), Unstar: none,
		Version: r.Version, Versions: planner.VersionsOf(r.Versions),
	}
	c.find(c.c.Request(c.Now, q, target), c.plain.Request(c.Now, q, target))
}

func (c *client) Next(target *snapshot.Target) *response {
	c.init()
	if len(c.verdicts) > 0 {
		return nil
	}
	out, plain := c.c.Step(c.Now, target), c.plain.Step(c.Now, target)
	c.find(out.Findings, plain.Findings)
	if (out.Response == nil) != (plain.Response == nil) {
		c.t.Fatalf("without a memo there is something to send: %t, with one: %t", plain.Response != nil, out.Response != nil)
	}
	if out.Response == nil {
		return nil
	}
	r := &response{Response: out.Response, plain: plain.Response}
	if string(out.Response.Body()) != string(plain.Response.Body()) {
		c.t.Fatalf("without a memo the response is %s and not %s", describe(&response{Response: plain.Response}), describe(r))
	}
	return r
}

func (c *client) Sent(r *response, nonce string) {
	r.Nonce = nonce
	c.c.Sent(c.Now, r.Response, nonce)
	c.plain.Sent(c.Now, r.plain, nonce)
}

func (c *client) acknowledge(t fleet.Type, nonce, words string) {
	c.find(c.c.Ack(c.Now, t, nonce, words), c.plain.Ack(c.Now, t, nonce, words))
}

func (c *client) Acknowledge(t fleet.Type, nonce string) { c.acknowledge(t, nonce, "") }

func (c *client) Refuse(t fleet.Type, nonce, words string) bool {
	f, ok := c.c.Nack(c.Now, t, nonce, words)
	plain, _ := c.plain.Nack(c.Now, t, nonce, words)
	c.find(f, plain)
	return ok
}

func (c *client) Verdicts() []snapshot.Verdict {
	vs := c.verdicts
	c.verdicts = nil
	return vs
}

func (c *client) Doubted() []refusal.Key {
	ds := c.doubted
	c.doubted = nil
	return ds
}

func (c *client) Opened() {
	c.init()
	c.c.Opened(c.Now)
	c.plain.Opened(c.Now)
}

func (c *client) Settled() fleet.Revision {
	c.init()
	return c.c.Settled()
}

func (c *client) Waits(target *snapshot.Target, warming bool) fleet.Waits {
	c.plain.Waits(c.Now, target, warming)
	return c.c.Waits(c.Now, target, warming)
}

func (c *client) Due() time.Time { return c.c.Due(c.Now) }
func (c *client) Clean() bool    { return c.c.Clean() }

// leaves is what the client's next stream is told of this one.
func (c *client) leaves() planner.Past {
	return planner.Past{Unclean: !c.Clean(), Settled: c.Settled()}
}
func (c *client) Keeps() bool { return c.c.Keeps() }

// contents is a set as a plain map from names to versions.
func contents(s *snapshot.Set) map[string]string {
	m := map[string]string{}
	for r := range s.All() {
		m[r.Name] = r.Version
	}
	return m
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("name-%d", i)
	}
	return names
}
