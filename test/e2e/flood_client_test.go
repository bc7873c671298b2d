package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// floodEnv makes the test program flood a server, until its input ends. Then it tells on its output what it did.
const floodEnv = "FAIRLEAD_E2E_FLOOD"

// floodOrder is what it is told.
type floodOrder struct {
	Kind, Address string // GET: Address is a URL, which is asked for with Token again and again
	Token         string // of a good call before the flood; "": none
	Connections   int    // at a time
}

// floodCount is what it tells.
type floodCount struct{ Connections, Writes int64 }

// floodKinds write once of what they are about. A nil function says nothing at all.
var floodKinds = map[string]func(c *flooding) error{
	"rapid reset": func(c *flooding) error {
		id, err := c.call("/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources", false)
		if err == nil {
			err = c.framer.WriteRSTStream(id, http2.ErrCodeCancel)
		}
		return err
	},
	"calls": func(c *flooding) error {
		_, err := c.call("/"+strings.Repeat("a", 3900)+"/b", true)
		return err
	},
	"SETTINGS":      func(c *flooding) error { return c.framer.WriteSettings() },
	"PRIORITY":      func(c *flooding) error { return c.framer.WritePriority(1, http2.PriorityParam{Weight: 1}) },
	"WINDOW_UPDATE": func(c *flooding) error { return c.framer.WriteWindowUpdate(0, 1) },
	"empty DATA":    func(c *flooding) error { return c.framer.WriteData(1, false, nil) },
	"PING":          func(c *flooding) error { return c.framer.WritePing(false, [8]byte{1}) },
	"CONTINUATION":  (*flooding).headers,
	"silence":       nil,
}

// flooding is one connection of a flood.
type flooding struct {
	order  floodOrder
	conn   net.Conn
	out    *bufio.Writer
	framer *http2.Framer
	block  bytes.Buffer
	encode *hpack.Encoder
	last   uint32
}

func runFlood(order string, in io.Reader, out io.Writer) error {
	var o floodOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	once := floodOnce
	if o.Kind == http.MethodGet {
		once = getOnce
	}
	var connections, writes atomic.Int64
	var running sync.WaitGroup
	for range o.Connections {
		running.Go(func() {
			for ctx.Err() == nil {
				connections.Add(1)
				n, err := once(ctx, o)
				writes.Add(n)
				if err != nil {
					select {
					case <-time.After(20 * time.Millisecond):
					case <-ctx.Done():
					}
				}
			}
		})
	}
	_, _ = io.Copy(io.Discard, in)
	cancel()
	running.Wait()
	return json.NewEncoder(out).Encode(floodCount{connections.Load(), writes.Load()})
}

// floodOnce returns an error if there was no connection, and how often something was written on it.
func floodOnce(ctx context.Context, o floodOrder) (n int64, err error) {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", o.Address)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // it is of no use any more
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	write := floodKinds[o.Kind]
	if write == nil {
		_, err := io.Copy(io.Discard, conn)
		return 0, err
	}
	c := &flooding{order: o, conn: conn, out: bufio.NewWriterSize(conn, 16<<10)}
	c.framer, c.encode = http2.NewFramer(c.out, conn), hpack.NewEncoder(&c.block)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}()
	defer func() { _ = conn.Close(); <-ended }()
	_, _ = c.out.WriteString(http2.ClientPreface)
	_ = c.framer.WriteSettings()
	if o.Token != "" {
		_, _ = c.call("/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources", false)
		if c.out.Flush() != nil {
			return 0, nil
		}
	}
	for err == nil {
		err = write(c)
		n++
	}
	return n, nil
}

// getOnce asks for a page over HTTP, and returns an error if it is not given.
func getOnce(ctx context.Context, o floodOrder) (n int64, err error) {
	req, err := http.NewRequestWithContext(ctx, o.Kind, o.Address, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+o.Token)
	resp, err := getting.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if _, err = io.Copy(io.Discard, resp.Body); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s was answered with %s", o.Address, resp.Status)
	}
	return 1, err
}

// getting keeps a connection for each that asks.
var getting = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// headers begins a call whose headers do not end, and goes on with them.
func (c *flooding) headers() error {
	c.block.Reset()
	_ = c.encode.WriteField(hpack.HeaderField{Name: "x-" + fmt.Sprint(c.last), Value: strings.Repeat("v", 8000), Sensitive: true})
	if c.last++; c.last == 1 {
		return c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.block.Bytes()})
	}
	return c.framer.WriteContinuation(1, false, c.block.Bytes())
}

func (c *flooding) call(path string, end bool) (uint32, error) {
	c.last += 2
	id := c.last - 1
	c.block.Reset()
	fields := []string{":method", "POST", ":scheme", "http", ":path", path, ":authority", "flood", "content-type", "application/grpc"}
	if c.order.Token != "" {
		fields = append(fields, "authorization", "Bearer "+c.order.Token)
	}
	for i := 0; i < len(fields); i += 2 {
		_ = c.encode.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	if err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block.Bytes(), EndHeaders: true, EndStream: end}); err != nil {
		return 0, fmt.Errorf("make a call: %w", err)
	}
	return id, nil
}
