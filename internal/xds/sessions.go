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

// askedKey is what a client asks for, whatever it says of itself.
type askedKey struct {
	clientKey
	names snapshot.Count
	star  bool
}

func (k sessionKey) asked() askedKey { return askedKey{k.clientKey, k.names, k.star} }

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

	mu    sync.Mutex // guards what follows
	byKey map[sessionKey]*session
	asked map[askedKey]map[*session]struct{}

	versions heldVersions
}

// heldVersions counts the sessions by which a client has a version. An Envoy has a session for each cluster's endpoints: to ask each of them, when one begins,
// would cost the square of their number.
type heldVersions struct {
	mu sync.Mutex // the innermost
	of map[heldVersion]int
}

type heldVersion struct {
	clientKey
	version string
}

// put counts a session whose client had the versions before, and has now.
func (vs *heldVersions) put(c clientKey, before, now []string) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.of == nil {
		vs.of = make(map[heldVersion]int)
	}
	for _, v := range now {
		vs.of[heldVersion{c, v}]++
	}
	for _, v := range before {
		k := heldVersion{c, v}
		if vs.of[k]--; vs.of[k] == 0 {
			delete(vs.of, k)
		}
	}
}

func (vs *heldVersions) count(c clientKey, version string) int {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.of[heldVersion{c, version}]
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
		ss.byKey, ss.asked = make(map[sessionKey]*session), make(map[askedKey]map[*session]struct{})
	}
	if ss.asked[key.asked()] == nil {
		ss.asked[key.asked()] = make(map[*session]struct{})
	}
	ss.byKey[key] = x
	ss.asked[key.asked()][x] = struct{}{}
	ss.all.Go(x.run(id))
	return x
}

// begin makes a session. A version that the client had with other names says nothing of these: it is answered with the set (PROTOCOL rule 27). Who
// comes as another process takes the place of the one before, if nobody waits there.
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
	elsewhere := ss.versions.count(key.clientKey, p.version)
	for other := range ss.asked[key.asked()] {
		if other.had(p.version) {
			elsewhere--
		}
		other.yield()
	}
	if p.version != "" && elsewhere > 0 {
		begin.version = ""
	}
	x.note()
	x.given = 1
	x.requests <- &begin
	return x
}
