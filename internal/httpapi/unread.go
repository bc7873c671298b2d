package httpapi

import (
	"context"
	"fmt"
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
	// smallAnswer is what is not counted; a client takes largePart of what is, within streamPatience, or is ended.
	smallAnswer, largePart = 16 << 10, 256 << 10
)

// unread counts the answers that wait for their clients: each is held as a whole until it is written. It holds a number only while one waits.
type unread struct {
	token, tenant int // the most, in bytes
	patience      time.Duration
	slow          time.Duration // for how long a client may take nothing

	mu      sync.Mutex // guards what follows
	tokens  map[fleet.CredentialID]int
	tenants map[fleet.TenantID]int
	less    chan struct{} // closed and replaced when one was written
}

func newUnread() *unread {
	return &unread{
		token: tokenUnread, tenant: tenantUnread, patience: unreadPatience, slow: streamPatience,
		tokens: map[fleet.CredentialID]int{}, tenants: map[fleet.TenantID]int{}, less: make(chan struct{}),
	}
}

// full says of whom too much is not read; "": there is room.
func (u *unread) full(p auth.Principal) (whose string, less <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.tokens[p.Credential] >= u.token:
		whose = "the token"
	case u.tenants[p.Tenant] >= u.tenant:
		whose = "the tenant"
	}
	return whose, u.less
}

// await waits until there is room for one more answer. What many ask for before the first of them is answered is bounded by what the database gives a tenant.
func (u *unread) await(ctx context.Context, p auth.Principal) error {
	whose, less := u.full(p)
	if whose == "" {
		return nil
	}
	timer := time.NewTimer(u.patience)
	defer timer.Stop()
	for whose != "" {
		select {
		case <-less:
			whose, less = u.full(p)
		case <-timer.C:
			refused := refuse(http.StatusServiceUnavailable, "timeout", fmt.Sprintf("the answers that %s was given, and does not read, are as many bytes as this server holds: read them, or ask for less at once", whose))
			refused.retry = retryAfter
			return refused
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// count adds what waits, or with a negative number takes it away.
func (u *unread) count(p auth.Principal, n int) {
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

// answers is a ResponseWriter whose long answers count while they wait.
func (u *unread) answers(w http.ResponseWriter, p auth.Principal) http.ResponseWriter {
	return countedWriter{ResponseWriter: w, unread: u, of: p}
}

type countedWriter struct {
	http.ResponseWriter
	unread *unread
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
		_ = control.SetWriteDeadline(time.Now().Add(w.unread.slow)) // not every writer has one
		m, err := w.ResponseWriter.Write(part)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// gathers reports whether the answer to a request may be long. Revocations and deletions wait for nobody who does not read.
func gathers(r *http.Request, op operation) bool {
	return r.Method == http.MethodGet || op.rule.reads || op.rule.document
}
