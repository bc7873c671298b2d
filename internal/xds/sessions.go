package xds

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/peer"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// maxSessions is how many sessions a poll may go through: those that end because other polls of the same client have another version.
const maxSessions = 8

// sessionKey is whose polls share a session. An Envoy asks for each cluster's endpoints, each route configuration and each Secret by a
// subscription of its own, with a version of its own: so the names belong to it. So does what the client says of itself: two that share an id
// can both wait.
type sessionKey struct {
	clientKey
	names snapshot.Count
	star  bool
	from  [sha256.Size]byte // jsonNode.hash
}

// clientKey is a client and what it polls for.
type clientKey struct {
	asker
	node string
	only fleet.Type
}

// sessions are those of a server.
type sessions struct {
	srv *Server
	all sync.WaitGroup

	mu       sync.Mutex // guards what follows
	byKey    map[sessionKey]*session
	byClient map[clientKey]map[*session]struct{}
}

// ask returns what the poll is answered with.
func (ss *sessions) ask(ctx context.Context, id Identity, only fleet.Type, p *poll) (*planner.Response, error) {
	key := sessionKey{clientKey{asker{id.Key, id.Credential}, p.from.id, only}, p.names.Count, p.names.star, p.from.hash}
	for range maxSessions {
		p.answer = make(chan answered, 1)
		x := ss.enter(ctx, key, id, p)
		p.in = x
		a := x.await(ctx, p)
		if !a.again {
			return a.response, a.err
		}
		select { // until the one before has left its fleet
		case <-x.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, errNotYet
}

// enter finds the session of a poll, or begins it with the poll.
func (ss *sessions) enter(ctx context.Context, key sessionKey, id Identity, p *poll) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if x := ss.byKey[key]; x != nil {
		return x
	}
	x := ss.begin(ctx, key, id, p)
	if ss.byKey == nil {
		ss.byKey, ss.byClient = make(map[sessionKey]*session), make(map[clientKey]map[*session]struct{})
	}
	if ss.byClient[key.clientKey] == nil {
		ss.byClient[key.clientKey] = make(map[*session]struct{})
	}
	ss.byKey[key] = x
	ss.byClient[key.clientKey][x] = struct{}{}
	ss.all.Go(x.run(id))
	return x
}

// begin makes a session. A version that the client had with other names says nothing of these: it is answered with the set (PROTOCOL rule 27). Who
// comes as another process takes the place of the one before, if nobody waits there. It costs a look at each session of the client for the type.
func (ss *sessions) begin(ctx context.Context, key sessionKey, id Identity, p *poll) *session {
	x := &session{
		of: ss, key: key, requests: make(chan *request, 1), done: make(chan struct{}),
		budget: rate.NewLimiter(rate.Limit(ss.srv.cfg.Limits.Requests), ss.srv.cfg.Limits.Burst),
		held:   p.version, first: p.conn,
	}
	known := context.WithValue(context.Background(), identityKey{}, id)
	if from, ok := peer.FromContext(ctx); ok {
		known = peer.NewContext(known, from)
	}
	x.ctx, x.cancel = context.WithCancel(known)
	x.life = time.AfterFunc(firstLife, x.expire)
	begin := *p.request
	for other := range ss.byClient[key.clientKey] {
		switch same := other.key.names == key.names && other.key.star == key.star; {
		case same:
			other.yield()
		case p.version != "" && other.had(p.version):
			begin.version = ""
		}
	}
	x.given = 1
	x.requests <- &begin
	return x
}
