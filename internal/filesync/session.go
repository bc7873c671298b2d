package filesync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	status "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	matcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/genproto/googleapis/rpc/code"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"

	"fairlead/internal/fleet"
)

const (
	// looksEvery is how often Envoy is asked while it is not known what it makes of a file, and how often the server while it is not
	// known whether all has come.
	looksEvery = 100 * time.Millisecond
	// watchEvery is how often Envoy is asked whether it is there.
	watchEvery = time.Second
	// asksEvery is how often the server is asked for what it has not sent yet: it names all that the node has.
	asksEvery = 500 * time.Millisecond
	// writesAgain is how long is waited after a file that could not be written.
	writesAgain = time.Second
	// tellsWithin is how long the server may take to tell what it has sent.
	tellsWithin = 5 * time.Second
	// quietAfter is when all has come of a server that does not tell, quietAtLast of one that keeps something back.
	quietAfter, quietAtLast = 5 * time.Second, 20 * time.Second
)

var (
	// errElse ends a stream after which Envoy's part is another one.
	errElse = errors.New("envoy has come or gone")
	// errAdmin ends a stream on which Envoy could not be asked what it makes of the files.
	errAdmin = errors.New("Envoy's admin interface does not tell what it makes of the files") //nolint:staticcheck // a name begins it
	// errWhole ends a stream of Once.
	errWhole = errors.New("all is there")
)

// session is one stream.
type session struct {
	*Sync
	stream   grpc.BidiStreamingClient[discovery.DeltaDiscoveryRequest, discovery.DeltaDiscoveryResponse]
	status   status.ClientStatusDiscoveryServiceClient
	node     *core.Node
	named    bool // the node was told
	asked    [fleet.NumTypes]map[string]bool
	due      bool      // there may be something to subscribe to or to write: what that is costs a look at all resources
	quiet    time.Time // when something was last sent or received
	failed   time.Time // when a file could not be written; zero: it could
	watched  time.Time // when Envoy was last asked whether it is there
	inquired time.Time // when the server was last asked what it has not sent
	missed   string    // what the server said last that it has not sent
	envoy    *verdicts // nil: Envoy is not asked
}

// run goes on until the stream ends.
func (s *session) run(ctx context.Context, conn grpc.ClientConnInterface) error {
	ctx, cancel := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
	if err != nil {
		return err
	}
	s.stream, s.status = stream, status.NewClientStatusDiscoveryServiceClient(conn)
	responses, ended := make(chan *discovery.DeltaDiscoveryResponse), make(chan error, 1)
	// An end that a request meets is told where responses are read.
	why := func(err error) error {
		for errors.Is(err, errSend) {
			select {
			case <-responses:
			case err = <-ended:
			case <-ctx.Done(): // the reader tells nothing then, if a response is in its hand
				err = ctx.Err()
			}
		}
		return err
	}
	reader.Go(func() {
		for {
			r, err := stream.Recv()
			if err != nil {
				ended <- err
				return
			}
			select {
			case responses <- r:
			case <-ctx.Done():
				return
			}
		}
	})
	if err := s.open(); err != nil {
		return why(err)
	}
	look := time.NewTicker(looksEvery)
	defer look.Stop()
	for {
		if err := s.advance(ctx); err != nil {
			return why(err)
		}
		select {
		case r := <-responses:
			s.quiet = s.now()
			s.begun, s.due = true, true
			if t, ok := fleet.TypeFromURL(r.GetTypeUrl()); ok {
				s.content.take(t, r)
			}
		case err := <-ended:
			return err
		case <-look.C:
			err := s.look(ctx)
			if errors.Is(err, errWhole) {
				s.leave(ctx, responses, ended)
			}
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave ends the stream as one that has said all: the server takes what was confirmed for all that there is to confirm, and has
// noted it when it ends the stream too. A stream that breaks off at once is one of which it does not know that.
func (s *session) leave(ctx context.Context, responses <-chan *discovery.DeltaDiscoveryResponse, ended <-chan error) {
	ctx, cancel := context.WithTimeout(ctx, tellsWithin)
	defer cancel()
	if s.stream.CloseSend() != nil {
		return
	}
	for {
		select {
		case <-responses: // what came in between is not of this run
		case <-ended: //nolint:errcheck // all was said, whatever it ended with
			return
		case <-ctx.Done():
			return
		}
	}
}

var errSend = errors.New("the stream has ended")

// send sends a request. Why a stream takes none is told by its end.
func (s *session) send(r *discovery.DeltaDiscoveryRequest) error {
	if !s.named {
		s.named, r.Node = true, s.node
	}
	if s.stream.Send(r) != nil {
		return errSend
	}
	return nil
}

// open asks for all clusters, listeners and runtimes, and says what of them is held.
func (s *session) open() error {
	s.quiet, s.due = s.now(), true
	for _, t := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Runtime} {
		r := &discovery.DeltaDiscoveryRequest{TypeUrl: t.URL(), InitialResourceVersions: s.held(t, maps.Keys(s.content.have[t]))}
		if t == fleet.Runtime {
			r.ResourceNamesSubscribe = []string{"*"} // what bootstraps name of them is not known here
		}
		if err := s.send(r); err != nil {
			return err
		}
	}
	return nil
}

// held are the versions of what was received before.
func (s *session) held(t fleet.Type, names func(func(string) bool)) map[string]string {
	out := map[string]string{}
	for name := range names {
		if it := s.content.have[t][name]; it != nil && it.body != nil && it.version != "" {
			out[name] = it.version
		}
	}
	return out
}

// advance does what is due: asks for what is named now, writes, answers.
func (s *session) advance(ctx context.Context) error {
	if !s.due && len(s.content.answers) == 0 && s.failed.IsZero() {
		return nil
	}
	s.due = false
	if err := s.subscribe(); err != nil {
		return err
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	for _, a := range slices.Clone(s.content.answers) {
		if !s.content.written(a) || !s.envoy.settled(s.content, a, s.now()) {
			continue
		}
		s.content.done(a)
		s.due = true // what stood there before it is not needed any more
		r := &discovery.DeltaDiscoveryRequest{TypeUrl: a.t.URL(), ResponseNonce: a.nonce}
		if words := a.refusal(); words != "" {
			s.Log(fmt.Sprintf("%s: refused: %s", a.t, words))
			r.ErrorDetail = &rpc.Status{Code: int32(code.Code_INVALID_ARGUMENT), Message: words}
		}
		if err := s.send(r); err != nil {
			return err
		}
		s.quiet = s.now()
	}
	return nil
}

// subscribe asks for the names that are new, and gives up those that nothing names any more.
func (s *session) subscribe() error {
	wanted := s.content.wanted()
	for t := range folders {
		if t == fleet.Runtime {
			continue
		}
		if s.asked[t] == nil {
			s.asked[t] = map[string]bool{}
		}
		r := &discovery.DeltaDiscoveryRequest{TypeUrl: t.URL()}
		for ref := range wanted {
			if ref.Type == t && !s.asked[t][ref.Name] {
				r.ResourceNamesSubscribe = append(r.ResourceNamesSubscribe, ref.Name)
			}
		}
		for name := range s.asked[t] {
			if !wanted[fleet.Ref{Type: t, Name: name}] {
				r.ResourceNamesUnsubscribe = append(r.ResourceNamesUnsubscribe, name)
				delete(s.asked[t], name)
				delete(s.content.have[t], name)
			}
		}
		if len(r.ResourceNamesSubscribe)+len(r.ResourceNamesUnsubscribe) == 0 {
			continue
		}
		slices.Sort(r.ResourceNamesSubscribe)
		slices.Sort(r.ResourceNamesUnsubscribe)
		if len(s.asked[t]) == 0 { // the first of the type may tell what is held
			r.InitialResourceVersions = s.held(t, slices.Values(r.ResourceNamesSubscribe))
		}
		for _, name := range r.ResourceNamesSubscribe {
			s.asked[t][name] = true
		}
		if err := s.send(r); err != nil {
			return err
		}
	}
	return nil
}

// write brings the folder up to date. What cannot be written is tried again, and nothing is answered for it: the server is not to take
// what this machine lacks for a fault of the content.
func (s *session) write(ctx context.Context) error {
	if !s.failed.IsZero() && s.now().Sub(s.failed) < writesAgain || !s.envoy.takesMore() {
		s.due = true
		return nil
	}
	s.content.begin = func() error { return s.envoy.before(ctx) }
	s.content.partial = s.now().Sub(s.quiet) >= quietAtLast
	changed, err := s.content.write()
	s.envoy.wrote(s.content, changed, s.now())
	if len(changed) > 0 {
		s.quiet = s.now()
		s.tellWatches()
	}
	switch {
	case errors.Is(err, errStop), errors.Is(err, errElse), errors.Is(err, errAdmin):
		return err
	case err != nil && s.failed.IsZero():
		s.Log(err.Error() + "; it is tried again each second")
	case err == nil && !s.failed.IsZero():
		s.Log("the files are written again")
	}
	if s.failed = (time.Time{}); err != nil {
		s.failed = s.now()
	}
	return nil
}

// watch ends the stream where Envoy has come, has gone or is another one: what an answer means is another thing then.
func (s *session) watch(ctx context.Context) error {
	if s.admin == nil || s.now().Sub(s.watched) < watchEvery {
		return nil
	}
	s.watched = s.now()
	now, away := s.admin.live(ctx) // the next stream tells why
	switch {
	case errors.Is(away, errAdmin), (now != nil) != (s.envoy != nil), now != nil && now.up < s.envoy.process.up:
		return errElse
	case now != nil:
		s.envoy.process.up = now.up
	}
	return nil
}

// look is what is done from time to time.
func (s *session) look(ctx context.Context) error {
	if err := s.watch(ctx); err != nil {
		return err
	}
	if err := s.envoy.look(ctx, s.content, s.now()); err != nil {
		return err
	}
	return s.finish(ctx)
}

// finish finds out whether all has come, and ends a stream of Once then.
func (s *session) finish(ctx context.Context) error {
	c := s.content
	if !s.settled() || s.now().Sub(s.inquired) < asksEvery || !s.hasAll(ctx) {
		return nil
	}
	c.complete = true
	if err := s.write(ctx); err != nil {
		return err
	}
	if s.failed.IsZero() {
		s.Log("all is written: " + amount(len(c.whole[fleet.Cluster]), "cluster") + ", " + amount(len(c.whole[fleet.Listener]), "listener") + ", " + amount(len(c.named), "other file"))
		if s.Once {
			return errWhole
		}
		return nil
	}
	c.complete = false
	return nil
}

// settled reports whether all that was asked for has been answered and written, or so it seems.
func (s *session) settled() bool {
	c := s.content
	if c.complete || len(c.answers) > 0 || !s.failed.IsZero() || !s.envoy.takesMore() || len(c.lacking()) > 0 {
		return false
	}
	runtime := c.answered[fleet.Runtime] || s.now().Sub(s.quiet) >= quietAfter // a fleet need not have one
	return runtime && c.answered[fleet.Cluster] && c.answered[fleet.Listener]
}

// hasAll asks the server whether it has more for this node. One that keeps something back for long is not waited for, unless all is to be done once.
func (s *session) hasAll(ctx context.Context) bool {
	s.inquired = s.now()
	left, told := s.left(ctx)
	quiet := s.now().Sub(s.quiet)
	if !told {
		return quiet >= quietAfter
	}
	s.missed = strings.Join(left, ", ")
	if len(left) == 0 {
		return true
	}
	if quiet < quietAtLast || s.Once {
		return false
	}
	s.Log("the server keeps back " + s.missed + `: "fairlead nodes" says why`)
	return true
}

// amount is a number of things.
func amount(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprint(n, " ", of)
}

// left is what the server has for this node and has not sent, or has no answer for. It tells whether the server says so at all.
func (s *session) left(ctx context.Context) (left []string, told bool) {
	ctx, cancel := context.WithTimeout(ctx, tellsWithin)
	defer cancel()
	r, err := s.status.FetchClientStatus(ctx, &status.ClientStatusRequest{
		NodeMatchers:            []*matcher.NodeMatcher{{NodeId: &matcher.StringMatcher{MatchPattern: &matcher.StringMatcher_Exact{Exact: s.node.GetId()}}}},
		ExcludeResourceContents: true,
	})
	if err != nil {
		return nil, false
	}
	for _, n := range r.GetConfig() {
		for _, x := range n.GetGenericXdsConfigs() {
			if x.GetConfigStatus() != status.ConfigStatus_SYNCED && x.GetConfigStatus() != status.ConfigStatus_ERROR {
				t, _ := fleet.TypeFromURL(x.GetTypeUrl())
				left = append(left, t.Slug()+"/"+x.GetName())
			}
		}
	}
	slices.Sort(left)
	return left, true
}
