package xds

import (
	"context"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// Identity is whom a credential speaks for. It comes from the credential alone: no
// node.id, header or body widens it.
type Identity struct {
	Key        fleet.Key
	Credential fleet.CredentialID
	Nodes      auth.NodePattern
	Token      [32]byte // its SHA-256: that of the credential
	Cell       string   // of several databases the one that knows the credential; whoever authenticates says so
}

// Authenticator finds whose token it is.
type Authenticator interface {
	// Authenticate returns fleet.ErrUnauthenticated for a token that is unknown, expired
	// or revoked, and fleet.ErrUnavailable when that cannot be found out now. The error's
	// text is shown to the client. RemoteAddr tells where the call comes from.
	Authenticate(ctx context.Context, token string) (Identity, error)
	// Recheck says whether what Authenticate returned is still so. Its errors are the same.
	Recheck(ctx context.Context, was Identity) (Identity, error)
}

// RemoteAddr is where a call comes from, with its port; "" if that is not known.
func RemoteAddr(ctx context.Context) string { return remote(ctx) }

// StreamInfo is what is known of a stream besides its node.
type StreamInfo struct {
	Protocol   string // "delta ADS", "SotW ADS"
	RemoteAddr string
	Resumed    bool // the first request reports what the client holds
	Delta      bool
	// Aside calls what waits for the database: other streams may begin meanwhile. nil: it is just called.
	Aside func(wait func())
}

// Await calls what waits for the database.
func (s StreamInfo) Await(wait func()) {
	if s.Aside == nil {
		wait()
		return
	}
	s.Aside(wait)
}

// Bell wakes the one who waits for it: there may be something to do. It says not what, so that to wait for everything at once costs no more than to wait
// for one thing: thousands of streams wait for each change, and each channel of a select is locked twice (ADR 0029).
type Bell chan struct{}

// NewBell returns a bell that nobody has rung.
func NewBell() Bell { return make(Bell, 1) }

// Ring does not wait. What is rung before somebody looks is heard once.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// Source ties streams to their fleets.
type Source interface {
	// Attach waits until the fleet is loaded, at most 5 s: then fleet.ErrUnavailable. A
	// fleet that is deleted is fleet.ErrForbidden.
	Attach(ctx context.Context, id Identity, node fleet.Node, s StreamInfo) (Attachment, error)
}

// Attachment is one stream's tie to its fleet. Its methods are called by the stream's
// one owner.
type Attachment interface {
	// Current is a few atomic operations and never nil. Whoever calls it has seen the target.
	Current() *snapshot.Target
	// Bell is rung when Current or Ended has something new, and by the stream's other sides. It is always the same one.
	Bell() Bell
	// CaughtUp reports whether the database was read since the stream began. If not, it is read as soon as it can be, and the bell is rung then.
	CaughtUp() bool
	// Refuse makes what is to blame exceptions of this stream, which changes its target. It
	// returns when the refusal is recorded, or after a second at most: the repair must
	// not wait for a database that is away (SEMANTICS 3.4).
	Refuse(ctx context.Context, v snapshot.Verdict)
	// Reconsider ends exceptions of this stream, which changes its target: what they kept back
	// is offered again.
	Reconsider(doubted []refusal.Key)
	// Sent says that a response that changes something for the client went out, for the
	// target of this revision. The stream began to look at begun; planned is when it knew what
	// to send, zero where revisions are not traced.
	Sent(r fleet.Revision, begun, planned time.Time)
	// Waits says what keeps a client that has been behind for a moment from its target; the
	// zero value: nothing any more.
	Waits(w fleet.Waits)
	// Subscribes says what the stream's client subscribes to, as often as that changes. What is sent after it may have to be known: it may wait, a
	// second at most.
	Subscribes(s fleet.Subscriptions)
	// Settled says that every type which the stream subscribes to is confirmed at this
	// revision or at a later one. It goes back only when the fleet's history was cut.
	Settled(r fleet.Revision)
	// Ended is what the stream must end with (the credential was revoked, the fleet deleted), nil while it need not. It is an atomic operation.
	Ended() error
	// LastStream is what is known of the node from before this stream.
	LastStream() LastStream
	// GaveUp says, before Detach, that the client ends the stream itself, on a connection that goes on.
	GaveUp()
	// Detach ends the tie; nothing is called after it. clean: nothing that went out is
	// unanswered or in doubt, and what the client reports next time can be believed.
	Detach(clean bool)
}

// LastStream is what a node's last stream left behind (SEMANTICS 3.4).
type LastStream struct {
	// Known: there was one.
	Known bool
	// Settled is the node's settled revision, 0 if there is none or it counts no more.
	Settled fleet.Revision
	// Clean: the last stream ended with nothing refused and nothing unanswered of what it had asked for. If not, the
	// versions that the client reports are believed only of what is as old as Settled.
	Clean bool
	// Before is what the node should have held at Settled, nil if that is not known or is what
	// it should hold now.
	Before *snapshot.Snapshot
	// Between is what the node may have held since, and before the server knew of it; see planner.Origin.
	Between *snapshot.Snapshot
}
