package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"fairlead/internal/lifecycle"
)

// Health serves /healthz (the process lives) and /readyz (it may be sent traffic) over
// plain HTTP. ready returns why not. A process that lives in spite of panics says how many
// there were since its start.
func Health(lis net.Listener, ready func(context.Context) error) lifecycle.Component {
	return lifecycle.Component{Name: "health", Run: func(ctx context.Context) error {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "ok\n")
			if n := lifecycle.Panics(); n > 0 {
				_, _ = fmt.Fprintf(w, "panics=%d\n", n)
			}
		})
		mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
			err := ready(r.Context())
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, "ready\n")
		})
		srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		err := srv.Serve(lis)
		if stop() || !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve health: %w", err)
		}
		return nil
	}}
}
