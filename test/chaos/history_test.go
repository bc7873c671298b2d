package chaos

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"sync"
	"unique"
)

// content is what a write gave a name: the number of the write, which no other write of the name has, or 0 where it deleted the name.
type content struct {
	Tenant, Name string
	Number       int64
}

// mark stands in a resource's body, so that its bytes tell whose they are and who wrote them.
func (c content) mark() string { return fmt.Sprintf("chaos/%s/%s/%d/", c.Tenant, c.Name, c.Number) }

var marks = regexp.MustCompile(`chaos/([a-z0-9]+)/([a-z0-9-]+)/([0-9]+)/`)

// read finds all marks in bytes.
func read(b []byte) (found []content) {
	for _, m := range marks.FindAllSubmatch(b, -1) {
		n, _ := strconv.ParseInt(string(m[3]), 10, 64)
		found = append(found, content{unique.Make(string(m[1])).Value(), unique.Make(string(m[2])).Value(), n}) // one string of each, for all clients
	}
	return found
}

// outcome is what a writer knows of a write.
type outcome string

const (
	acknowledged outcome = "acknowledged"
	ambiguous    outcome = "ambiguous" // no answer, or 5xx: it may be there or not, and may come later
	refused      outcome = "refused"   // 4xx: it is not there
	unchanged    outcome = "unchanged" // it made no revision
)

// write is one write, as its writer noted it. Began and Ended are places in the order of all notes.
type write struct {
	content
	Rollback     bool // to what an older write had given
	Outcome      outcome
	Revision     int64 // acknowledged
	Began, Ended int64
}

// did is what a client did with what it received.
type did string

const (
	received did = "received" // it came, and is neither taken nor refused yet
	acked    did = "acked"
	nacked   did = "nacked"
	forgot   did = "forgot" // it was started again, with nothing
	lost     did = "lost"   // an answer to a poll did not arrive
	serves   did = "serves" // an Envoy that was started answers requests
)

// node is a client: both tenants have nodes of the same ids.
type node struct{ Tenant, ID string }

// note is what a client wrote down. An answer is noted before it is sent.
type note struct {
	At       int64
	Node     node
	Did      did
	Server   string    // where it came from
	Contents []content // those of a response, and what it took away
	Repair   bool      // it was sent while another one was not answered yet, as far as the server knew, which takes the Envoy for stuck: it may go back
}

// observation is what a receipt said of a node.
type observation struct {
	At       int64
	Node     node
	Revision int64
	State    string // "acked" or "nacked"
}

// version is what a name had from a revision on.
type version struct {
	Revision, Number int64
	Rollback         bool
}

type key struct{ Tenant, Name string }

// history is what all wrote down, and in the end what the API tells.
type history struct {
	mu           sync.Mutex // guards what follows while the test runs
	clock        int64
	writes       []write
	notes        []note
	observations []observation
	requests     []request
	held         map[node]map[string]int64 // what each client took, so far
	said         []string

	truth   map[key][]version // of each name that was written, as the API tells its history in the end
	present map[key]int64     // what the API tells in the end that there is
	refuses func(node, content) bool
}

func newHistory(refuses func(node, content) bool) *history {
	return &history{held: map[node]map[string]int64{}, truth: map[key][]version{}, present: map[key]int64{}, refuses: refuses}
}

// now is the next place in the order of notes.
func (h *history) now() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

func (h *history) wrote(w write) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	w.Ended = h.clock
	h.writes = append(h.writes, w)
}

// join has a client that holds nothing.
func (h *history) join(n node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held[n] = map[string]int64{}
}

func (h *history) client(n node, d did, server string, contents []content) {
	h.note(note{Node: n, Did: d, Server: server, Contents: contents})
}

func (h *history) note(n note) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	n.At = h.clock
	h.notes = append(h.notes, n)
	if n.Did == acked {
		for _, c := range n.Contents {
			h.held[n.Node][c.Name] = c.Number
		}
	}
}

// forget is of a client that is started again.
func (h *history) forget(n node) {
	h.client(n, forgot, "", nil)
	h.join(n)
}

func (h *history) observed(n node, revision int64, state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	h.observations = append(h.observations, observation{h.clock, n, revision, state})
}

// holds is what a client took so far.
func (h *history) holds(n node) map[string]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.held[n])
}

// say notes something for who reads the log of a test that failed.
func (h *history) say(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	h.said = append(h.said, fmt.Sprint(h.clock, " ")+fmt.Sprintf(format, args...))
}
