package filesync

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"fairlead/internal/fleet"
)

// AgentBootstrap is what a node says that it is while Reachable asks for it.
const AgentBootstrap = "fairlead-bootstrap"

// attempt is the least time that a server is given, however many there are.
const attempt = time.Second

// Reachable asks the servers for the node's clusters, one after the other, until one of them answers, for Within at most. It confirms nothing
// that they send. The error says why the last one did not answer; one that refuses the credential is not asked again. Only Servers, TLS, Token, Node,
// Version and Within are read.
func Reachable(ctx context.Context, c Config) error { return c.reachable(ctx, c.share()) }

// share is how long each of the servers is asked at a time.
func (c Config) share() time.Duration {
	return min(max(c.Within/time.Duration(len(c.Servers)), attempt), c.Within)
}

func (c Config) reachable(ctx context.Context, share time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	var last error
	for turn := 0; ; turn++ {
		server := c.Servers[turn%len(c.Servers)]
		err := c.ask(ctx, server, share)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil { // not that the time has ended
			last = told(server, err)
		}
		if hopeless(err) || pause(ctx, firstPause) != nil {
			return last
		}
	}
}

// ask waits for the first response of a server.
func (c Config) ask(ctx context.Context, server string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := c.answered(ctx, server)
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s has ended the stream", server)
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%s: no answer within %s", server, within)
	}
	return err
}

// answered returns nil when a server has answered; io.EOF where it ended the stream instead.
func (c Config) answered(ctx context.Context, server string) error {
	conn, ctx, err := c.connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
	if err != nil {
		return err
	}
	// Of a stream that has ended, Recv tells why.
	if err := stream.Send(&discovery.DeltaDiscoveryRequest{Node: c.as(AgentBootstrap, c.Version), TypeUrl: fleet.Cluster.URL()}); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = stream.Recv()
	return err
}

// Startable is nil if an Envoy can start from a folder: it has the files that a bootstrap names, and they are whole. Else it says what is missing.
// "fairlead sync" leaves no half of a file. A copy of its folder may have one, and an Envoy that starts with that runs with nothing of it.
func Startable(directory string) error {
	for _, name := range []string{"cds.json", "lds.json"} {
		path := filepath.Join(directory, name)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is not there: fill the folder with \"fairlead sync\" while a server can be reached", path)
		} else if err != nil {
			return err
		}
		if !json.Valid(text) || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			return fmt.Errorf("%s is no whole file, so that Envoy would start without all that it held: fill the folder with \"fairlead sync\" while a server can be reached", path)
		}
	}
	return nil
}
