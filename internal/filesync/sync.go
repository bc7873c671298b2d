package filesync

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

// What a node says that it is: its ACK means that the files are written, or that an Envoy has taken them. As fleet.AgentNoEnvoy it confirms nothing.
const (
	AgentWrites = "fairlead-sync"
	AgentEnvoy  = "fairlead-sync-envoy"
)

// Config is what a folder is kept of.
type Config struct {
	Directory string
	// SeenAs is the absolute path under which Envoy sees the folder; "" is where it is.
	SeenAs string
	// Servers are host:port each, tried one after the other. TLS is nil for plaintext.
	Servers []string
	TLS     *tls.Config
	// Token is asked for with each stream; "" sends none.
	Token func() (string, error)
	// Node is who is asked for, without its agent; Version is this program's.
	Node    *core.Node
	Version string
	// Once ends when all that the server has is in the folder, and fails after Within.
	Once   bool
	Within time.Duration
	// Admin is where an Envoy's admin interface listens: host:port, http://host:port, or the absolute path of a Unix socket. "" asks none.
	Admin string
	// Log is told what a person has to know.
	Log func(string)
}

// Sync keeps a folder.
type Sync struct {
	Config
	admin   *admin
	content *content
	begun   bool              // the last stream brought something
	said    map[string]string // what was told last of a stream that ended, by server
	last    string            // the last of it
	session *session
	before  func(string) error // of the folder's changes; tests stop there

	watches     func() int // watchLimit
	toldWatches bool
}

// errStop is by what a test ends the work.
var errStop = errors.New("stopped")

// New checks the configuration.
func New(c Config) (*Sync, error) {
	s := &Sync{Config: c, said: map[string]string{}, watches: watchLimit}
	if c.Directory == "" || len(c.Servers) == 0 || c.Node.GetId() == "" {
		return nil, fmt.Errorf("a folder, a server and a node's id must be given: %w", fleet.ErrInvalid)
	}
	var err error
	if s.Directory, err = filepath.Abs(c.Directory); err != nil {
		return nil, err
	}
	if s.SeenAs == "" {
		s.SeenAs = filepath.ToSlash(s.Directory)
	}
	if s.SeenAs = strings.TrimRight(s.SeenAs, "/"); !strings.HasPrefix(s.SeenAs, "/") {
		return nil, fmt.Errorf("%q is no absolute path under which Envoy could see the folder: %w", c.SeenAs, fleet.ErrInvalid)
	}
	if c.Admin != "" {
		if s.admin, err = newAdmin(c.Admin); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Sync) now() time.Time { return time.Now() }

// The pauses before another stream, but for those that brought something.
const firstPause, longestPause = 500 * time.Millisecond, 15 * time.Second

// Run keeps the folder until ctx ends, which is no error, or until all is there if that is to be done once.
func (s *Sync) Run(ctx context.Context) error {
	f, err := openFolder(s.Directory)
	if err != nil {
		return err
	}
	defer f.close()
	if s.before != nil {
		f.before = s.before
	}
	if s.content, err = newContent(f, s.SeenAs); err != nil {
		return err
	}
	if s.Once {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Within, fmt.Errorf("after %s not all is there", s.Within))
		defer cancel()
	}
	pauseFor := firstPause
	var last lastEnvoy
	for turn := 0; ; turn++ {
		server := s.Servers[turn%len(s.Servers)]
		err := s.ask(ctx, server, &last)
		switch {
		case errors.Is(err, errWhole):
			return nil
		case errors.Is(err, errStop):
			return err
		case ctx.Err() != nil:
			return s.ended(ctx)
		case errors.Is(err, errElse):
			continue
		case s.Once && hopeless(err):
			return told(server, err)
		}
		if s.begun && !errors.Is(err, errAdmin) {
			pauseFor = firstPause
		}
		if err := told(server, err); err != nil && err.Error() != s.said[server] {
			s.said[server], s.last = err.Error(), err.Error()
			s.Log(s.last + "; the files stay as they are")
		}
		if pause(ctx, time.Duration((0.5+rand.Float64()/2)*float64(pauseFor))) != nil { //nolint:gosec // a pause
			return s.ended(ctx)
		}
		pauseFor = min(pauseFor*3/2, longestPause)
	}
}

// lastEnvoy is the Envoy that served when a stream began.
type lastEnvoy struct {
	asked   bool // false: no stream has begun
	process *process
}

// ask has one stream to a server, from its start to its end.
func (s *Sync) ask(ctx context.Context, server string, last *lastEnvoy) error {
	s.begun = false
	envoy, away := s.admin.live(ctx)
	if errors.Is(away, errAdmin) { // nothing can be answered for it, and no stream is what tells so
		return away
	}
	if s.admin != nil && (envoy != nil || last.process != nil || !s.Once) { // what is held, an Envoy has yet to take
		s.content.forget()
	} else {
		s.content.resume()
	}
	s.tellEnvoy(!last.asked, last.process, envoy, away)
	*last = lastEnvoy{asked: true, process: envoy}
	return s.stream(ctx, server, envoy)
}

// tellEnvoy says what an ACK means from now on, where Envoy has come or gone. away is why it does not serve.
func (s *Sync) tellEnvoy(first bool, last, now *process, away error) {
	switch {
	case s.admin == nil:
	case now != nil && (last == nil || now.up < last.up):
		s.Log(fmt.Sprintf("Envoy %s serves at %s: an ACK means that it has taken the files", now.version, s.Admin))
	case now == nil && (first || last != nil):
		means := "files are written, and nothing is confirmed until one serves"
		if s.Once {
			means = "an ACK means that the files are written"
		}
		s.Log(fmt.Sprintf("no Envoy serves at %s (%v): %s", s.Admin, away, means))
	}
}

// ended is what the end of ctx means.
func (s *Sync) ended(ctx context.Context) error {
	if !s.Once {
		return nil
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %s", context.Cause(ctx), s.missing())
}

// missing is why not all is there.
func (s *Sync) missing() string {
	if !s.begun && s.last != "" {
		return s.last
	}
	if s.session != nil && !s.session.failed.IsZero() {
		return "a file could not be written"
	}
	for _, t := range []fleet.Type{fleet.Cluster, fleet.Listener} {
		if !s.content.answered[t] {
			return "the server has not answered for " + t.Slug()
		}
	}
	if lacking := s.content.lacking(); len(lacking) > 0 {
		return fmt.Sprintf("the server has not answered for %s/%s", lacking[0].Type, lacking[0].Name)
	}
	for _, a := range s.content.answers {
		return "Envoy has not read the " + a.t.Slug()
	}
	if s.session != nil && s.session.missed != "" {
		return "the server keeps back " + s.session.missed + `: "fairlead findings" and "fairlead events" say why`
	}
	return "the server has not told whether all was sent"
}

// hopeless is what no other stream changes.
func hopeless(err error) bool {
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument:
		return true
	}
	return errors.Is(err, fleet.ErrInvalid)
}

// aboutTLS says what to do where one side may speak TLS alone, and the other one not.
func aboutTLS(words string) string {
	switch {
	case strings.Contains(words, "handshake failed") && !strings.Contains(words, "certificate"):
		return `: if it has no TLS, as that of "fairlead dev", give --plaintext`
	case strings.Contains(words, "server preface"):
		return ": if it has TLS, leave out --plaintext"
	}
	return ""
}

// told is the end of a server's stream in its words; nil where it has just aged.
func told(server string, err error) error {
	if st, ok := status.FromError(err); ok && err != nil {
		if st.Code() == codes.Unavailable {
			return fmt.Errorf("%s cannot be reached: %s%s", server, st.Message(), aboutTLS(st.Message()))
		}
		return fmt.Errorf("%s has ended the stream: %s", server, st.Message())
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// stream connects, and keeps the folder until the stream ends.
func (s *Sync) stream(ctx context.Context, server string, envoy *process) error {
	conn, ctx, err := s.connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	s.session = &session{Sync: s, node: s.node(envoy), envoy: newVerdicts(s.admin, envoy, s.Log)}
	return s.session.run(ctx, conn)
}

// connect makes a connection, which the first call opens, and a context whose calls have the token.
func (c Config) connect(ctx context.Context, server string) (*grpc.ClientConn, context.Context, error) {
	token, err := c.Token()
	if err != nil {
		return nil, nil, err
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxResponse)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 5 * time.Second, PermitWithoutStream: true}),
	}
	if c.TLS != nil {
		opts[0] = grpc.WithTransportCredentials(credentials.NewTLS(c.TLS))
	}
	conn, err := grpc.NewClient("dns:///"+server, opts...)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w: %w", server, err, fleet.ErrInvalid)
	}
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	return conn, ctx, nil
}

// maxResponse is what this client takes at once, in bytes.
const maxResponse = 64 << 20

// node is who asks, and what its ACK means. Without the Envoy that is asked, the files are written all the same: it could not start from those that are
// missing or wrong. Of an image there is none yet.
func (s *Sync) node(envoy *process) *core.Node {
	switch {
	case envoy != nil:
		return s.as(AgentEnvoy, envoy.version)
	case s.admin != nil && !s.Once:
		return s.as(fleet.AgentNoEnvoy, s.Version)
	}
	return s.as(AgentWrites, s.Version)
}

// as is the node as one of that agent.
func (c Config) as(agent, version string) *core.Node {
	n, _ := proto.Clone(c.Node).(*core.Node) //nolint:errcheck // it is one
	n.UserAgentName, n.UserAgentVersionType = agent, &core.Node_UserAgentVersion{UserAgentVersion: version}
	return n
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
