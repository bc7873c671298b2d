package delivery

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

// StreamInfo is what is known of a stream besides its node.
type StreamInfo struct {
	Protocol   string // "delta ADS", "SotW ADS"
	RemoteAddr string
	Credential fleet.CredentialID
	// Resumed: the client said at once that it holds something already. It is known from
	// elsewhere; one that is not is new to the fleet.
	Resumed bool
	// View is the identity of the node's view (SEMANTICS 3.4).
	View string
	// Doubtful: what the node's last stream left behind cannot be believed.
	Doubtful bool
	// Before is what the node is known to have settled before this stream, 0 if nothing is.
	Before fleet.Revision
	// Held is what it had by then.
	Held fleet.Held
}

// claim is what the database says of a connected node's settled revision.
type claim struct {
	own     bool           // false: the node follows its server
	settled fleet.Revision // if own
}

// node is one node of a fleet with all its streams on this server.
type node struct {
	row     fleet.NodeStatus // Settled, Connected and Streams are filled in when it is written
	streams map[*Stream]struct{}
	settled fleet.Revision // the least of its streams'; of its last one when they are gone
	before  fleet.Revision // what it had settled when the first of them began
	held    fleet.Held     // and what it had by then, or when its last stream ended
	goneAt  time.Time
	cameAt  time.Time    // when the first of its streams began
	lost    []lostStream // that it is waited for
	doubt   doubt
	lookAt  time.Time // when it will have lasted; zero: that is told
	record
	tally
	waiting
	subscribing
	position
	alarm
}

// record is what the database holds of a node.
type record struct {
	written      claim       // if acked
	writtenWaits fleet.Waits // if acked
	writtenSubs  fleet.Subscriptions
	writtenHad   fleet.Held
	acked        bool              // a report with this node's row was taken, and none failed after it
	dirty        bool              // the row differs in something else
	tried        bool              // some report had it as connected: the database may say so
	parted       bool              // its row was flushed since the server began to stop
	entered      chan struct{}     // closed when the row is acked as it is; nil while nobody waits for that
	labels       *fleet.NodeLabels // what the database was not told yet
}

// tally is which revisions a node has been counted for.
type tally struct {
	counted fleet.Revision   // revisions up to this one have counted it as having confirmed them
	passed  []fleet.Revision // those of them that have not, as something of them is withheld from it
	sent    fleet.Revision   // the highest one for whose target something was sent to it
	sends   []sending        // of what it has not settled, the earliest first; mostSends at most
	// absent is the head when it connected. Whether what was made before changed anything
	// for the node is not known here: it counts as affected.
	absent  fleet.Revision
	resumed bool // it came with content of its own
}

// waiting is what a node waits for.
type waiting struct {
	waits      fleet.Waits // of its streams
	waitsSince time.Time   // when it began to wait for more than it has passed over; zero while it does not
	left       fleet.Waits // what it had passed over when its last stream ended
}

func (n *node) live() bool { return len(n.streams) > 0 }

// follows reports whether the database holds no more of where the node is than that it follows
// its server: as long as it does not fall behind that, its row is the same wherever it is.
func (n *node) follows() bool {
	return !n.written.own && n.waits.Equal(fleet.Waits{}) && n.writtenHad.At == 0
}

// want is what the database should say, given what may be said that the node has settled,
// the server's settled revision, and what is
// told of the node's waits: who is behind follows nobody, and one that is not only if its
// waits name all revisions of which something is withheld: a row that changed with every
// revision would cost what the others save.
func (n *node) want(settled, server fleet.Revision, waits fleet.Waits) claim {
	if n.live() && settled >= server && waits.Cut == 0 && len(waits.Warming) == 0 {
		return claim{}
	}
	c := claim{own: true, settled: settled}
	if waits.Cut > 0 {
		c.settled = min(c.settled, waits.Cut-1)
	}
	return c
}

// told is what the database holds of the node's settled revision, at the least, where it
// holds server of the server.
func (n *node) told(server fleet.Revision) fleet.Revision {
	if n.written.own {
		return max(n.written.settled, n.before)
	}
	return server
}

// restart begins anew after the head of the fleet was set to rev.
func (n *node) restart(rev fleet.Revision) {
	n.settled, n.before, n.counted, n.sent, n.absent, n.resumed = 0, 0, rev-1, 0, rev-1, true
	n.passed, n.left, n.held, n.sends = nil, fleet.Waits{}, fleet.Held{}, nil
	for s := range n.streams {
		s.settled = 0
	}
	for i := range n.lost {
		n.lost[i].settled = 0
	}
	n.dirty = n.dirty || !n.live() // what its row says is of the old history
}

// least recomputes the node's settled from its streams, and those that were lost.
func (n *node) least() {
	first := true
	see := func(settled fleet.Revision) {
		if first || settled < n.settled {
			n.settled, first = settled, false
		}
	}
	for s := range n.streams {
		see(s.settled)
	}
	for _, l := range n.lost {
		if l.counts() || !n.live() {
			see(l.settled)
		}
	}
}

// ack takes in that the database holds a row of the node, with labels.
func (n *node) ack(r row, labels *fleet.NodeLabels) {
	n.acked, n.written, n.writtenWaits, n.writtenSubs, n.writtenHad = true, r.claim, r.waits, r.subs, r.had
	if n.labels == labels {
		n.labels = nil // they may be many, and the database has them
	}
	if !n.dirty && n.entered != nil {
		close(n.entered)
		n.entered = nil
	}
}

// confirmed is what the node has settled, on these streams or before them, without what it
// has passed over: one that is cut before it settles takes nothing of that back.
func (n *node) confirmed() fleet.Revision { return max(n.passedOver().Confirmed(n.settled), n.before) }

// has is what the node had when it settled, on these streams or before them.
func (n *node) has() fleet.Held {
	if n.live() && n.settled > n.before {
		return n.waits.Held(n.settled)
	}
	return n.held
}

// had is what the database is told that the node had, beside what its streams have settled: all of a later revision, but for what was
// withheld. Else the next server, should this one die, believed that it had what the fleet had where it settled without a gap, which
// may be what it never had. A client that comes with nothing is a new one.
func (n *node) had() fleet.Held {
	if h := n.has(); n.resumed && h.At > n.settled {
		return h
	}
	return fleet.Held{}
}

// goesBack takes in that a node has confirmed no more than it had settled before its streams: this server is behind what it had, which
// it has no more.
func (f *fleetStatus) goesBack(n *node, rev fleet.Revision) {
	if n.settled <= n.before && rev < n.held.At {
		n.held = n.waits.Held(rev)
		f.roster.check(n)
		f.wake(time.Now())
	}
}

func (n *node) passedOver() fleet.Waits {
	if n.live() {
		return n.waits.PassedOver(n.settled)
	}
	return n.left
}

// Stream is one stream of a node. Its methods are called by the stream's one owner.
type Stream struct {
	fleet    *fleetStatus
	node     *node
	kind     string // its protocol
	begun    time.Time
	settled  fleet.Revision
	waits    fleet.Waits
	subs     fleet.Subscriptions
	closed   bool
	gaveUp   bool // its client ended it
	replaces bool // it has taken the place of one that was lost
}

// Connect records a new stream, which has confirmed nothing yet. Close must be called.
func (r *Recorder) Connect(key fleet.Key, n fleet.Node, info StreamInfo) *Stream {
	f := r.lock(key)
	defer f.mu.Unlock()
	return f.connect(n, info, time.Now())
}

// Settled says that the stream's client has confirmed every type that it subscribes to
// at this revision, but for what Waits has named as withheld. A lower one than before is ignored, unless the fleet's history was
// cut in between: what was confirmed once stays so when the client asks for more types.
// One that the fleet is not at yet is ignored as well.
func (s *Stream) Settled(rev fleet.Revision) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed || rev > f.progress.head {
		return
	}
	if rev <= s.settled {
		f.goesBack(s.node, rev)
		return
	}
	behind := s.node.settled == s.settled
	s.settled = rev
	if !behind {
		return // another stream of the node is
	}
	now := time.Now()
	if !f.settle(s.node, now) {
		return // another one is as far behind as this one was
	}
	f.wake(now)
}

// Sent says that a response for the target of this revision went to the client: once the
// client confirms it, it counts as affected by what it had not confirmed before. One
// that the fleet is not at yet is ignored.
func (s *Stream) Sent(rev fleet.Revision, took Planning) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if !s.closed && rev > s.node.sent && rev <= f.progress.head {
		f.measureSent(s.node, rev, took, time.Now())
		s.node.sent = rev
	}
}

// Refused records refusals of the stream's node. It returns when the sink has them,
// after a second at most, or when ctx ends. In the last two cases they are reported
// later; but while the sink is away, 20,000 refusals are kept of a fleet, and those that
// come then are not recorded.
func (s *Stream) Refused(ctx context.Context, rs []fleet.Refusal) {
	if len(rs) == 0 {
		return
	}
	s.fleet.await(ctx, s.refuse(rs, time.Now()))
}

func (s *Stream) refuse(rs []fleet.Refusal, now time.Time) chan struct{} {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	return s.fleet.refuse(s.node, rs, now)
}

// GaveUp says that the stream's client ends it, on a connection that goes on.
func (s *Stream) GaveUp() {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	s.gaveUp = true
}

// Close ends the stream. The node is shown as disconnected when it was its last one.
// clean: nothing that was sent is unanswered or in doubt.
func (s *Stream) Close(clean bool) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.node.doubt.ended(s.kind, clean)
		f.disconnect(s, time.Now())
	}
}

// Longest texts that are kept of what a client says of itself.
const (
	maxNodeText = 512
	maxDetail   = 4 << 10
)

// plain makes a client's text fit for a database: valid UTF-8 without NUL, at most n bytes.
func plain(s string, n int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// weightOf is how much a kind of stream says of how its client is configured: a stream for all types, then those of clusters and listeners, then others;
// and of each a stream more than polls, which go on beside one for what names its own source.
func weightOf(kind string) int {
	weight := 0
	switch {
	case aggregated(kind):
		weight = 4
	case strings.HasSuffix(kind, " CDS"), strings.HasSuffix(kind, " LDS"):
		weight = 2
	}
	if !strings.HasPrefix(kind, "REST ") {
		weight++
	}
	return weight
}

// protocol tells as the node's that of its streams which says most of how it is configured, the newest of several.
func (n *node) protocol() {
	var most *Stream
	for s := range n.streams {
		if most == nil || weightOf(s.kind) > weightOf(most.kind) || weightOf(s.kind) == weightOf(most.kind) && s.begun.After(most.begun) {
			most = s
		}
	}
	if most != nil {
		n.row.Protocol = plain(most.kind, maxNodeText)
	}
}

func newNode(n fleet.Node) *node {
	return &node{
		row:     fleet.NodeStatus{Node: plain(n.ID, maxNodeText)},
		streams: make(map[*Stream]struct{}),
		record:  record{written: claim{own: true}}, // nothing
	}
}

// describe takes what the newest stream says.
func (n *node) describe(from fleet.Node, info StreamInfo) {
	n.protocol() // of which there may be another that says more
	n.row.RemoteAddr = plain(info.RemoteAddr, maxNodeText)
	n.row.CredentialID = info.Credential
	n.row.UserAgent = plain(from.UserAgent, maxNodeText)
	n.row.Version = plain(from.Version, maxNodeText)
	n.row.Cluster = plain(from.Cluster, maxNodeText)
	n.row.View = info.View
	n.labels = labelsOf(from)
}
