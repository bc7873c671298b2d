package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/store/storetest"
)

func TestMain(m *testing.M) {
	for _, kv := range os.Environ() { // the tests set what they need
		switch name, _, _ := strings.Cut(kv, "="); {
		case name == "FAIRLEAD_CACHE_DIR", name == "FAIRLEAD_TEST_DATABASE_URL": // the tests' own
		case strings.HasPrefix(name, "FAIRLEAD_"):
			os.Unsetenv(name)
		}
	}
	goleak.VerifyTestMain(storetest.Main(m))
}

const testToken = "fla_a-token-that-must-not-be-seen"

// fleetPath is where the tests' fleet is.
const fleetPath = "/v1/tenants/acme/fleets/edge"

// reply is one answer of the API that the world plays.
type reply struct {
	status int
	body   string
	header map[string]string
	drop   bool   // the connection breaks instead
	first  func() // nil: nothing is done before it is answered
}

func ok(body string) reply { return reply{status: http.StatusOK, body: body} }

// sent is one request as the API saw it.
type sent struct {
	method, path, query string
	key                 string // Idempotency-Key
	auth                string
	body                string
}

// world is a directory, a clock that only moves when somebody pauses, and an API that
// answers from a script.
type world struct {
	t      *testing.T
	dir    string
	server *httptest.Server
	edit   func(ctx context.Context, file string) error // what the person at the editor does
	asks   bool                                         // a person types what is given as the standard input

	mu      sync.Mutex // guards what follows
	clock   time.Time
	pauses  []time.Duration
	paused  func()             // is called while somebody pauses
	replies map[string][]reply // by "METHOD path"; the last one stays
	sent    []sent
	news    chan struct{} // is closed at the next request
}

func setup(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), clock: time.Unix(1_700_000_000, 0), replies: map[string][]reply{}, news: make(chan struct{})}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	path := r.URL.EscapedPath()
	w.mu.Lock()
	w.sent = append(w.sent, sent{r.Method, path, r.URL.RawQuery, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), string(body)})
	close(w.news)
	w.news = make(chan struct{})
	at := r.Method + " " + path
	script := w.replies[at]
	if len(script) > 1 {
		w.replies[at] = script[1:]
	}
	w.mu.Unlock()
	answer := problemReply(http.StatusNotFound, "not_found", "there is no such thing here")
	if len(script) > 0 {
		answer = script[0]
	}
	if answer.first != nil {
		answer.first()
	}
	if answer.drop {
		panic(http.ErrAbortHandler)
	}
	rw.Header().Set("Content-Type", "application/json")
	for k, v := range answer.header {
		rw.Header().Set(k, v)
	}
	rw.WriteHeader(answer.status)
	io.WriteString(rw, answer.body)
}

// on scripts the answers to one operation of the fleet.
func (w *world) on(method, path string, replies ...reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replies[method+" "+fleetPath+path] = replies
}

func problemReply(status int, code, detail string, errors ...map[string]string) reply {
	p := map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "code": code, "detail": detail, "request_id": "req-1"}
	if errors != nil {
		p["errors"] = errors
	}
	b, _ := json.Marshal(p)
	return reply{status: status, body: string(b), header: map[string]string{"Content-Type": "application/problem+json"}}
}

func (w *world) file(name, content string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// tokenFile holds the token that the world's API knows.
func (w *world) tokenFile() string { return tokenFile(w.t, testToken) }

func tokenFile(t *testing.T, token string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

// run runs a command against the world's API.
func (w *world) run(args ...string) result {
	return w.bare("", append(args, "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge")...)
}

// runWith is run until ctx ends.
func (w *world) runWith(ctx context.Context, args ...string) result {
	w.t.Helper()
	return w.bareWith(ctx, "", append(args, "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge")...)
}

// bare runs a command without any settings.
func (w *world) bare(stdin string, args ...string) result {
	w.t.Helper()
	return w.bareWith(w.t.Context(), stdin, args...)
}

func (w *world) bareWith(ctx context.Context, stdin string, args ...string) result {
	w.t.Helper()
	var out, errs sharedBuffer
	sh := &shell{in: strings.NewReader(stdin), out: &out, err: &errs, dir: w.dir, config: filepath.Join(w.dir, "xdg"), edit: w.edit, now: w.now, pause: w.pause, asks: w.asks}
	code := run(ctx, sh, args)
	r := result{code, strings.ReplaceAll(out.String(), w.dir, "DIR"), strings.ReplaceAll(errs.String(), w.dir, "DIR")}
	if strings.Contains(r.out+r.err, "must-not-be-seen") {
		w.t.Errorf("the token was printed:\n%s%s", r.out, r.err)
	}
	return r
}

// sharedBuffer is what a command and a program that it starts both write to.
type sharedBuffer struct {
	mu  sync.Mutex // guards all
	all bytes.Buffer
}

func (b *sharedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *sharedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *world) pause(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
	w.pauses = append(w.pauses, d)
	if w.paused != nil {
		w.paused()
	}
	return ctx.Err()
}

// requests are what the API saw, as "METHOD path?query" without the fleet's part.
func (w *world) requests() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sent {
		line := s.method + " " + strings.TrimPrefix(s.path, fleetPath)
		if s.query != "" {
			line += "?" + s.query
		}
		out = append(out, line)
	}
	return out
}

func (r result) want(t *testing.T, code int, out, err string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit status %d, want %d", r.code, code)
	}
	if r.out != out {
		t.Errorf("output:\n%s\nwant:\n%s", r.out, out)
	}
	if r.err != err {
		t.Errorf("errors:\n%s\nwant:\n%s", r.err, err)
	}
}

func written(revision, changed int) reply {
	return ok(fmt.Sprintf(`{"revision": %d, "changed": %d, "committed_at": "2026-01-02T03:04:05Z", "resources": []}`, revision, changed))
}

// receiptReply builds a receipt; nodes is JSON.
func receiptReply(state string, acked, nacked, pending, offline int, nodes string) reply {
	return ok(fmt.Sprintf(`{"revision": 7, "state": %q, "counts": {"acked": %d, "nacked": %d, "pending": %d, "offline": %d, "unaffected": 0},
		"nodes": [%s], "committed_at": "2026-01-02T03:04:05Z", "last_ack_ms": 18.2}`, state, acked, nacked, pending, offline, nodes))
}
