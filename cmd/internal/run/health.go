package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"fairlead/internal/door"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
)

// healthProbes is how many connections the port of the health has.
const healthProbes = 100

// PartlyReady says what a process that is ready cannot do yet, or not now.
type PartlyReady struct{ What string }

func (p *PartlyReady) Error() string { return p.What }

// Health serves /healthz (the process lives), /readyz (it may be sent traffic) and /metrics over
// plain HTTP. ready returns why not; a *PartlyReady is told, and is no reason. A process that lives in spite of panics says how many
// there were since its start. Whoever asks is unknown: a few probes are all that there is room for.
func Health(lis net.Listener, log *slog.Logger, m *metrics.Registry, ready func(context.Context) error) lifecycle.Component {
	return lifecycle.Component{Name: "health", Run: func(ctx context.Context) error {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", m.Handler())
		mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "ok\n")
			if n := lifecycle.Panics(); n > 0 {
				_, _ = fmt.Fprintf(w, "panics=%d\n", n)
			}
		})
		mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
			err := ready(r.Context())
			partly := ""
			if p := (*PartlyReady)(nil); errors.As(err, &p) {
				partly, err = p.What+"\n", nil
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, "ready\n"+partly)
		})
		srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
		d := door.New(door.Limits{Unproved: healthProbes, PerAddress: healthProbes, Idle: httpIdle}, door.NewLog(log))
		d.Serve(srv)
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		err := srv.Serve(d.Listener(lis))
		if stop() || !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve health: %w", err)
		}
		return nil
	}}
}
