package replica

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
)

// neighbours are two clients with one node id: the thief refuses all that it is sent.
type neighbours struct {
	*whole
	victim, thief *envoy
	version       int
}

func newNeighbours(t *testing.T, delta bool) *neighbours {
	w := &whole{t: t, db: newDatabase()}
	for range wholeServers {
		w.servers = append(w.servers, w.start())
	}
	n := &neighbours{whole: w, victim: w.newEnvoy("n", delta, 1), thief: w.newEnvoy("n", delta, 2)}
	n.thief.thief = true
	synctest.Wait()
	return n
}

// stop ends all, and says what was wrong.
func (n *neighbours) stop() {
	for _, e := range n.envoys {
		e.lose()
	}
	for _, s := range n.servers {
		s.stop()
	}
	n.readers.Wait()
	if len(n.problems) > 0 {
		n.t.Errorf("%s\n%s", strings.Join(n.problems, "\n"), strings.Join(n.log, "\n"))
	}
}

// publish makes a revision of fresh good versions; "-c" deletes.
func (n *neighbours) publish(names ...string) fleet.Revision {
	n.version++
	var edits []edit
	for _, name := range names {
		name, gone := strings.CutPrefix(name, "-")
		e := edit{Type: map[byte]fleet.Type{'l': fleet.Listener, 'r': fleet.Route}[name[0]], Name: name, Version: fmt.Sprint(n.version)}
		switch e.Type {
		case fleet.Listener:
			e.Refs = []string{"r"}
		case fleet.Route:
			e.Refs = []string{"c"}
		}
		if gone {
			e.Version, e.Refs = "", nil
		}
		edits = append(edits, e)
	}
	n.write(edits)
	synctest.Wait()
	return n.db.head()
}

// head is the version that the fleet has of a resource.
func (n *neighbours) head(t fleet.Type, name string) string {
	n.db.feed.mu.Lock()
	defer n.db.feed.mu.Unlock()
	f := n.db.fleets[n.db.key]
	return f.states[f.rev].rows[rowKey{t, name, ""}].Version
}

// act lets one of them receive and answer all that there is.
func (n *neighbours) act(e *envoy) {
	for moved := true; moved; {
		moved = false
		for n.guard(e); e.receive(); n.guard(e) {
			moved = true
		}
		moved = e.askForClusters() || moved
		for e.answer(0) {
			moved = true
		}
		synctest.Wait()
	}
}

// guard looks at the next message before the victim does: what it has, and the fleet has
// too, is neither taken away nor put back.
func (n *neighbours) guard(e *envoy) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e != n.victim || len(e.inbox) == 0 {
		return
	}
	m := e.inbox[0]
	for name, x := range e.holds[m.typ] {
		if x.version == "" || x.version != n.head(m.typ, name) {
			continue
		}
		lacks := slices.Contains(m.removed, name) || !e.delta && m.typ.FullSet() && !m.names(name)
		put := slices.ContainsFunc(m.items, func(y item) bool { return y.name == name && y.version != x.version })
		if lacks || put {
			n.problem("the victim has %s %s@%s, as the fleet does, and is sent %s", m.typ, name, x.version, m)
		}
	}
}

// hasAll: the victim has what the fleet has.
func (n *neighbours) hasAll(when string, names ...string) {
	for _, name := range names {
		t := map[byte]fleet.Type{'l': fleet.Listener, 'r': fleet.Route}[name[0]]
		if want, got := n.head(t, name), n.victim.holds[t][name].version; got != want && (!isNamed(t) || n.victim.asked[t][name]) {
			n.problem("%s, the victim has %s@%s, the fleet @%s", when, name, got, want)
		}
	}
}

// duplicates: the database is told of so many clients with the id, on all servers together.
func (n *neighbours) duplicates(want int) {
	n.db.mu.Lock()
	defer n.db.mu.Unlock()
	got := 0
	for k, row := range n.db.status {
		if k.node == "n" && row.Connected {
			got += max(1, row.Duplicates)
		}
	}
	if got != want {
		n.problem("%d clients are told, want %d", got, want)
	}
}

func (n *neighbours) open() (names []string) {
	n.db.mu.Lock()
	defer n.db.mu.Unlock()
	for _, r := range n.db.open("n") {
		names = append(names, r.Name+"@"+r.Version)
	}
	return names
}

// Two clients with one node id, on one server and on two, and one refuses all: the other
// keeps what it has, and receives later good changes, though the thief is always faster.
func TestT41_ANodeDoesNotSpeakForItsNeighbour(t *testing.T) {
	t.Parallel()
	all := []string{"c", "d", "l", "r"}
	for _, delta := range []bool{true, false} {
		for server := range wholeServers {
			t.Run(fmt.Sprintf("delta=%v/servers=%d", delta, server+1), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := newNeighbours(t, delta)
					defer n.stop()
					n.publish("c", "d", "r", "l")
					n.victim.connect(n.servers[0])
					synctest.Wait()
					n.act(n.victim)
					n.hasAll("at first", all...)

					n.thief.connect(n.servers[server])
					synctest.Wait()
					for range 3 {
						n.act(n.thief)
						n.act(n.victim)
						time.Sleep(time.Second)
						synctest.Wait()
					}
					n.hasAll("beside the thief", all...)
					for range 3 {
						rev := n.publish("c", "l")
						n.act(n.thief) // before the victim has answered
						synctest.Wait()
						n.act(n.victim)
						n.act(n.thief)
						n.act(n.victim)
						n.hasAll("after a change", all...)
						time.Sleep(2 * time.Second)
						synctest.Wait()
						if got := n.db.receipt(rev, "n"); got != fleet.NodeNacked || len(n.open()) == 0 {
							t.Errorf("revision %d is %s for the node, open %q: one client with the id refuses it", rev, got, n.open())
						}
					}

					time.Sleep(40 * time.Second)
					n.duplicates(2)
					n.victim.connect(n.servers[1-server]) // in the midst of it
					synctest.Wait()
					n.act(n.victim)
					n.hasAll("on another stream", all...)
					n.thief.lose()
					synctest.Wait()
					n.act(n.victim)
					time.Sleep(2 * time.Second)
					synctest.Wait()
					n.hasAll("without the thief", all...)
				})
			})
		}
	}
}

// What the refusing client leaves behind is not held against the other one: neither in
// memory, when its stream ends, nor in the database, when all servers have died.
func TestT41_WhatAThiefLeavesBehind(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for name, victimFirst := range map[string]bool{"its stream ends first": false, "it has the last word": true} {
			t.Run(fmt.Sprintf("delta=%v/%s", delta, strings.ReplaceAll(name, " ", "_")), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := newNeighbours(t, delta)
					defer n.stop()
					n.victim.connect(n.servers[0])
					n.thief.connect(n.servers[0])
					synctest.Wait()
					n.publish("c", "d", "r", "l")
					n.act(n.thief)
					n.act(n.victim)
					n.hasAll("beside the thief", "c", "d", "r", "l")
					if victimFirst {
						n.victim.lose()
						synctest.Wait()
					}
					n.thief.lose()
					synctest.Wait()
					n.act(n.victim)
					time.Sleep(2 * time.Second)
					synctest.Wait()
					if open := n.open(); !victimFirst && len(open) > 0 {
						t.Errorf("the one that refused %q has gone, and the other one has it", open)
					}
					for i, s := range n.servers {
						s.line.set(func(l *line) { l.dead = true })
						s.stop()
						n.servers[i] = n.start()
					}
					n.victim.connect(n.servers[1])
					synctest.Wait()
					n.act(n.victim)
					time.Sleep(5 * time.Second)
					synctest.Wait()
					n.act(n.victim)
					n.hasAll("after the servers", "c", "d", "r", "l")
					time.Sleep(2 * time.Second)
					synctest.Wait()
					if open := n.open(); len(open) > 0 {
						t.Errorf("the victim has all, and is shown to refuse %q", open)
					}
				})
			})
		}
	}
}

// Whatever the two do in whatever order, nothing that the victim has is taken away.
func TestT41_NothingIsTakenFromANeighbour(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		t.Run(fmt.Sprintf("delta=%v", delta), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				names := []string{"c", "d", "l", "r", "-d", "-l"}
				type move struct {
					kind  string
					pick  int
					names []string
				}
				moves := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
					return move{
						rapid.SampledFrom([]string{"publish", "publish", "victim", "victim", "thief", "thief", "steal", "leave", "move", "wait"}).Draw(t, "kind"),
						rapid.IntRange(0, wholeServers-1).Draw(t, "pick"),
						rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, func(s string) string { return strings.TrimPrefix(s, "-") }).Draw(t, "names"),
					}
				}), 1, 25).Draw(rt, "moves")
				var problems, log []string
				synctest.Test(t, func(t *testing.T) {
					n := newNeighbours(t, delta)
					n.publish("c", "d", "r", "l")
					n.victim.connect(n.servers[0])
					n.thief.connect(n.servers[1])
					synctest.Wait()
					moved := false
					for _, m := range moves {
						switch m.kind {
						case "publish":
							n.publish(m.names...)
						case "victim":
							n.act(n.victim)
						case "thief":
							if !n.thief.down() {
								n.act(n.thief)
							}
						case "steal":
							n.thief.connect(n.servers[m.pick])
						case "leave":
							n.thief.lose()
						case "move":
							moved = true
							n.act(n.victim) // what it has not answered it may have or not
							n.victim.connect(n.servers[m.pick])
						case "wait":
							time.Sleep(3 * time.Second)
						}
						synctest.Wait()
					}
					for range 3 {
						n.act(n.victim)
						time.Sleep(3 * time.Second)
						synctest.Wait()
					}
					n.act(n.victim)
					if !moved { // else it may be kept from what it never had
						n.hasAll("at rest", "c", "d", "l", "r")
					}
					problems, log, n.problems = n.problems, n.log, nil
					n.stop()
				})
				if len(problems) > 0 {
					rt.Fatalf("%s\n%s", strings.Join(problems, "\n"), strings.Join(log, "\n"))
				}
			})
		})
	}
}

// The victim is away when a change is made, and the thief refuses it, which never had what was
// before: the victim keeps that when it comes back.
func TestT41_WhatIsKeptBackIsNotTakenAway(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for server := range wholeServers {
			t.Run(fmt.Sprintf("delta=%v/servers=%d", delta, server+1), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := newNeighbours(t, delta)
					defer n.stop()
					n.publish("c", "d", "r", "l")
					n.victim.connect(n.servers[0])
					synctest.Wait()
					n.act(n.victim)
					n.hasAll("at first", "c", "d", "r", "l")
					time.Sleep(5 * time.Second)
					n.victim.lose()
					synctest.Wait()
					n.publish("c", "l")
					n.thief.connect(n.servers[server])
					synctest.Wait()
					for range 3 {
						n.act(n.thief)
						time.Sleep(time.Second)
						synctest.Wait()
					}
					n.victim.connect(n.servers[0])
					synctest.Wait()
					for range 3 {
						n.act(n.victim)
						time.Sleep(3 * time.Second)
						synctest.Wait()
					}
					for typ, name := range map[fleet.Type]string{fleet.Cluster: "c", fleet.Listener: "l"} {
						if got := n.victim.holds[typ][name].version; got == "" {
							t.Errorf("the victim has no %s any more, open %q:\n%s", name, n.open(), strings.Join(n.log, "\n"))
						}
					}
				})
			})
		}
	}
}
