package access

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

const (
	// tokenUnread and tenantUnread are how many bytes of answers may wait for clients that do not read them, in one process. Who has more reads nothing else.
	tokenUnread, tenantUnread = 32 << 20, 64 << 20
	// unreadPatience is how long a request waits for that.
	unreadPatience = 10 * time.Second
	// smallAnswer is what is not counted; a client takes largePart of what is, within a time, or is ended.
	smallAnswer, largePart = 16 << 10, 256 << 10
)

// UnreadError tells whose answers are as many bytes as the process holds.
type UnreadError struct{ Whose string }

func (e *UnreadError) Error() string {
	return "the answers that " + e.Whose + " was given, and does not read, are as many bytes as this server holds: read them, or ask for less at once"
}

// Unread counts the answers that wait for their clients: each is held as a whole until it is written. It holds a number only while one waits.
type Unread struct {
	Token, Tenant int // the most, in bytes
	Patience      time.Duration
	Slow          time.Duration // for how long a client may take nothing

	mu      sync.Mutex // guards what follows
	tokens  map[fleet.CredentialID]int
	tenants map[fleet.TenantID]int
	less    chan struct{} // closed and replaced when one was written
}

// NewUnread has clients ended that take nothing for so long.
func NewUnread(slow time.Duration) *Unread {
	return &Unread{
		Token: tokenUnread, Tenant: tenantUnread, Patience: unreadPatience, Slow: slow,
		tokens: map[fleet.CredentialID]int{}, tenants: map[fleet.TenantID]int{}, less: make(chan struct{}),
	}
}

// Full says of whom too much is not read; "": there is room.
func (u *Unread) Full(p auth.Principal) (whose string, less <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.tokens[p.Credential] >= u.Token:
		whose = "the token"
	case u.tenants[p.Tenant] >= u.Tenant:
		whose = "the tenant"
	}
	return whose, u.less
}

// Await waits until there is room for one more answer, or fails with an UnreadError. What many ask for before the first of them is answered is bounded by what the database gives a tenant.
func (u *Unread) Await(ctx context.Context, p auth.Principal) error {
	whose, less := u.Full(p)
	if whose == "" {
		return nil
	}
	timer := time.NewTimer(u.Patience)
	defer timer.Stop()
	for whose != "" {
		select {
		case <-less:
			whose, less = u.Full(p)
		case <-timer.C:
			return &UnreadError{Whose: whose}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// count adds what waits, or with a negative number takes it away.
func (u *Unread) count(p auth.Principal, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.tokens[p.Credential] += n; u.tokens[p.Credential] == 0 {
		delete(u.tokens, p.Credential)
	}
	if u.tenants[p.Tenant] += n; u.tenants[p.Tenant] == 0 {
		delete(u.tenants, p.Tenant)
	}
	if n < 0 {
		close(u.less)
		u.less = make(chan struct{})
	}
}

// Answers is a ResponseWriter whose long answers count while they wait.
func (u *Unread) Answers(w http.ResponseWriter, p auth.Principal) http.ResponseWriter {
	return countedWriter{ResponseWriter: w, unread: u, of: p}
}

type countedWriter struct {
	http.ResponseWriter
	unread *Unread
	of     auth.Principal
}

// Unwrap is for http.ResponseController.
func (w countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w countedWriter) Write(b []byte) (n int, err error) {
	if len(b) <= smallAnswer {
		return w.ResponseWriter.Write(b)
	}
	w.unread.count(w.of, len(b))
	defer w.unread.count(w.of, -len(b))
	control := http.NewResponseController(w.ResponseWriter)
	for part := range slices.Chunk(b, largePart) {
		_ = control.SetWriteDeadline(time.Now().Add(w.unread.Slow)) // not every writer has one
		m, err := w.ResponseWriter.Write(part)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}
