package floor

import (
	"errors"
	"io"
	"strings"
	"sync"

	"google.golang.org/grpc"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/xds"
)

// Server implements admin.Backend.
type Server struct {
	mu      sync.RWMutex // guards current and joined
	current [xds.Kinds]*state
	joined  int

	shards [64]shard
}

// shard is a set of streams that one goroutine pushes to.
type shard struct {
	mu      sync.Mutex // guards streams
	streams map[*stream]struct{}
}

// New makes a server without resources. Its grpc.Server must use Codec.
func New() *Server {
	s := &Server{}
	for i := range s.shards {
		s.shards[i].streams = make(map[*stream]struct{})
	}
	return s
}

// Set implements admin.Backend. It is called once, before the first stream.
func (s *Server) Set(f *fleet.Fleet) error {
	for k := range xds.Kinds {
		all := make([]int, len(f.Names[k]))
		for i := range all {
			all[i] = i
		}
		if _, err := s.renew(f, k, all); err != nil {
			return err
		}
	}
	return nil
}

// Change implements admin.Backend.
func (s *Server) Change(f *fleet.Fleet, i int) error {
	st, err := s.renew(f, xds.Endpoints, []int{i})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i := range s.shards {
		wg.Go(func() { s.shards[i].push(st) })
	}
	wg.Wait()
	return nil
}

func (s *Server) renew(f *fleet.Fleet, k xds.Kind, changed []int) (*state, error) {
	st, err := newState(s.state(k), f, k, changed)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current[k] = st
	return st, nil
}

func (s *Server) state(k xds.Kind) *state {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.current[k]
}

func (sh *shard) push(now *state) {
	sh.mu.Lock()
	streams := make([]*stream, 0, len(sh.streams))
	for st := range sh.streams {
		streams = append(streams, st)
	}
	sh.mu.Unlock()
	for _, st := range streams {
		st.push(now)
	}
}

// stream is one client's.
type stream struct {
	ss    grpc.ServerStream
	delta bool

	mu         sync.Mutex // guards what follows, and sending
	nonce      uint64
	subscribed [xds.Kinds]bool
	names      [xds.Kinds]int
}

// Serve is the handler of all methods of a grpc.Server.
func (s *Server) Serve(_ any, ss grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(ss)
	st := &stream{ss: ss, delta: strings.Contains(method, "/Delta")}
	sh := s.join(st)
	defer func() {
		sh.mu.Lock()
		delete(sh.streams, st)
		sh.mu.Unlock()
	}()
	for {
		req := request{delta: st.delta, newest: s.state(xds.Endpoints).version}
		if err := ss.RecvMsg(&req); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := st.answer(s.state(req.kind), &req); err != nil {
			return err
		}
	}
}

func (s *Server) join(st *stream) *shard {
	s.mu.Lock()
	sh := &s.shards[s.joined%len(s.shards)]
	s.joined++
	s.mu.Unlock()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.streams[st] = struct{}{}
	return sh
}

// answer sends what a client lacks on the first request of a kind, and everything whenever a
// request asks for other names than the last one did; it takes all else for an ACK.
func (st *stream) answer(now *state, req *request) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	first := !st.subscribed[req.kind]
	st.subscribed[req.kind] = true
	renamed := req.names != st.names[req.kind] && (!st.delta || req.names > 0)
	if renamed {
		st.names[req.kind] = req.names
	}
	switch {
	case first && req.resumed:
		return st.resume(now, req)
	case first || renamed:
		return st.send(now.full)
	}
	return nil
}

// resume brings a client up to date that says what it has.
func (st *stream) resume(now *state, req *request) error {
	_, child := req.kind.Parent()
	switch {
	case st.delta && !req.current && child && now.before != "":
		return st.send(now.changed)
	case st.delta && !child: // a wildcard client waits for an answer
		return st.send(now.empty)
	case st.delta, string(req.version) == now.version:
		return nil
	case string(req.version) == now.before:
		return st.send(now.changed)
	}
	return st.send(now.full)
}

func (st *stream) push(now *state) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.subscribed[now.kind] {
		_ = st.send(now.changed) // an error ends the stream, of which its reader learns
	}
}

func (st *stream) send(response [2]once) error {
	encode := response[0]
	if st.delta {
		encode = response[1]
	}
	body, err := encode()
	if err != nil {
		return err
	}
	st.nonce++
	return st.ss.SendMsg(&message{body: body, nonce: st.nonce})
}
