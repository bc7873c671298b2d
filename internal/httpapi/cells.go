package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"fairlead/internal/auth"
	"fairlead/internal/compute"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/lifecycle"
)

// Cells is the API of several cells: each has a database of its own, with its tenants and operators, and an API. The token or the session of a request
// says which one answers: the one whose database knows it. What comes without one, or with none that is good, is answered by any.
type Cells struct {
	process *Process
	log     *slog.Logger
	cells   []*cell
	homes   *access.Homes
	asks    compute.Shared[credential, lookedUp] // of all cells
}

// cell is one of them.
type cell struct {
	name string
	api  atomic.Pointer[API] // nil: its database was not reached yet
	why  atomic.Value        // a string: why it was not reached yet; nil: that is not known
	away atomic.Int64        // when it did not answer last, in ns; 0: it has answered since
}

// NewCells has the cells of these names, none of which is open. Process is the one of all their APIs.
func NewCells(p *Process, log *slog.Logger, names ...string) *Cells {
	c := &Cells{process: p, log: ofRequests(log), homes: access.NewHomes(time.Now)}
	for _, name := range names {
		c.cells = append(c.cells, &cell{name: name})
	}
	return c
}

// Open has a cell's requests answered by its API from now on, which is in no other Cells. It is called once for each.
func (c *Cells) Open(name string, a *API) {
	for _, x := range c.cells {
		if x.name == name {
			a.cells = c
			x.api.Store(a)
		}
	}
}

// Waits notes why a cell is not open yet, in words that anybody may read; "": that is not known.
func (c *Cells) Waits(name, why string) {
	for _, x := range c.cells {
		if x.name == name {
			x.why.Store(why)
		}
	}
}

// Drain is API.Drain, of all that are open.
func (c *Cells) Drain() {
	for _, a := range c.open() {
		a.Drain()
	}
}

func (c *Cells) open() (as []*API) {
	for _, x := range c.cells {
		if a := x.api.Load(); a != nil {
			as = append(as, a)
		}
	}
	return as
}

// ServeHTTP hands a request to the API of its cell.
func (c *Cells) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	open := c.open()
	if len(open) == 0 {
		fail(w, r, errElsewhere(fleet.ErrUnavailable))
		return
	}
	a := open[0]
	if cred, ok := a.sentBy(r); ok && c.process.lookups.Rejected(cred.sent, time.Now()) == nil {
		f := c.find(r.Context(), r.RemoteAddr, cred)
		if f.api != nil {
			a = f.api
		}
		r = r.WithContext(context.WithValue(r.Context(), lookedUpKey{}, &f))
	}
	a.router.ServeHTTP(w, r)
}

// sentBy reads which token or session a request comes with, where its operation asks for one. It says nothing of what is damaged: that is refused by any.
func (a *API) sentBy(r *http.Request) (cred credential, ok bool) {
	op := a.operationAt(r)
	if op.id == "" || op.rule.scope == anybody {
		return credential{}, false
	}
	if cookies := a.public.cookieForm(r).sent(r); len(cookies) > 0 && len(r.Header.Values("Authorization")) == 0 {
		id, err := auth.ParseSession(cookies[0])
		return credential{id: fleet.CredentialID(id), session: true, sent: auth.Hash(cookies[0])}, err == nil && len(cookies) == 1
	}
	text, err := bearer(r)
	if err != nil {
		return credential{}, false
	}
	text = strings.TrimSpace(text)
	_, id, err := auth.ParseAPIToken(text)
	return credential{id: id, sent: auth.Hash(text)}, err == nil
}

// operationAt is the operation that the router will match.
func (a *API) operationAt(r *http.Request) operation {
	method, path := r.Method, r.URL.RawPath
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if path == "" {
		path = r.URL.EscapedPath()
	}
	return a.operations[method+" "+a.router.Find(chi.NewRouteContext(), method, path)]
}

// readiness is 200 where one cell can serve at least, and names those that cannot.
func (c *Cells) readiness(ctx context.Context, w http.ResponseWriter, n *requestNote) {
	text, err := c.Standing(ctx)
	if err != nil {
		n.err = err
		plain(w, http.StatusServiceUnavailable, "not ready: "+err.Error()+"\n")
		return
	}
	plain(w, http.StatusOK, "ready\n"+text)
}

// Standing tells, a line for each, which cells cannot serve and why, in words that anybody may read. It is an error when none can.
func (c *Cells) Standing(ctx context.Context) (without string, err error) {
	why := make([]string, len(c.cells))
	var all sync.WaitGroup
	for i, x := range c.cells {
		all.Go(func() { why[i] = x.standing(ctx, c.log) })
	}
	all.Wait()
	var lines []string
	for i, x := range c.cells {
		if why[i] != "" {
			lines = append(lines, "cell "+x.name+": "+why[i])
		}
	}
	switch {
	case len(lines) == len(c.cells):
		return "", NotReady(strings.Join(lines, "\n"))
	case len(lines) > 0:
		return strings.Join(lines, "\n") + "\n", nil
	}
	return "", nil
}

// standing is why the cell cannot serve; "": it can.
func (x *cell) standing(ctx context.Context, log *slog.Logger) string {
	a := x.api.Load()
	if a == nil {
		if why, _ := x.why.Load().(string); why != "" {
			return "its database was not reached yet: " + why
		}
		return "its database was not reached yet"
	}
	err := lifecycle.Contain(log, "the look whether a cell can serve", func() error { return a.ready(ctx) })
	var why NotReady
	switch {
	case err == nil:
		return ""
	case errors.As(err, &why):
		return string(why)
	}
	return "its database does not answer"
}
