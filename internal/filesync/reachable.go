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
	"slices"
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

// Startable is nil if an Envoy can start from a folder: the files that a bootstrap names are there and whole, and so are those that these name in turn,
// within the folder or not, as far as they are JSON. Else it says what is missing. "fairlead sync" leaves out no file, and leaves no half of one. A copy of its folder may, and an
// Envoy that starts with that runs with nothing of it.
func Startable(directory string) error { return startable(directory, readRegular) }

func startable(directory string, read func(string) ([]byte, error)) error {
	for last := ""; ; {
		err := readAll(directory, read)
		if err == nil || err.Error() == last {
			return err
		}
		// A "fairlead sync" that runs may have removed the file after it had written anew what named it, and that was read before. So it is
		// read again, until the same is missing twice.
		last = err.Error()
	}
}

// readRegular reads a file that is one. A pipe would have it wait.
func readRegular(file string) ([]byte, error) {
	switch info, err := os.Stat(file); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", file)
	}
	return os.ReadFile(file)
}

// readAll reads the files of all of a type, and those that are named, each once.
func readAll(directory string, read func(string) ([]byte, error)) error {
	type file struct{ path, by string } // by: the file that names it
	next := []file{{filepath.Join(directory, wholes[fleet.Cluster]), ""}, {filepath.Join(directory, wholes[fleet.Listener]), ""}}
	seen := map[string]bool{}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if seen[at.path] {
			continue
		}
		seen[at.path] = true
		text, err := read(at.path)
		what, cure := at.path, `fill the folder with "fairlead sync" while a server can be reached`
		if at.by != "" {
			what += ", which " + at.by + " names,"
		}
		if below, no := filepath.Rel(directory, at.path); no != nil || !filepath.IsLocal(below) {
			cure = `it is a file of the proxy's own, or the folder was filled for another place (--seen-as)`
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s is not there: %s", what, cure)
		case err != nil:
			return fmt.Errorf("%s cannot be read: %w", what, err)
		}
		names, whole := named(text)
		if !whole {
			return fmt.Errorf("%s is no whole file, so that Envoy would start without all that it held: %s", what, cure)
		}
		for _, name := range names {
			next = append(next, file{name, at.path})
		}
	}
	return nil
}

// named are the files that one of JSON names, in their order, if it is whole. Relative ones are Envoy's to find: its working directory is not ours. Others
// than of JSON are no files of "fairlead sync".
func named(text []byte) (names []string, whole bool) {
	if !json.Valid(text) || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // of whatever size
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, false
	}
	eachPath(tree, func(at string) {
		if filepath.IsAbs(at) && filepath.Ext(at) == suffix {
			names = append(names, filepath.Clean(at))
		}
	})
	slices.Sort(names) // else what is told of several would be another one each time
	return names, true
}
