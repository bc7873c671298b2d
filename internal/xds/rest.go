package xds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
)

const (
	// maxBody is the most bytes of a poll: a node of Envoy's takes 77 kB, and the rest is for names.
	maxBody = largeMessage
	// maxWait is how long a poll may wait for a change.
	maxWait = 55 * time.Second
	// longestVersion is the longest version_info that may be one of ours, in bytes. A longer one is as good as none, and is not kept.
	longestVersion = 128
)

// restPaths are where the types are polled for.
var restPaths = map[fleet.Type]string{
	fleet.Listener: "listeners", fleet.Route: "routes", fleet.ScopedRoute: "scoped-routes", fleet.Cluster: "clusters", fleet.Endpoint: "endpoints",
	fleet.Secret: "secrets", fleet.Runtime: "runtime", fleet.Extension: "extension_configs",
}

const (
	restPrefix  = "/v3/discovery:"
	oldPrefix   = "/v2/discovery:"
	timeoutName = "x-envoy-expected-rq-timeout-ms"
)

// restPath is where a type is polled for, "" if it is not.
func restPath(t fleet.Type) string {
	if name, ok := restPaths[t]; ok {
		return restPrefix + name
	}
	return ""
}

func restType(path string) (fleet.Type, bool) {
	name, ok := strings.CutPrefix(path, restPrefix)
	if !ok {
		return 0, false
	}
	for t, n := range restPaths {
		if n == name {
			return t, true
		}
	}
	return 0, false
}

// ServeHTTP answers a poll over REST: "POST /v3/discovery:clusters" with a DiscoveryRequest in proto3 JSON. 200 is a DiscoveryResponse, 304 that the
// client has it, and everything else is a sentence, which changes nothing for an Envoy (PROTOCOL rule 27).
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := webConnOf(r.Context())
	c.called()
	defer c.arrived() // one that waits has arrived before (session.tied)
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // of the answer before; not every writer has one
	a, err := s.poll(w, r)
	if a != nil {
		defer s.answers.leave(a) // when it is written
	}
	_ = control.SetWriteDeadline(time.Now().Add(s.cfg.Limits.Write))
	if err != nil {
		_ = control.SetReadDeadline(time.Now().Add(s.cfg.Limits.Receive)) // what is left of the body is passed over
	}
	if c.ofAge() || s.draining() {
		w.Header().Set("Connection", "close")
	}
	switch {
	case err != nil && r.Context().Err() != nil && !errors.As(err, new(*webError)):
		w.WriteHeader(http.StatusServiceUnavailable) // nobody hears of it
	case err != nil:
		s.refusePoll(w, r, err)
	case a == nil:
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(a.json)))
		_, _ = w.Write(a.json) // its client asks again
	}
}

func (s *Server) draining() bool {
	select {
	case <-s.drain:
		return true
	default:
		return false
	}
}

// webError is a status of HTTP's own, with words.
type webError struct {
	code  int
	words string
}

func (e *webError) Error() string { return e.words }

// GRPCStatus is what the same fault is over gRPC: its client is slowed down for it, or is not.
func (e *webError) GRPCStatus() *status.Status {
	code := codes.Unimplemented
	switch e.code {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType:
		code = codes.InvalidArgument
	case http.StatusForbidden:
		code = codes.PermissionDenied
	case http.StatusRequestEntityTooLarge:
		code = codes.ResourceExhausted
	case http.StatusRequestTimeout:
		code = codes.DeadlineExceeded
	}
	return status.New(code, e.words)
}

func (s *Server) refusePoll(w http.ResponseWriter, r *http.Request, err error) {
	var code int
	var words string
	var own *webError
	if errors.As(err, new(*tooLarge)) {
		err = &webError{http.StatusRequestEntityTooLarge, fleet.Sentence(err)}
	}
	if errors.As(err, &own) {
		code, words = own.code, own.words
		s.countRefused(context.WithoutCancel(r.Context()), own.GRPCStatus().Err()) // a body that does not end ends the context too
	} else {
		st := status.Convert(statusOf(r.Context(), err))
		code, words = webStatus(st.Code()), st.Message()
		s.countRefused(r.Context(), st.Err())
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	switch code {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		h.Set("Allow", http.MethodPost)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusRequestTimeout:
		h.Set("Connection", "close") // what is left of the body is not waited for
	}
	if code == http.StatusInternalServerError {
		s.log.Error("a poll failed", "path", shortened(r.URL.Path, maxTypeURL), "reason", err)
	}
	w.WriteHeader(code)
	_, _ = io.WriteString(w, words+"\n") // as above
}

func webStatus(c codes.Code) int {
	switch c {
	case codes.Unauthenticated:
		return http.StatusUnauthorized
	case codes.PermissionDenied:
		return http.StatusForbidden
	case codes.InvalidArgument:
		return http.StatusBadRequest
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// poll returns the answer, nil for 304. Nothing of the request's body is read before its credential was found good.
func (s *Server) poll(w http.ResponseWriter, r *http.Request) (*pollAnswer, error) {
	only, err := polledType(r)
	if err != nil {
		s.slowDown(callOf(r))
		return nil, err
	}
	ctx := callOf(r)
	id, err := s.admitPoll(ctx, r)
	if err != nil {
		return nil, err
	}
	c := webConnOf(ctx)
	a, err := s.answerPoll(ctx, w, r, id, only)
	if blames(statusOf(ctx, err)) {
		c.refuse(id.Credential)
	}
	return a, err
}

func (s *Server) answerPoll(ctx context.Context, w http.ResponseWriter, r *http.Request, id Identity, only fleet.Type) (*pollAnswer, error) {
	if err := webConnOf(ctx).await(ctx, id.Credential); err != nil {
		return nil, err
	}
	p, err := s.readPoll(w, r, id, only)
	if err != nil {
		if ctx.Err() == nil || errors.As(err, new(*webError)) { // else its client has gone
			s.tellPoll(ctx, id, err)
		}
		return nil, err
	}
	names := len(p.raw)
	if !s.held.take(id.Key.Tenant, names) {
		return nil, errPollsHeld
	}
	defer s.held.give(id.Key.Tenant, names)
	p.conn = webConnOf(ctx)
	response, err := s.sessions.ask(ctx, id, only, p)
	if err != nil || response == nil {
		return nil, err
	}
	a, err := s.encodePoll(ctx, id, response)
	if err != nil {
		p.in.lost(response)
		return nil, err
	}
	s.cfg.Metrics.Polled(only, len(a.json))
	return a, nil
}

// encodePoll makes the answer of a response, for which there may have to be room first.
func (s *Server) encodePoll(ctx context.Context, id Identity, r *planner.Response) (*pollAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Limits.Receive)
	defer cancel()
	a, err := s.answers.take(ctx, id.Key.Tenant, r)
	if err != nil && !errors.Is(err, errAnswersHeld) {
		s.log.Error("a response cannot be written as JSON", "type", r.Type.Slug(), "reason", err)
		return nil, fmt.Errorf("the answer cannot be written as JSON, see the server's log: %w", fleet.ErrUnavailable)
	}
	return a, err
}

// tellPoll tells the fleet of a poll that was refused for what it is.
func (s *Server) tellPoll(ctx context.Context, id Identity, err error) {
	s.say(slog.LevelInfo, addressOf(ctx), "poll refused", slog.Any("tenant", id.Key.Tenant), slog.Any("fleet", id.Key.Fleet), slog.Any("reason", err))
	if tell := s.cfg.Denied; tell != nil {
		tell(id, fleet.DeniedRequest, "", remote(ctx), shortened(fleet.Sentence(err), maxNote))
	}
}

// polledType finds what a URL is for.
func polledType(r *http.Request) (fleet.Type, error) {
	t, ok := restType(r.URL.Path)
	name, old := strings.CutPrefix(r.URL.Path, oldPrefix)
	switch {
	case old:
		return 0, &webError{http.StatusNotFound, fmt.Sprintf("%s%s is of xDS v2, which is gone: set resource_api_version and transport_api_version to V3, which asks for %s%s", oldPrefix, shortened(name, maxTypeURL), restPrefix, shortened(name, maxTypeURL))}
	case !ok:
		return 0, &webError{http.StatusNotFound, fmt.Sprintf("%s is not served: POST to %s", shortened(r.URL.Path, maxTypeURL), allPaths())}
	case r.Method != http.MethodPost:
		return 0, &webError{http.StatusMethodNotAllowed, "a poll is a POST with a DiscoveryRequest in JSON"}
	}
	return t, nil
}

func allPaths() string {
	var names []string
	for _, n := range restPaths {
		names = append(names, restPrefix+n)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// callOf is the context of a poll as of a call of gRPC: who calls, and with which headers. What a poll's Envoy adds by itself is left out.
func callOf(r *http.Request) context.Context {
	md := metadata.MD{":authority": {r.Host}}
	for name, values := range r.Header {
		md[strings.ToLower(name)] = values
	}
	delete(md, timeoutName)
	ctx := r.Context()
	if c := webConnOf(ctx); c != nil {
		ctx = peer.NewContext(ctx, &peer.Peer{Addr: c.RemoteAddr()})
	} else {
		ctx = peer.NewContext(ctx, &peer.Peer{Addr: textAddr(r.RemoteAddr)})
	}
	return metadata.NewIncomingContext(ctx, md)
}

// textAddr is an address as HTTP has it.
type textAddr string

// Network is "tcp".
func (textAddr) Network() string  { return "tcp" }
func (a textAddr) String() string { return string(a) }

// fromPage reports whether a browser asks, for a page: with a POST it says of which origin, and no xDS client has one. A port that asks for no token answers whoever
// reaches it, and a page of any site may, under a name that leads to this machine.
func fromPage(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
}

// admitPoll tells whom a poll speaks for.
func (s *Server) admitPoll(ctx context.Context, r *http.Request) (Identity, error) {
	if fromPage(r) {
		s.slowDown(ctx)
		return Identity{}, &webError{http.StatusForbidden, "a browser asks for a page: proxies poll"}
	}
	id, err := s.identify(ctx)
	if err != nil {
		s.say(slog.LevelInfo, addressOf(ctx), "call refused", slog.String("method", r.URL.Path), slog.Any("reason", err))
		s.slowDown(ctx)
		return id, err
	}
	if _, err := s.admitRouted(ctx, id, r.URL.Path); err != nil {
		return id, err
	}
	webConnOf(ctx).admit()
	return id, nil
}

// bodies are buffers for what polls say: an Envoy's has 77 kB, which are of no use once they are decoded.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// giveBack leaves to the garbage what few polls need.
func giveBack(b *bytes.Buffer) {
	const most = 256 << 10
	if b.Cap() <= most {
		b.Reset()
		bodies.Put(b)
	}
}

// readPoll reads a poll, within Limits.Receive.
func (s *Server) readPoll(w http.ResponseWriter, r *http.Request, id Identity, only fleet.Type) (*poll, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &webError{http.StatusUnsupportedMediaType, fmt.Sprintf("the body has the Content-Encoding %q: send it as it is", shortened(coding, maxTypeURL))}
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(s.cfg.Limits.Receive)) // not every writer can
	out, err := s.enterBody(r.Context(), id.Key.Tenant, r.ContentLength)
	if err != nil {
		return nil, err
	}
	defer out()
	body, _ := bodies.Get().(*bytes.Buffer)
	defer giveBack(body)
	if says := r.ContentLength; says > 0 && says <= smallPoll {
		body.Grow(int(says) + bytes.MinRead) // else it grows to twice as much
	}
	leave, err := s.readBody(id.Key.Tenant, body, http.MaxBytesReader(w, r.Body, maxBody))
	defer leave()
	_ = control.SetReadDeadline(time.Time{})
	if err != nil {
		return nil, s.unread(r, err)
	}
	request, node, err := decodeJSON(body.Bytes(), bounds{s.cfg.Limits.listed(), &s.lists, nil}, &s.nodes, id.Credential)
	switch {
	case errors.Is(err, fleet.ErrLimit): // the next poll has as much
		return nil, &webError{http.StatusRequestEntityTooLarge, "decode the poll: " + fleet.Sentence(err)}
	case err != nil:
		return nil, fmt.Errorf("decode the poll: %w", err)
	}
	if node == nil || node.id == "" {
		return nil, fmt.Errorf("the poll has no node.id: set node.id in the bootstrap (or --service-node): %w", fleet.ErrInvalid)
	}
	if request.typeURL != "" && request.typeURL != only.URL() {
		return nil, fmt.Errorf("type_url %q is not what %s is for, which is %s: %w", shortened(request.typeURL, maxTypeURL), restPath(only), only.URL(), fleet.ErrInvalid)
	}
	request.nonce = "" // a poll's own number is its version
	if len(request.version) > longestVersion {
		request.version = ""
	}
	p := &poll{request: request, from: node, wait: -1}
	if p.wait, err = waitOf(r); err != nil {
		return nil, err
	}
	if ms, err := strconv.ParseInt(r.Header.Get(timeoutName), 10, 32); err == nil && ms > 0 {
		p.most = time.Duration(ms) * time.Millisecond
	}
	return p, nil
}

// waitOf is how long a poll asks to wait for a change: ?wait=SECONDS, or "Prefer: wait=SECONDS" (RFC 7240). Negative: it does not say.
func waitOf(r *http.Request) (time.Duration, error) {
	text, said := "", false
	if q := r.URL.Query(); q.Has("wait") {
		text, said = q.Get("wait"), true
	} else {
		for _, line := range r.Header.Values("Prefer") {
			for part := range strings.SplitSeq(line, ",") {
				part, _, _ = strings.Cut(part, ";") // parameters, which wait has none of
				name, value, _ := strings.Cut(part, "=")
				if !said && strings.EqualFold(textproto.TrimString(name), "wait") {
					text, said = strings.Trim(textproto.TrimString(value), `"`), true
				}
			}
		}
	}
	if !said {
		return -1, nil
	}
	seconds, err := strconv.ParseUint(text, 10, 16)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // more is maxWait as well
		return 0, fmt.Errorf("wait is %q: it is a whole number of seconds, 0 or more: %w", shortened(text, maxTypeURL), fleet.ErrInvalid)
	}
	return min(time.Duration(seconds)*time.Second, maxWait), nil //nolint:gosec // at most 65,535
}
