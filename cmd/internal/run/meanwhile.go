package run

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"fairlead/internal/door"
	"fairlead/internal/fleet"
)

// Meanwhile runs start, which opens the API, and until it returns answers on lis for the
// API: /healthz with 200, all else with a 503 that says what is waited for; waits says why. Then it leaves
// lis open for the API: connections that come in between wait in the kernel. It returns
// the error of start, or why lis could not be served.
func Meanwhile(ctx context.Context, lis net.Listener, conf *tls.Config, waits *Waits, log *slog.Logger, start func(context.Context) error) error {
	shared, ok := lis.(interface{ SetDeadline(time.Time) error })
	if !ok {
		return fmt.Errorf("serve the API: %T cannot be handed on: %w", lis, fleet.ErrInvalid)
	}
	d := door.New(Unauthenticated{}.limits(httpIdle), door.NewLog(log))
	port := d.Listener(lent{lis, shared.SetDeadline})
	if conf != nil {
		port = tls.NewListener(port, conf)
	}
	srv := &http.Server{
		Handler: waiting(waits), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		MaxHeaderBytes: 32 << 10,
	}
	d.Serve(srv)
	// The next request of a client may be one for the API, and must come over a new connection.
	srv.SetKeepAlivesEnabled(false)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := srv.Serve(port); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve the API: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		err := start(ctx)
		// Answers are written within milliseconds; a client that sends nothing is not waited for.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 100*time.Millisecond)
		defer cancel()
		if srv.Shutdown(end) != nil {
			_ = srv.Close()
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return shared.SetDeadline(time.Time{})
}

// lent is a listener whose Close ends Accept and leaves the port open.
type lent struct {
	net.Listener
	setDeadline func(time.Time) error
}

func (l lent) Close() error { return l.setDeadline(time.Unix(1, 0)) }

// waiting answers while the API is not there.
func waiting(waits *Waits) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answerPlain(w, http.StatusOK, "ok\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		answerPlain(w, http.StatusServiceUnavailable, "not ready: "+waits.Error()+"\n")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		id := fleet.NewID().String()
		h := w.Header()
		h.Set("Content-Type", "application/problem+json")
		h.Set("Cache-Control", "no-store")
		h.Set("Retry-After", "1")
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(map[string]any{ // the client is gone: nobody to tell
			"type": "about:blank", "title": http.StatusText(http.StatusServiceUnavailable), "status": http.StatusServiceUnavailable,
			"code": "unavailable", "detail": "the server is starting: the database was not reached yet; repeat the request", "request_id": id,
		})
	})
	return mux
}

func answerPlain(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
