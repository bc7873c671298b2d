package replica

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"pgregory.net/rapid"

	"fairlead/internal/auth"
	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
	_ "fairlead/test/pinned" // the same histories each time
)

// whole is a fleet on several servers that share a database, and its proxies.
type whole struct {
	t        testing.TB
	db       *database
	servers  []*server
	started  int
	envoys   []*envoy
	readers  sync.WaitGroup
	log      []string // what happened, for a failure
	problems []string
}

func (w *whole) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%s ", time.Now().Format("04:05.000"))+fmt.Sprintf(format, args...))
}

func (w *whole) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
	w.note("PROBLEM: "+format, args...)
}

// server is everything between the database and the wire.
type server struct {
	name string
	id   fleet.ServerID
	line *line
	rep  *Replica
	grpc *grpc.Server
	conn *grpc.ClientConn
	stop func()
}

func (w *whole) start() *server {
	w.started++
	s := &server{name: fmt.Sprint("server ", w.started), id: fleet.NewServerID(), line: &line{database: w.db}}
	quiet := slog.New(slog.DiscardHandler)
	rec, err := delivery.New(delivery.Config{Server: s.id, Name: s.name, Sink: s.line, Logger: quiet})
	w.must(err)
	s.rep, err = New(Config{Feed: s.line, Opener: opener{}, Recorder: rec, Logger: quiet})
	w.must(err)
	all, err := auth.ParseNodePattern("*")
	w.must(err)
	engine, err := xds.New(xds.Config{Source: s.rep, Anonymous: &xds.Identity{Key: w.db.key, Nodes: all}, Logger: quiet})
	w.must(err)
	s.grpc = grpc.NewServer(engine.Options()...)
	engine.Register(s.grpc)
	lis := bufconn.Listen(1 << 16)
	s.conn, err = grpc.NewClient("passthrough:///server", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = rec.Run(ctx) })
	wg.Go(func() { _ = s.rep.Run(ctx) })
	wg.Go(func() { _ = s.grpc.Serve(lis) })
	s.stop = func() {
		_ = s.conn.Close()
		s.grpc.Stop()
		cancel()
		wg.Wait()
		engine.Drain()
	}
	return s
}

func (w *whole) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// revision is the newest one that the server knows.
func (s *server) revision(key fleet.Key) fleet.Revision {
	o := s.owner(key)
	if o == nil {
		return 0
	}
	if h := o.held.Load(); h != nil {
		return h.at.Revision
	}
	return 0
}

func (s *server) owner(key fleet.Key) *owner {
	s.rep.mu.Lock()
	defer s.rep.mu.Unlock()
	return s.rep.fleets[key]
}

// serving is what the server has for a node that has a stream.
func (s *server) serving(key fleet.Key, node string) (view *snapshot.Snapshot, target *snapshot.Target, exceptions []snapshot.Exception) {
	o := s.owner(key)
	if o == nil {
		return nil, nil, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.nodes.byID[node]
	if n == nil {
		return nil, nil, nil
	}
	for a := range n.streams {
		return a.subscriber.view.snap, a.Current(), slices.Clone(a.subscriber.list)
	}
	return nil, nil, nil
}

// edit is one change of a resource.
type edit struct {
	Type    fleet.Type
	Name    string
	Edge    bool   // the variant for the cluster "edge"
	Version string // "" deletes it
	Refs    []string
}

// step is one thing that happens.
type step struct {
	Kind  string
	Node  int
	Pick  int // a server, a message, a type
	Edits []edit
	Wait  time.Duration
}

const (
	wholeNodes   = 3
	wholeServers = 2
)

// The kinds of steps.
const (
	stepChange  = "change"
	stepReceive = "receive"
	stepAnswer  = "answer"
	stepAll     = "all" // everybody receives and answers all there is
	stepMove    = "move"
	stepDie     = "die"
	stepLag     = "lag"
	stepAway    = "away"
	stepMute    = "mute"
)

func genEdit() *rapid.Generator[edit] {
	return rapid.Custom(func(t *rapid.T) edit {
		e := edit{Type: rapid.SampledFrom([]fleet.Type{fleet.Cluster, fleet.Cluster, fleet.Endpoint, fleet.Route, fleet.Listener}).Draw(t, "type")}
		clusters := []string{"a", "b", "c", "d"}
		switch e.Type {
		case fleet.Cluster, fleet.Endpoint:
			e.Name = rapid.SampledFrom(clusters).Draw(t, "name")
		case fleet.Route:
			e.Name = rapid.SampledFrom([]string{"r", "s"}).Draw(t, "name")
			e.Refs = rapid.SliceOfNDistinct(rapid.SampledFrom(clusters), 1, 2, rapid.ID).Draw(t, "refs")
		case fleet.Listener:
			e.Name = rapid.SampledFrom([]string{"l", "m"}).Draw(t, "name")
			e.Refs = []string{rapid.SampledFrom([]string{"r", "s"}).Draw(t, "ref")}
		}
		e.Edge = rapid.IntRange(0, 5).Draw(t, "edge") == 5
		if rapid.IntRange(0, 5).Draw(t, "delete") == 5 {
			return edit{Type: e.Type, Name: e.Name, Edge: e.Edge}
		}
		e.Version = fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "version")) + strings.Join(e.Refs, "")
		ills := []string{"", "", "", "", "!", "!n1"}
		if e.Type == fleet.Cluster {
			ills = append(ills, "?")
		}
		e.Version += rapid.SampledFrom(ills).Draw(t, "ill")
		return e
	})
}

func genWholeStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		s := step{
			Kind: rapid.SampledFrom([]string{
				stepAll, stepChange, stepChange, stepReceive, stepReceive, stepAnswer, stepAnswer, stepAnswer, stepMove, stepDie, stepLag, stepAway, stepMute,
			}).Draw(t, "kind"),
			Node: rapid.IntRange(0, wholeNodes-1).Draw(t, "node"),
			Pick: rapid.IntRange(0, 5).Draw(t, "pick"),
			Wait: rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Millisecond, 600 * time.Millisecond, 3 * time.Second, 8 * time.Second}).Draw(t, "wait"),
		}
		if s.Kind == stepChange {
			s.Edits = rapid.SliceOfN(genEdit(), 1, 6).Draw(t, "edits")
		}
		return s
	})
}

// changed reports whether the fleet has brought anew something that a message carries, or a cluster
// that the proxy lacked as it refused it, though it may be gone by now.
func (w *whole) changed(m *message, since refusedAt) bool {
	w.db.feed.mu.Lock()
	defer w.db.feed.mu.Unlock()
	f := w.db.fleets[w.db.key]
	for rev := since.revision + 1; rev <= f.rev; rev++ {
		for k, r := range f.states[rev].rows {
			carried := k.t == m.typ && (m.names(k.name) || slices.Contains(m.removed, k.name))
			came := k.t == fleet.Cluster && !r.Deleted && slices.Contains(since.lacked, k.name)
			if r.Revision > since.revision && (carried || came) {
				return true
			}
		}
	}
	return false
}

// write makes one revision of what the edits really change.
func (w *whole) write(edits []edit) {
	var rows []fleet.Row
	w.db.feed.mu.Lock()
	f := w.db.fleets[w.db.key]
	now := maps.Clone(f.states[f.rev].rows)
	w.db.feed.mu.Unlock()
	for _, x := range edits {
		row := fleet.Row{Type: x.Type, Name: x.Name, Version: x.Version, Deleted: x.Version == "", Body: item{x.Name, x.Version, x.Refs}.encode()}
		if x.Type == fleet.Cluster {
			row.Derived.EDSName = x.Name
		}
		for _, n := range x.Refs {
			ref := fleet.Ref{Type: fleet.Cluster, Name: n}
			if x.Type == fleet.Listener {
				ref.Type = fleet.Route
			}
			row.Derived.Refs = append(row.Derived.Refs, ref)
		}
		if x.Edge {
			row.Variant, row.Selector = "edge", "node.cluster=edge"
		}
		k := rowKey{row.Type, row.Name, row.Variant}
		if old, ok := now[k]; ok && old.Version == row.Version || !ok && row.Deleted {
			continue
		}
		now[k] = row
		rows = slices.DeleteFunc(rows, func(r fleet.Row) bool { return (rowKey{r.Type, r.Name, r.Variant}) == k })
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	rev := w.db.feed.write(w.db.key, rows...)
	w.note("revision %d: %+v", rev, edits)
	w.wake()
}

func (w *whole) wake() {
	for _, s := range w.servers {
		s.rep.Wake(w.db.key.Fleet, false)
	}
}

func (w *whole) do(s step) {
	e := w.envoys[s.Node]
	if s.Kind != stepReceive && s.Kind != stepAnswer && s.Kind != stepAll {
		w.note("%s: node %d, pick %d", s.Kind, s.Node, s.Pick)
	}
	at := s.Pick % len(w.servers)
	switch s.Kind {
	case stepChange:
		w.write(s.Edits)
	case stepReceive:
		e.receive()
	case stepAnswer:
		e.answer(s.Pick)
	case stepAll:
		for w.turn() {
			synctest.Wait()
		}
	case stepMove:
		e.connect(w.servers[at])
	case stepDie:
		old := w.servers[at]
		old.line.set(func(l *line) { l.dead = true })
		old.stop()
		w.servers[at] = w.start()
	case stepLag:
		w.servers[at].line.set(func(l *line) { l.lags = !l.lags })
		w.wake()
	case stepAway:
		w.db.setAway(s.Pick%2 == 0)
	case stepMute:
		e.mute[[]fleet.Type{fleet.Cluster, fleet.Listener, fleet.Route, fleet.Endpoint}[s.Pick%4]] = true
	}
	synctest.Wait()
	time.Sleep(s.Wait)
	synctest.Wait()
	for _, e := range w.envoys {
		e.wait(s.Wait)
		w.ahead(e)
	}
}

// turn lets every proxy do what it can at once.
func (w *whole) turn() (moved bool) {
	for _, e := range w.envoys {
		for e.receive() {
			moved = true
		}
		moved = e.askForClusters() || moved
		for e.answer(0) {
			moved = true
		}
	}
	return moved
}

// settle lets everything come to rest: whatever was broken is whole again.
func (w *whole) settle() {
	w.note("settle")
	w.db.setAway(false)
	for _, s := range w.servers {
		s.line.set(func(l *line) { l.lags = false })
	}
	w.wake()
	for _, e := range w.envoys {
		if slices.Contains(e.mute[:], true) {
			e.connect(w.servers[0])
		}
	}
	const rest = 60 * time.Second
	for quiet := time.Duration(0); quiet < rest; {
		synctest.Wait()
		moved := w.turn()
		for i, e := range w.envoys {
			if e.down() {
				e.connect(w.servers[i%len(w.servers)])
				moved = true
			}
		}
		synctest.Wait()
		if moved {
			quiet = 0
			continue
		}
		time.Sleep(time.Second)
		quiet += time.Second
	}
}

// ahead: nobody is shown to have settled at the newest revision who does not hold it.
func (w *whole) ahead(e *envoy) {
	if e.down() || e.doubted || e.lost { // what was true before is shown for a moment
		return
	}
	w.shown(e)
}

// shown is ahead of one of which the truth is shown by now.
func (w *whole) shown(e *envoy) {
	w.db.mu.Lock()
	settled, live := w.db.position(e.id)
	w.db.mu.Unlock()
	_, target, _ := e.server.serving(w.db.key, e.id)
	if !live || target == nil || settled < w.db.head() || target.Revision < settled {
		return
	}
	e.compare("shown as settled")
}

// excused are the resources of a target that name something which the node is without.
func excused(target *snapshot.Target, exceptions []snapshot.Exception) map[fleet.Ref]bool {
	out := map[fleet.Ref]bool{}
	absent := func(ref fleet.Ref) bool {
		return slices.ContainsFunc(exceptions, func(x snapshot.Exception) bool { return x.Ref() == ref && x.Good == nil })
	}
	for r := range target.Types[fleet.Route].All() {
		if slices.ContainsFunc(r.Refs, absent) {
			out[fleet.Ref{Type: fleet.Route, Name: r.Name}] = true
		}
	}
	for l := range target.Types[fleet.Listener].All() {
		for _, ref := range l.Refs {
			if absent(ref) || target.Types[fleet.Route].Get(ref.Name) == nil {
				out[fleet.Ref{Type: fleet.Listener, Name: l.Name}] = true
			}
		}
	}
	return out
}

// compare: the proxy holds exactly its target. What names something that it refused, and
// never had, may be behind; what substitutes and those name stays. It returns what is behind,
// with its revision.
func (e *envoy) compare(when string) (behind map[fleet.Ref]fleet.Revision) {
	behind = map[fleet.Ref]fleet.Revision{}
	_, target, exceptions := e.server.serving(e.w.db.key, e.id)
	if target == nil {
		e.w.problem("%s, %s has no stream on %s", when, e.id, e.server.name)
		return behind
	}
	late := excused(target, exceptions)
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.Endpoint, fleet.Listener, fleet.Route} {
		for r := range target.Types[typ].All() {
			got, ok := e.holds[typ][r.Name]
			empty := ok && got.version == "" && typ == fleet.Endpoint && r.Version == snapshot.Absent(fleet.Endpoint, r.Name).Version
			if isNamed(typ) && !e.asked[typ][r.Name] || ok && got.version == r.Version || empty {
				continue
			}
			if behind[fleet.Ref{Type: typ, Name: r.Name}] = r.Revision; !late[fleet.Ref{Type: typ, Name: r.Name}] && !e.left(exceptions, typ, r.Name) {
				e.w.problem("%s, %s has %s %s@%q and not @%s", when, e.id, typ, r.Name, got.version, r.Version)
			}
		}
		for n, x := range e.holds[typ] {
			unsaid := isNamed(typ) && !e.delta // that it is no more
			// A route that was refused may be there, and cannot be taken back; and what a proxy
			// brought with it may name anything.
			unsaid = unsaid || typ == fleet.Cluster && len(late) > 0 && (e.lost || !e.delta && e.spoilt[n])
			// So does what stands in, though nothing asks for it any more, and what is left alone may name anything (SEMANTICS 3.3).
			unsaid = unsaid || typ == fleet.Cluster && slices.ContainsFunc(exceptions, func(x snapshot.Exception) bool {
				return x.Leave || x.Good != nil && x.Good.Names(fleet.Ref{Type: typ, Name: n})
			})
			if typ == fleet.Endpoint && target.Types[fleet.Cluster].HasEDSName(n) && target.Types[typ].Get(n) == nil && !e.left(exceptions, typ, n) {
				if x.version != "" && x.version != snapshot.Absent(typ, n).Version && !e.kept(fleet.Cluster, n) {
					e.w.problem("%s, %s has %s %s@%s of a cluster that has none any more", when, e.id, typ, n, x.version)
				}
				continue
			}
			if target.Types[typ].Get(n) == nil && !unsaid && !e.kept(typ, n) && !e.left(exceptions, typ, n) {
				e.w.problem("%s, %s has %s %s@%s, which is not there any more", when, e.id, typ, n, x.version)
			}
		}
	}
	return behind
}

// left reports whether nothing can be said about a name.
func (e *envoy) left(exceptions []snapshot.Exception, t fleet.Type, name string) bool {
	return slices.ContainsFunc(exceptions, func(x snapshot.Exception) bool { return x.Type == t && x.Refused.Name == name && x.Leave })
}

// kept reports whether something that the proxy has names it.
func (e *envoy) kept(t fleet.Type, name string) bool {
	by := map[fleet.Type]fleet.Type{fleet.Cluster: fleet.Route, fleet.Route: fleet.Listener}[t]
	if t == fleet.Endpoint {
		return e.kept(fleet.Cluster, name)
	}
	for _, x := range e.holds[by] {
		if (t == fleet.Cluster || t == fleet.Route) && slices.Contains(x.refs, name) {
			return true
		}
	}
	return false
}

// atRest checks what must be true when everything was answered and told.
func (w *whole) atRest() {
	for _, e := range w.envoys {
		if e.down() {
			w.problem("at rest, %s has no stream", e.id)
			continue
		}
		if e.unheard || e.asksClusters && e.apart {
			continue
		}
		if w.unanswerable(e) {
			w.shown(e)
			continue
		}
		if len(e.answers) > 0 || e.asksClusters {
			w.problem("at rest, %s is stuck: %v, sticky %v", e.id, e.answers, e.sticky)
			continue
		}
		behind := e.compare("at rest")
		w.receipts(e, behind)
	}
}

// unanswerable: the proxy came back with something that the server does not know, and refused
// what is there now. It is left alone until its view has something else of that type (SEMANTICS 3.2), and
// cannot be freed where it sticks on that: what to put back is not known.
func (w *whole) unanswerable(e *envoy) bool {
	w.db.mu.Lock()
	defer w.db.mu.Unlock()
	_, _, exceptions := e.server.serving(w.db.key, e.id)
	return slices.ContainsFunc(w.db.open(e.id), func(r fleet.Refusal) bool {
		return r.Name == "" && (len(e.sticky) > 0 || !w.changedSince(e, r.Type, r.Revision))
	}) ||
		slices.ContainsFunc(exceptions, func(x snapshot.Exception) bool { return x.Leave })
}

// changedSince reports whether a later revision brought anything of the type to the proxy's view, or
// took something away.
func (w *whole) changedSince(e *envoy, t fleet.Type, since fleet.Revision) bool {
	w.db.feed.mu.Lock()
	defer w.db.feed.mu.Unlock()
	f := w.db.fleets[w.db.key]
	return !maps.Equal(f.states[since].seenBy(e, t), f.states[f.rev].seenBy(e, t))
}

// seenBy is what a proxy's view has of a type: the revision of each name.
func (s state) seenBy(e *envoy, t fleet.Type) map[string]fleet.Revision {
	seen := map[string]fleet.Revision{}
	for _, variant := range []string{"", "edge"} {
		for k, r := range s.rows {
			if k.t == t && k.variant == variant && !r.Deleted && (variant == "" || e.edge) {
				seen[k.name] = r.Revision
			}
		}
	}
	return seen
}

// receipts: what readers see of a node is the truth.
func (w *whole) receipts(e *envoy, behind map[fleet.Ref]fleet.Revision) {
	view, _, exceptions := e.server.serving(w.db.key, e.id)
	if view == nil {
		return
	}
	w.db.mu.Lock()
	settled, live := w.db.position(e.id)
	open := w.db.open(e.id)
	w.db.mu.Unlock()
	head := w.db.head()
	if !live || view.Revision != head {
		w.problem("at rest, %s: live %v, its view is at %d of %d", e.id, live, view.Revision, head)
	}
	unsure := slices.ContainsFunc(exceptions, func(x snapshot.Exception) bool { return x.Leave })
	// A lost stream takes back nothing of what was confirmed, though its exceptions end.
	if !unsure && settled != head {
		w.problem("at rest, %s is shown at %d, the fleet is at %d", e.id, settled, head)
	}
	for rev := fleet.Revision(1); rev <= head && !unsure; rev++ {
		lacks, replaced := false, false // by what is withheld as well
		for ref, at := range behind {
			lacks, replaced = lacks || at == rev, replaced || at > rev && w.db.wrote(ref, rev)
		}
		switch got := w.db.receipt(rev, e.id); {
		// What a proxy brought with it may be the very thing that is withheld, and not known.
		case got == fleet.NodeNacked, got == fleet.NodePending && (lacks || replaced || e.lost), got == fleet.NodeAcked && !lacks:
		default:
			w.problem("at rest, the receipt of %d says that %s is %s, and it lacks something of it: %v", rev, e.id, got, lacks)
		}
	}
	for _, r := range open {
		has := view.Types[r.Type].Get(r.Name)
		switch {
		case r.Name == "":
		case has == nil || has.Version != r.Version:
			w.problem("at rest, %s is shown to refuse %s %s@%s, which is not in its view", e.id, r.Type, r.Name, r.Version)
		case !(item{version: r.Version}).poisons(e.id) && !(e.doubted && (e.lost || e.said[r.Name])):
			w.problem("at rest, %s is shown to refuse %s %s@%s, and does not: %s", e.id, r.Type, r.Name, r.Version, r.Detail)
		case w.db.receipt(r.Revision, e.id) != fleet.NodeNacked:
			w.problem("at rest, the receipt of %d does not say that %s refuses %s %s", r.Revision, e.id, r.Type, r.Name)
		}
	}
	late := excused(snapshot.NewTarget(view, exceptions), exceptions)
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Route} {
		for r := range view.Types[typ].All() {
			if !(item{version: r.Version}).poisons(e.id) || isNamed(typ) && !e.asked[typ][r.Name] || late[fleet.Ref{Type: typ, Name: r.Name}] || namesAbsent(r, view, exceptions) {
				continue
			}
			if !slices.ContainsFunc(open, func(x fleet.Refusal) bool { return x.Type == typ && x.Name == r.Name && x.Version == r.Version }) {
				w.problem("at rest, nothing says that %s refuses %s %s@%s", e.id, typ, r.Name, r.Version)
			}
		}
	}
}

// namesAbsent: it was never offered, because it names something that is not there.
func namesAbsent(r *snapshot.Resource, view *snapshot.Snapshot, exceptions []snapshot.Exception) bool {
	for _, ref := range r.Refs {
		if ref.Type == fleet.Route && view.Types[fleet.Route].Get(ref.Name) == nil {
			return true
		}
		if slices.ContainsFunc(exceptions, func(x snapshot.Exception) bool { return x.Ref() == ref && x.Good == nil }) {
			return true
		}
	}
	return false
}

func (w *whole) newEnvoy(id string, delta bool, seed uint64) *envoy {
	e := &envoy{
		w: w, id: id, delta: delta, dice: rand.New(rand.NewPCG(seed, uint64(len(w.envoys)))),
		missing: map[string]bool{}, spoilt: map[string]bool{}, said: map[string]bool{}, sticky: map[string]bool{}, came: map[string]int{}, refused: map[string]refusedAt{},
	}
	for typ := range e.holds {
		e.holds[typ], e.asked[typ], e.reported[typ] = map[string]item{}, map[string]bool{}, map[string]string{}
	}
	w.envoys = append(w.envoys, e)
	return e
}

// play runs steps in a bubble and returns what was wrong, and what happened.
func play(t *testing.T, delta bool, seed uint64, steps []step) (problems, log []string) {
	synctest.Test(t, func(t *testing.T) {
		w := &whole{t: t, db: newDatabase()}
		for range wholeServers {
			w.servers = append(w.servers, w.start())
		}
		for i := range wholeNodes {
			w.newEnvoy(fmt.Sprint("n", i), delta, seed).edge = i == 2
		}
		synctest.Wait()
		for i, e := range w.envoys {
			e.connect(w.servers[i%len(w.servers)])
		}
		synctest.Wait()
		for _, s := range steps {
			w.do(s)
		}
		w.settle()
		w.atRest()
		for _, e := range w.envoys {
			e.lose()
		}
		for _, s := range w.servers {
			s.stop()
		}
		w.readers.Wait()
		problems, log = w.problems, w.log
	})
	return problems, log
}

// More histories, and others: -rapid.checks=5000 -rapid.seed=0.
func init() {
	if err := flag.Set("rapid.checks", "50"); err != nil {
		panic(err)
	}
}

// TestTheWhole plays random histories of a fleet on real streams, through several servers
// that die, lag, and lose the database.
func TestTheWhole(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		t.Run(fmt.Sprintf("delta=%v", delta), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				steps := rapid.SliceOfN(genWholeStep(), 1, 25).Draw(rt, "steps")
				seed := rapid.Uint64Range(0, 99).Draw(rt, "seed")
				problems, log := play(t, delta, seed, steps)
				if len(problems) > 0 {
					rt.Fatalf("%d problems, the first: %s\n%s", len(problems), problems[0], strings.Join(log, "\n"))
				}
			})
		})
	}
}
