package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"fairlead/bench/internal/xds"
)

// waitSeconds is how long a poll waits for a change: what Fairlead's bootstrap has an Envoy ask for.
const waitSeconds = 25

// poller is a client that polls for all clusters, on a connection of its own. Each poll waits for a change, and says what
// the client has, which acknowledges the answer before. One goroutine runs all of it.
type poller struct {
	*client
	conn net.Conn
	in   *bufio.Reader
}

// polls runs a client on a connection until that ends. Its first poll is sent when connected is told.
func (r *Runner) polls(ctx context.Context, c *client, conn net.Conn, connected chan<- struct{}) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // which ends the read
	defer stop()
	defer conn.Close() //nolint:errcheck // nothing is written any more
	p := &poller{client: c, conn: conn, in: bufio.NewReader(counted{conn, r.count})}
	for first := true; ; first = false {
		if err := p.ask(); err != nil {
			return err
		}
		if first {
			connected <- struct{}{} // has room for all
		}
		if err := p.answer(); err != nil {
			return err
		}
	}
}

// ask sends a poll. An Envoy's has its whole node each time.
func (p *poller) ask() error {
	r := p.run
	head := fmt.Appendf(nil, `{"node":{"id":%q`, p.id)
	tail := fmt.Appendf(nil, `},"version_info":%q}`, p.types[xds.Clusters].version)
	length := len(head) + len(r.node) + len(tail)
	var request bytes.Buffer
	request.WriteString("POST " + xds.REST.Method() + " HTTP/1.1\r\nHost: fairlead_xds\r\nContent-Type: application/json\r\nPrefer: wait=" + strconv.Itoa(waitSeconds) +
		"\r\nContent-Length: " + strconv.Itoa(length) + "\r\n")
	if r.server.Token != "" {
		request.WriteString("Authorization: Bearer " + r.server.Token + "\r\n")
	}
	request.WriteString("\r\n")
	request.Write(head)
	parts := net.Buffers{request.Bytes(), r.node, tail} // the node is shared by all clients
	n, err := parts.WriteTo(p.conn)
	r.count(0, int(n))
	return err
}

// answer takes in what the server says.
func (p *poller) answer() error {
	resp, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it is read
	switch resp.StatusCode {
	case http.StatusOK:
		return p.take(resp.Body)
	case http.StatusNotModified:
		return nil
	}
	words, _ := io.ReadAll(io.LimitReader(resp.Body, 1000)) // they may be cut off
	return fmt.Errorf("the server answered %s: %s", resp.Status, bytes.TrimSpace(words))
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (p *poller) take(body io.Reader) error {
	b, _ := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(b)
	b.Reset()
	if _, err := b.ReadFrom(body); err != nil {
		return err
	}
	a, err := p.run.answers.of(b.Bytes())
	if err != nil {
		return err
	}
	p.run.messages.Add(1)
	p.run.resources.Add(int64(a.resources))
	t := &p.types[xds.Clusters]
	t.got, t.known, t.version = true, a.resources, append(t.version[:0], a.version...)
	p.learn(a.epoch)
	return nil
}

// answers interns what servers answer to polls, so that it is parsed once for all clients. Entries are found by a 64 bit
// hash and never go away: there is one for each change.
type answers struct {
	seed maphash.Seed

	mu    sync.Mutex // guards known
	known map[uint64]*polled
}

// polled is a DiscoveryResponse, as far as it is looked at.
type polled struct {
	version   string
	resources int
	epoch     uint64 // of the newest marker in it
}

func newAnswers() *answers {
	return &answers{seed: maphash.MakeSeed(), known: make(map[uint64]*polled)}
}

func (as *answers) of(b []byte) (*polled, error) {
	h := maphash.Bytes(as.seed, b)
	as.mu.Lock()
	defer as.mu.Unlock()
	if a := as.known[h]; a != nil {
		return a, nil
	}
	var message struct {
		Version   string            `json:"version_info"`
		Type      string            `json:"type_url"`
		Resources []json.RawMessage `json:"resources"`
	}
	if err := json.Unmarshal(b, &message); err != nil {
		return nil, fmt.Errorf("an answer that is no JSON: %w", err)
	}
	if message.Version == "" || message.Type != xds.Clusters.TypeURL() {
		return nil, fmt.Errorf("an answer of version %q and type %q", message.Version, message.Type)
	}
	a := &polled{message.Version, len(message.Resources), xds.ScanMarkers(b)}
	as.known[h] = a
	return a, nil
}

// counted counts what is read.
type counted struct {
	io.Reader
	count func(read, written int)
}

// Read is io.Reader's.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.count(n, 0)
	return n, err
}

// commonJSON is commonNode in JSON, behind the id.
func commonJSON(size int) []byte {
	b := []byte(`,"cluster":"load","user_agent_name":"xdsbench"`)
	if size == 0 {
		return b
	}
	b = append(b, `,"extensions":[`...)
	for i := 0; len(b) < size; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"name":"envoy.filters.http.extension_%d","category":"envoy.filters.http","type_urls":["envoy.extensions.filters.http.extension_%d.v3.Extension"]}`, i, i)
	}
	return append(b, ']')
}
