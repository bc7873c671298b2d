package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"runtime/debug"
	"time"

	"fairlead/internal/lifecycle"
)

// Debug says where a server shows what it does inside.
type Debug struct {
	DebugListen string `name:"debug-listen" env:"FAIRLEAD_DEBUG_LISTEN" placeholder:"ADDR" help:"Address of Go's profiles (/debug/pprof/) and of /memory. Loopback only, for everybody on this machine; off by default."`
}

// Open opens the port, if one is asked for, and returns what serves it. Whoever does not run
// that ends the process.
func (d Debug) Open() ([]lifecycle.Component, error) {
	if d.DebugListen == "" {
		return nil, nil
	}
	if !loopback(d.DebugListen) {
		return nil, fmt.Errorf("--debug-listen %s can be reached from other machines, and nobody who asks there is asked for a token: choose an address of 127.0.0.1, "+
			"and reach it through a tunnel", d.DebugListen)
	}
	lis, err := Listen(d.DebugListen, "--debug-listen")
	if err != nil {
		return nil, err
	}
	return []lifecycle.Component{{Name: "debug", Run: func(ctx context.Context) error { return serveDebug(ctx, lis) }}}, nil
}

func serveDebug(ctx context.Context, lis net.Listener) error {
	// A profile takes as long as it is asked to: 30 s by default.
	srv := &http.Server{Handler: debugHandler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	err := srv.Serve(lis)
	if stop() || !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve profiles: %w", err)
	}
	return nil
}

// debugHandler answers to names of this machine alone: a page in a browser here must not
// read it by a name of its own that leads to 127.0.0.1. The command line is left out: it may
// hold a password.
func debugHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("POST /memory", memory)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			http.Error(w, "ask for it by a loopback address, such as 127.0.0.1", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// memory collects garbage, gives what is free back to the system, and says what is left, in
// bytes.
func memory(w http.ResponseWriter, _ *http.Request) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]uint64{
		"heap": m.HeapAlloc, "stacks": m.StackInuse, "goroutines": uint64(runtime.NumGoroutine()),
	})
}
