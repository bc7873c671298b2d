package httpapi

import (
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// wire stands between the store and its database and can be cut.
type wire struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	all      sync.WaitGroup

	mu    sync.Mutex // guards mode and conns
	mode  wireMode
	conns map[net.Conn]bool
}

type wireMode int

const (
	whole  wireMode = iota
	cut             // connections end at once
	silent          // connections stay and nothing answers
)

// newWire returns a wire to the database of url, and the URL of its near end.
func newWire(t *testing.T, databaseURL string) (*wire, string) {
	t.Helper()
	c, err := pgx.ParseConfig(databaseURL)
	must(t, err)
	w := &wire{conns: map[net.Conn]bool{}}
	w.dial = func() (net.Conn, error) { return net.Dial("tcp", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))) }
	if filepath.IsAbs(c.Host) {
		w.dial = func() (net.Conn, error) {
			return net.Dial("unix", filepath.Join(c.Host, ".s.PGSQL."+strconv.Itoa(int(c.Port))))
		}
	}
	w.listener, err = net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w.all.Go(w.accept)
	t.Cleanup(func() {
		_ = w.listener.Close()
		w.set(cut)
		w.all.Wait()
	})
	u := url.URL{Scheme: "postgres", User: url.UserPassword(c.User, c.Password), Host: w.listener.Addr().String(), Path: "/" + c.Database, RawQuery: "sslmode=disable"}
	return w, u.String()
}

func (w *wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := w.dial()
		if err != nil || !w.keep(near, far) {
			_ = near.Close()
			continue
		}
		w.all.Go(func() { w.copy(near, far) })
		w.all.Go(func() { w.copy(far, near) })
	}
}

func (w *wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range conns {
		if w.mode == cut {
			_ = c.Close()
			continue
		}
		w.conns[c] = true
	}
	return w.mode != cut
}

func (w *wire) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if w.is() == silent {
			continue // swallowed
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (w *wire) is() wireMode {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode
}

func (w *wire) set(m wireMode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = m
	if m == silent {
		return
	}
	for c := range w.conns {
		_ = c.Close()
		delete(w.conns, c)
	}
}

func TestDatabaseAwayIs503WithinTwoSeconds(t *testing.T) {
	t.Parallel()
	patient := setup(t)
	patient.put("a")
	line, near := newWire(t, patient.db.App)
	w := patient.besideOn(patient.db.Open(t, store.Config{URL: near, AllowUnsafe: true, Patience: 1}))
	for name, mode := range map[string]wireMode{"cut": cut, "silent": silent} {
		line.set(mode)
		for method, path := range map[string]string{
			http.MethodGet: w.at("resources"), http.MethodPut: w.at("resources", "clusters", "a"), http.MethodPost: w.at("rollback"),
		} {
			body := map[string]string{http.MethodPut: asDocument(cluster("a")), http.MethodPost: `{"revision": 1}`}[method]
			storetest.Within(t, 3*time.Second, name+", "+method, func() {
				a := w.do(method, path, body)
				a.isProblem(503, "unavailable", "")
				if a.header.Get("Retry-After") == "" {
					t.Errorf("%s, %s: no Retry-After", name, method)
				}
			})
		}
		w.do(http.MethodGet, "/readyz", "").is(503, nil)
		w.do(http.MethodGet, "/healthz", "").is(200, nil)
		line.set(whole)
		var err error
		for range 50 {
			if err = w.store.Ping(t.Context()); err == nil {
				break
			}
		}
		if err != nil {
			t.Fatalf("it does not heal: %v", err)
		}
		w.put("a")
	}
}
