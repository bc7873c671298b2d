package replica

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
)

// item is a resource as a proxy has it. What is the matter with it stands in its version:
// "!" all refuse it, "!n1" the node n1 does, "?" Envoy's load balancer does, which says so
// only when it is replaced.
type item struct {
	name, version string
	refs          []string // of a listener routes, of a route clusters
}

// Field numbers of an item's encoding; the name's is that of the real messages.
const (
	itemName, itemRef, itemVersion = 1, 98, 99
)

func (x item) encode() []byte {
	put := func(b []byte, n protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
	}
	b := put(nil, itemName, x.name)
	for _, r := range x.refs {
		b = put(b, itemRef, r)
	}
	return put(b, itemVersion, x.version)
}

func decodeItem(b []byte) (x item) {
	for len(b) > 0 {
		num, _, n := protowire.ConsumeTag(b)
		v, m := protowire.ConsumeString(b[n:])
		b = b[n+m:]
		switch num {
		case itemName:
			x.name = v
		case itemRef:
			x.refs = append(x.refs, v)
		case itemVersion:
			x.version = v
		}
	}
	return x
}

func (x item) sticks() bool { return strings.HasSuffix(x.version, "?") }

func (x item) poisons(node string) bool {
	return x.sticks() || strings.HasSuffix(x.version, "!") || strings.HasSuffix(x.version, "!"+node)
}

// message is a response as it came.
type message struct {
	typ            fleet.Type
	version, nonce string
	items          []item
	removed        []string
	number         int            // of the node's
	at             fleet.Revision // the server's, when it came
}

func (m *message) String() string {
	var b strings.Builder
	b.WriteString(m.typ.Slug())
	for _, x := range m.items {
		fmt.Fprintf(&b, " %s@%s", x.name, x.version)
	}
	for _, n := range m.removed {
		b.WriteString(" -" + n)
	}
	return b.String()
}

func (m *message) names(name string) bool {
	return slices.ContainsFunc(m.items, func(x item) bool { return x.name == name })
}

// envoy is a model of an Envoy on an aggregated stream, at the wire: it applies responses,
// answers clusters only when their endpoints are there, refuses what is poison, and then
// may have applied any of the rest (ENVOY.md 4).
type envoy struct {
	w     *whole
	id    string
	edge  bool // of the cluster "edge"
	delta bool
	thief bool // it refuses all that it is sent
	dice  *rand.Rand

	holds    [fleet.NumTypes]map[string]item
	asked    [fleet.NumTypes]map[string]bool
	reported [fleet.NumTypes]map[string]string // what it lists on a new stream
	accepted [fleet.NumTypes]string            // version_info
	said     map[string]bool                   // names that its words for swallowed answers held
	spoilt   map[string]bool                   // clusters that a refused route named
	missing  map[string]bool                   // endpoints that it was told do not exist
	sticky   map[string]bool                   // clusters that hold back every answer for clusters
	came     map[string]int                    // endpoints: the number of the message that brought them last
	count    int
	lost     bool          // it has lost a stream
	owed     time.Duration // how long it has not answered clusters
	doubted  bool          // that was long, once: others than culprits may be kept back

	unheard bool // it lost clusters, or half took some, with a server before anybody else heard that it was there

	// of the present stream
	server  *server
	stream  grpc.ClientStream
	cancel  context.CancelFunc
	nonces  [fleet.NumTypes]string // of what was answered
	answers []*message             // received, not answered
	refused map[string]refusedAt
	mute    [fleet.NumTypes]bool // types that it does not answer until the stream ends
	words   []string             // of swallowed answers
	// asksClusters: it has still to ask for clusters on this stream.
	asksClusters bool
	// apart: it came so with nothing that tells it from a process that takes no clusters from here, on this stream or one before. It served nothing
	// then (SEMANTICS 3.8c).
	apart bool
	named bool // the node was sent

	mu    sync.Mutex // guards both
	inbox []*message
	ended error
}

func (e *envoy) down() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stream == nil || e.ended != nil
}

// owes reports whether something of the type came that is not answered.
func (e *envoy) owes(t fleet.Type) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	of := func(m *message) bool { return m.typ == t }
	return slices.ContainsFunc(e.inbox, of) || slices.ContainsFunc(e.answers, of)
}

// wait lets time pass in which it answers nothing.
func (e *envoy) wait(d time.Duration) {
	if e.owed += d; !e.owes(fleet.Cluster) {
		e.owed = 0
	}
	e.doubted = e.doubted || e.owed >= time.Second
}

func isNamed(t fleet.Type) bool { return t == fleet.Endpoint || t == fleet.Route }

func (e *envoy) bad(x item) bool { return e.thief || x.poisons(e.id) }

// connect opens a stream, the first one or after a loss.
func (e *envoy) connect(to *server) {
	again := e.count > 0
	refused := len(e.refused) > 0
	warming := e.lose()
	if (warming || refused) && !e.w.db.heard(e, to) {
		e.unheard = true
	}
	ctx, cancel := context.WithCancel(context.Background())
	method := "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
	if e.delta {
		method = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"
	}
	stream, err := to.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		cancel()
		return
	}
	e.mu.Lock()
	e.server, e.stream, e.cancel = to, stream, cancel
	e.mu.Unlock()
	e.w.readers.Go(func() { e.read(to, stream) })
	e.apart = e.apart && e.asksClusters || len(e.asked[fleet.Endpoint]) == 0 && len(e.reported[fleet.Listener]) == 0 && (e.delta || e.accepted[fleet.Listener] == "")
	e.asksClusters = warming
	if !warming {
		e.first(fleet.Cluster)
	}
	for _, t := range []fleet.Type{fleet.Endpoint, fleet.Listener, fleet.Route} {
		if t == fleet.Listener || again {
			e.first(t)
		}
	}
	e.subscribe()
}

// lose ends the stream; what had arrived and was not answered may have been taken. It says
// whether the proxy was about to take in clusters.
func (e *envoy) lose() (warming bool) {
	if e.cancel != nil {
		e.cancel()
	}
	e.mu.Lock()
	e.stream, e.cancel, e.ended = nil, nil, nil
	e.inbox = nil
	e.mu.Unlock()
	e.lost = e.lost || e.count > 0
	warming = len(e.sticky) > 0 || e.asksClusters
	for _, m := range e.answers {
		warming = warming || m.typ == fleet.Cluster && len(m.items) > 0 // where there are none Envoy waits for nothing, and asks again
		e.doubted = true
		e.process(m)
	}
	e.answers, e.words, e.refused = nil, nil, map[string]refusedAt{}
	e.mute, e.nonces, e.named = [fleet.NumTypes]bool{}, [fleet.NumTypes]string{}, false
	return warming
}

// process takes in what arrived and was never answered.
func (e *envoy) process(m *message) {
	if m.typ == fleet.Cluster && len(e.sticky) > 0 { // what stands beside that is taken in, and is in no answer
		e.apply(m, func(name string) bool {
			return !slices.ContainsFunc(m.items, func(x item) bool { return x.name == name && e.bad(x) })
		})
		return
	}
	if m.typ == fleet.Cluster && !e.warm(m) || e.dice.IntN(2) == 0 {
		return
	}
	bad := slices.ContainsFunc(m.items, func(x item) bool { return e.bad(x) })
	e.apply(m, func(name string) bool {
		poisoned := slices.ContainsFunc(m.items, func(x item) bool { return x.name == name && e.bad(x) })
		return !poisoned && (!bad || e.dice.IntN(2) == 0)
	})
	if !bad {
		e.report(m)
	}
}

func (e *envoy) read(from *server, stream grpc.ClientStream) {
	for {
		m, err := e.recv(stream)
		e.mu.Lock()
		if e.stream != stream {
			e.mu.Unlock()
			return
		}
		if err != nil {
			e.ended = err
			e.mu.Unlock()
			return
		}
		m.at = from.revision(e.w.db.key)
		e.inbox = append(e.inbox, m)
		e.mu.Unlock()
	}
}

func (e *envoy) recv(stream grpc.ClientStream) (*message, error) {
	m := &message{}
	var url string
	if e.delta {
		var r discoveryv3.DeltaDiscoveryResponse
		if err := stream.RecvMsg(&r); err != nil {
			return nil, err
		}
		url, m.version, m.nonce, m.removed = r.GetTypeUrl(), r.GetSystemVersionInfo(), r.GetNonce(), r.GetRemovedResources()
		for _, x := range r.GetResources() {
			m.items = append(m.items, decodeItem(x.GetResource().GetValue()))
		}
	} else {
		var r discoveryv3.DiscoveryResponse
		if err := stream.RecvMsg(&r); err != nil {
			return nil, err
		}
		url, m.version, m.nonce = r.GetTypeUrl(), r.GetVersionInfo(), r.GetNonce()
		for _, x := range r.GetResources() {
			m.items = append(m.items, decodeItem(x.GetValue()))
		}
	}
	m.typ, _ = fleet.TypeFromURL(url)
	slices.SortFunc(m.items, func(a, b item) int { return strings.Compare(a.name, b.name) })
	slices.Sort(m.removed)
	return m, nil
}

// request is what goes over the wire, of either protocol.
type request struct {
	typ            fleet.Type
	names, dropped []string
	version        string
	versions       map[string]string
	nonce          string
	words          string // a NACK's
}

func (e *envoy) send(r request) {
	var node *corev3.Node
	if !e.named {
		node = &corev3.Node{Id: e.id, UserAgentName: "envoy"}
		if e.edge {
			node.Cluster = "edge"
		}
	}
	e.named = true
	var detail *rpcstatus.Status
	if r.words != "" {
		detail = &rpcstatus.Status{Code: 13, Message: r.words}
	}
	var m any = &discoveryv3.DiscoveryRequest{
		Node: node, TypeUrl: r.typ.URL(), ResourceNames: r.names, VersionInfo: r.version, ResponseNonce: r.nonce, ErrorDetail: detail,
	}
	if e.delta {
		m = &discoveryv3.DeltaDiscoveryRequest{
			Node: node, TypeUrl: r.typ.URL(), ResourceNamesSubscribe: r.names, ResourceNamesUnsubscribe: r.dropped,
			InitialResourceVersions: r.versions, ResponseNonce: r.nonce, ErrorDetail: detail,
		}
	}
	_ = e.stream.SendMsg(m) // the reason comes with Recv
}

// first is the first request of a type on a stream.
func (e *envoy) first(t fleet.Type) {
	r := request{typ: t, version: e.accepted[t]}
	if isNamed(t) {
		r.names = slices.Sorted(maps.Keys(e.asked[t]))
		if len(r.names) == 0 && (e.delta || r.version == "") {
			return
		}
	}
	if e.delta {
		r.version, r.versions = "", map[string]string{}
		for n, v := range e.reported[t] {
			if !isNamed(t) || e.asked[t][n] {
				r.versions[n] = v
			}
		}
	}
	e.send(r)
}

// receive takes the next message, if there is one.
func (e *envoy) receive() bool {
	e.mu.Lock()
	if len(e.inbox) == 0 || e.stream == nil {
		e.mu.Unlock()
		return false
	}
	m := e.inbox[0]
	e.inbox = e.inbox[1:]
	e.mu.Unlock()
	e.count++
	m.number = e.count
	e.w.note("%s gets %s from %s", e.id, m, e.server.name)
	e.judge(m)
	e.stick(m)
	e.answers = append(e.answers, m)
	e.subscribe()
	return true
}

// judge: no content that this stream refused comes again, unless the fleet has brought
// something of it anew since (SEMANTICS 3.6a).
func (e *envoy) judge(m *message) {
	at, ok := e.refused[m.String()]
	if !ok || e.w.changed(m, at) {
		return
	}
	e.w.problem("%s refused and got again: %s", e.id, m)
}

// stick notes, as a message arrives, which clusters hold back all answers. One by itself is refused at once: an Envoy sticks only where the message
// brings a good one that it has not, or takes one away that it has (seen with 1.40).
func (e *envoy) stick(m *message) {
	if m.typ != fleet.Cluster {
		return
	}
	holds := e.holds[fleet.Cluster]
	pauses := slices.ContainsFunc(m.items, func(x item) bool { return !e.bad(x) && holds[x.name].version != x.version })
	for n := range holds {
		pauses = pauses || slices.Contains(m.removed, n) || !e.delta && !m.names(n)
	}
	for _, x := range m.items {
		delete(e.sticky, x.name)
		if x.sticks() && pauses {
			e.sticky[x.name] = true
		}
	}
	for _, n := range m.removed {
		delete(e.sticky, n)
	}
	maps.DeleteFunc(e.sticky, func(n string, _ bool) bool { return !e.delta && !m.names(n) })
}

// swallow: in state of the world only the last of several held responses is answered,
// with the words for those before.
func (e *envoy) swallow() {
	var at []int
	for i, m := range e.answers {
		if m.typ == fleet.Cluster {
			at = append(at, i)
		}
	}
	if e.delta || len(at) < 2 {
		return
	}
	for _, i := range slices.Backward(at[:len(at)-1]) {
		for _, x := range e.answers[i].items {
			if e.bad(x) {
				e.words = append(e.words, x.name)
				e.said[x.name] = true
			}
		}
		e.answers = slices.Delete(e.answers, i, i+1)
	}
}

// answer answers one message that can be answered.
func (e *envoy) answer(pick int) bool {
	if e.down() {
		return false
	}
	if len(e.sticky) == 0 && !e.mute[fleet.Cluster] {
		e.swallow()
	}
	var ready []int
	var before [fleet.NumTypes]bool // those of one type are answered in order
	for i, m := range e.answers {
		if e.mute[m.typ] || before[m.typ] {
			continue
		}
		before[m.typ] = true
		// What came before it asked for clusters it answers by asking.
		if m.typ != fleet.Cluster || len(e.sticky) == 0 && !e.asksClusters && e.warm(m) {
			ready = append(ready, i)
		}
	}
	if len(ready) == 0 {
		return false
	}
	i := ready[pick%len(ready)]
	m := e.answers[i]
	e.answers = slices.Delete(e.answers, i, i+1)
	if slices.ContainsFunc(m.items, func(x item) bool { return e.bad(x) }) {
		e.refuse(m)
	} else {
		e.accept(m)
	}
	e.subscribe()
	return true
}

func (e *envoy) accept(m *message) {
	e.apply(m, func(string) bool { return true })
	e.report(m)
	e.subscribe() // before the ACK, as Envoy does
	r := request{typ: m.typ, nonce: m.nonce}
	if !e.delta {
		r.version, r.names = m.version, e.subscription(m.typ)
	}
	if m.typ == fleet.Cluster && len(e.words) > 0 {
		r.words, e.words = says(m.typ, e.words...), nil
	}
	e.nonces[m.typ] = m.nonce
	e.w.note("%s takes %s", e.id, m)
	e.send(r)
}

// refusedAt is when a content was refused.
type refusedAt struct {
	revision fleet.Revision // the server's
	lacked   []string       // clusters that it names, and that the proxy did not have
}

// lacks are the clusters that a message names and that the proxy does not have.
func (e *envoy) lacks(m *message) (names []string) {
	for _, x := range m.items {
		for _, n := range x.refs {
			if _, ok := e.holds[fleet.Cluster][n]; m.typ == fleet.Route && !ok {
				names = append(names, n)
			}
		}
	}
	return names
}

func (e *envoy) refuse(m *message) {
	e.refused[m.String()] = refusedAt{m.at, e.lacks(m)}
	var bad []string
	sticky := false
	for _, x := range m.items {
		if e.bad(x) {
			bad = append(bad, x.name)
			sticky = sticky || x.sticks()
			for _, n := range x.refs {
				e.spoilt[n] = true
			}
		}
	}
	e.apply(m, func(name string) bool { return !slices.Contains(bad, name) && e.dice.IntN(2) == 0 })
	for _, x := range m.items {
		// A cluster goes on without endpoints that were refused.
		e.missing[x.name] = e.missing[x.name] || m.typ == fleet.Endpoint
	}
	for _, n := range m.removed {
		e.missing[n] = e.missing[n] || m.typ == fleet.Endpoint
	}
	r := request{typ: m.typ, nonce: m.nonce, words: "this does not look right"}
	if !e.delta {
		r.version, r.names = e.accepted[m.typ], e.subscription(m.typ)
	}
	if sticky || e.dice.IntN(2) == 0 {
		r.words = says(m.typ, bad...)
	}
	e.nonces[m.typ] = m.nonce
	e.w.note("%s refuses %s: %s", e.id, m, r.words)
	e.send(r)
}

// says are an Envoy's words about clusters and listeners; of others it names none, and gRPC's stand for them.
func says(t fleet.Type, names ...string) string {
	begin, between, format := `error parsing "Resource" response: `, ";\n", "resource %q: no"
	switch t {
	case fleet.Cluster:
		begin, between, format = "Error adding/updating cluster(s) ", ", ", "%s: no"
	case fleet.Listener:
		begin, between, format = "Error adding/updating listener(s) ", "\n", "%s: no"
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = fmt.Sprintf(format, n)
	}
	return begin + strings.Join(all, between)
}

func (e *envoy) subscription(t fleet.Type) []string {
	return slices.Sorted(maps.Keys(e.asked[t]))
}

// report notes what an ACKed message makes the proxy list on its next stream.
func (e *envoy) report(m *message) {
	e.accepted[m.typ] = m.version
	for _, x := range m.items {
		e.reported[m.typ][x.name] = x.version
	}
	for _, n := range m.removed {
		delete(e.reported[m.typ], n)
	}
}

// warm reports whether clusters have all endpoints that they asked for. A changed one
// waits for them once more, and does not ask.
func (e *envoy) warm(m *message) bool {
	for _, x := range m.items {
		if e.bad(x) || !e.asked[fleet.Endpoint][x.name] {
			continue
		}
		if h, ok := e.holds[fleet.Cluster][x.name]; ok && h.version != x.version && e.came[x.name] < m.number {
			return false
		}
		if _, ok := e.holds[fleet.Endpoint][x.name]; !ok && !e.missing[x.name] {
			return false
		}
	}
	return true
}

// apply makes what a message brought held, as far as take says.
func (e *envoy) apply(m *message, take func(name string) bool) {
	for _, x := range m.items {
		if isNamed(m.typ) && !e.asked[m.typ][x.name] {
			continue // given up meanwhile
		}
		if m.typ == fleet.Endpoint {
			e.came[x.name] = m.number
		}
		if take(x.name) {
			e.holds[m.typ][x.name] = x
		}
	}
	for _, n := range m.removed {
		if m.typ == fleet.Endpoint {
			e.came[n] = m.number
		}
		if take(n) {
			delete(e.holds[m.typ], n)
			e.missing[n] = e.missing[n] || m.typ == fleet.Endpoint
		}
	}
	if !e.delta && m.typ.FullSet() {
		for _, n := range slices.Sorted(maps.Keys(e.holds[m.typ])) {
			if !m.names(n) && take(n) {
				delete(e.holds[m.typ], n)
			}
		}
	}
}

// subscribe asks for what is named, and gives up the rest. Endpoints of clusters that are
// on their way are asked for as well.
func (e *envoy) subscribe() {
	endpoints, routes := map[string]bool{}, map[string]bool{}
	for n := range e.holds[fleet.Cluster] {
		endpoints[n] = true
	}
	for _, m := range e.answers {
		if m.typ != fleet.Cluster {
			continue
		}
		for _, x := range m.items {
			if !x.sticks() {
				endpoints[x.name] = true
			}
		}
	}
	for _, l := range e.holds[fleet.Listener] {
		for _, n := range l.refs {
			routes[n] = true
		}
	}
	e.ask(fleet.Endpoint, endpoints)
	e.ask(fleet.Route, routes)
}

func (e *envoy) ask(t fleet.Type, want map[string]bool) {
	if maps.Equal(want, e.asked[t]) {
		return
	}
	r := request{typ: t}
	for n := range want {
		if !e.delta || !e.asked[t][n] {
			r.names = append(r.names, n)
		}
	}
	for n := range e.asked[t] {
		if want[n] {
			continue
		}
		delete(e.holds[t], n)
		delete(e.reported[t], n)
		if t == fleet.Endpoint {
			delete(e.missing, n)
		}
		if e.delta {
			r.dropped = append(r.dropped, n)
		}
	}
	slices.Sort(r.names)
	slices.Sort(r.dropped)
	if !e.delta {
		r.version, r.nonce = e.accepted[t], e.nonces[t]
	}
	e.asked[t] = want
	e.send(r)
}

// askForClusters makes a proxy that is not stuck any more, and warm, ask for clusters.
func (e *envoy) askForClusters() bool {
	if !e.asksClusters || len(e.sticky) > 0 || e.down() {
		return false
	}
	for n := range e.holds[fleet.Cluster] {
		if _, ok := e.holds[fleet.Endpoint][n]; !ok && !e.missing[n] && e.asked[fleet.Endpoint][n] && !e.takenAway(n) {
			return false
		}
	}
	e.answers = slices.DeleteFunc(e.answers, func(m *message) bool {
		if m.typ == fleet.Cluster {
			e.process(m)
		}
		return m.typ == fleet.Cluster
	})
	e.asksClusters = false
	e.first(fleet.Cluster)
	return true
}

// takenAway reports whether clusters that are not answered yet take one away, so that nothing waits for its endpoints any more.
func (e *envoy) takenAway(cluster string) bool {
	return slices.ContainsFunc(e.answers, func(m *message) bool {
		return m.typ == fleet.Cluster && (slices.Contains(m.removed, cluster) || !e.delta && !m.names(cluster))
	})
}
