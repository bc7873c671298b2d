package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"fairlead/internal/door"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/lifecycle"
	"fairlead/internal/store"
)

// requestNote collects what the access log tells of one request. It belongs to the
// request's goroutine.
type requestNote struct {
	id         string
	tenant     string // slugs, as far as they were found to be the caller's
	fleet      string
	credential string
	cookie     cookieForm // how the browser was given its session
	code       string
	status     int   // of a problem
	err        error // what the client is not told

	call   *call                        // nil: who asks is not known yet
	header http.Header                  // of the answer
	made   atomic.Pointer[revisionMade] // nil: none was made
}

// failed remembers why the request got its problem.
func (n *requestNote) failed(p *problem, err error) {
	n.code, n.status = p.code, p.status
	if p.status >= http.StatusInternalServerError {
		n.err = err
	}
}

type noteKey struct{}

// note returns the request's note; outside a request, an empty one.
func note(r *http.Request) *requestNote {
	if n := noteIn(r.Context()); n != nil {
		return n
	}
	return &requestNote{}
}

// noteIn returns the note of the request that a context is of; nil: it is of none. The middleware and the log's handler use it, which get nothing else. All others get
// the call or the note as an argument.
func noteIn(ctx context.Context) *requestNote {
	n, _ := ctx.Value(noteKey{}).(*requestNote)
	return n
}

// rawPath makes the router match the path as it was sent, so that `a%2Fb` stays one
// segment and is decoded exactly once, where the parameter is bound.
func rawPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawPath == "" {
			r.URL.RawPath = r.URL.EscapedPath()
		}
		next.ServeHTTP(w, r)
	})
}

// headAsGet answers HEAD wherever there is a GET, like it: net/http leaves the body out of what a
// HEAD is answered, whatever the handler writes. A stream is not begun for it: it would have no end.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			get := *r
			get.Method, get.Header = http.MethodGet, r.Header.Clone()
			get.Header.Del("Accept")
			r = &get
		}
		next.ServeHTTP(w, r)
	})
}

// logged gives the request its id and writes one line when it is answered. The line
// holds no header, no query, no body and of the path only the route and the slugs. Requests without a good token have one
// line in a second and address.
func logged(log *slog.Logger) func(http.Handler) http.Handler {
	strangers := door.NewLog(log)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := &requestNote{id: fleet.NewID().String(), header: w.Header()}
			ctx := context.WithValue(r.Context(), noteKey{}, n)
			w.Header().Set("X-Request-Id", n.id)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			start := time.Now()
			defer func() {
				level, attrs := lineOf(ctx, n, ww, r, time.Since(start))
				if n.credential == "" {
					strangers.Say(level, door.SourceOf(r.RemoteAddr), "request", attrs...)
				} else {
					log.LogAttrs(r.Context(), level, "request", attrs...) // which has no note: the ids are there
				}
				n.tell(ctx, ww, r, start)
			}()
			next.ServeHTTP(ww, r.WithContext(ctx))
		})
	}
}

func lineOf(ctx context.Context, n *requestNote, ww middleware.WrapResponseWriter, r *http.Request, took time.Duration) (slog.Level, []slog.Attr) {
	level := slog.LevelInfo
	status := ww.Status()
	attrs := append(n.ids(), slog.String("method", door.Cut(r.Method)), slog.String("route", route(ctx)),
		slog.Int("status", status), slog.Int("bytes", ww.BytesWritten()), slog.Duration("took", took),
		slog.String("ip", clientIP(r)))
	for _, a := range []slog.Attr{
		slog.String("tenant", n.tenant), slog.String("fleet", n.fleet),
		slog.String("credential", n.credential), slog.String("code", n.code),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if n.err != nil {
		level = levelOf(n.err, r)
		attrs = append(attrs, slog.String("error", n.err.Error()))
	}
	return level, attrs
}

// levelOf is an error where something of ours failed, and not where the client went away or a
// tenant's own requests kept this one waiting.
func levelOf(err error, r *http.Request) slog.Level {
	var late *store.TimeoutError
	if r.Context().Err() != nil || errors.As(err, &late) && (late.Wait == store.WaitHead || late.Wait == store.WaitShare) {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// route returns the pattern that matched; "" before routing and where none did.
func route(ctx context.Context) string {
	if c := chi.RouteContext(ctx); c != nil {
		return c.RoutePattern()
	}
	return ""
}

// clientIP is the socket's address: headers that claim another one are not believed.
func clientIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// contained turns a panic into a 500, or into a cut connection where an answer has
// already begun.
func contained(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				v := recover()
				if v == nil {
					return
				}
				if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(v)
				}
				var about []any
				for _, id := range note(r).ids() {
					about = append(about, id)
				}
				err := lifecycle.Contained(log, "a request", v, about...)
				if ww, ok := w.(middleware.WrapResponseWriter); ok && ww.Status() != 0 {
					panic(http.ErrAbortHandler)
				}
				fail(w, r, err)
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// notFound answers what no route matches.
// notFound answers what neither the API nor the page has: to who opens it in a browser, with the page, which says so.
func notFound(page http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if page != nil && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/v1/") && strings.Contains(r.Header.Get("Accept"), "text/html") {
			page.ServeHTTP(w, r)
			return
		}
		detail := "the API has no such path: /openapi.yaml has those that it has"
		if strings.HasPrefix(r.URL.Path, "/v1/") && strings.HasSuffix(r.URL.Path, "/") {
			detail += "; nothing stands behind the last slash of this one"
		}
		fail(w, r, errMissing(oapi.MissingPath, detail))
	}
}

// methodNotAllowed answers with the Allow header, which a handler of one's own has to
// work out again: chi keeps its list to itself.
func methodNotAllowed(routes chi.Routes) http.HandlerFunc {
	methods := []string{
		http.MethodGet, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions,
	}
	return func(w http.ResponseWriter, r *http.Request) {
		for _, m := range methods {
			if routes.Match(chi.NewRouteContext(), m, r.URL.RawPath) {
				w.Header().Add("Allow", m)
				if m == http.MethodGet {
					w.Header().Add("Allow", http.MethodHead)
				}
			}
		}
		fail(w, r, refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this path does not know the method"))
	}
}
