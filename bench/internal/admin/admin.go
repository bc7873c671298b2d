// Package admin is the HTTP side of the floor and of the incumbent, by which the driver
// changes what they serve and looks at what they cost:
//
//	POST /set?clusters=R     publish a fleet of R clusters
//	POST /change?nanos=T     make the next change, at T nanoseconds of Unix time
//	POST /memory             collect garbage, then say what is left, in bytes
//	GET  /debug/pprof/...
package admin

import (
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"fairlead/bench/internal/fleet"
)

// Backend is the server under test. Calls are never concurrent.
type Backend interface {
	// Set publishes f.
	Set(f *fleet.Fleet) error
	// Change publishes that load assignment i of f has changed.
	Change(f *fleet.Fleet, i int) error
}

// Memory is what a process has allocated and not freed, in bytes. Fairlead's servers answer
// POST /memory on --debug-listen with the same.
type Memory struct {
	Heap       uint64 `json:"heap"`
	Stacks     uint64 `json:"stacks"`
	Goroutines uint64 `json:"goroutines"`
}

// handler keeps the fleet that the backend serves.
type handler struct {
	backend Backend

	mu    sync.Mutex // guards fleet, and keeps calls of backend apart
	fleet *fleet.Fleet
}

// Handler answers for a server.
func Handler(b Backend) http.Handler {
	h := &handler{backend: b}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /set", h.set)
	mux.HandleFunc("POST /change", h.change)
	mux.HandleFunc("POST /memory", memory)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	return mux
}

func (h *handler) set(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("clusters"))
	if err != nil || n < 1 {
		http.Error(w, "clusters has to be a number above 0", http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fleet = fleet.New(n)
	answer(w, h.backend.Set(h.fleet))
}

func (h *handler) change(w http.ResponseWriter, r *http.Request) {
	nanos, err := strconv.ParseInt(r.FormValue("nanos"), 10, 64)
	if err != nil {
		http.Error(w, "nanos has to be a time", http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fleet == nil {
		http.Error(w, "nothing is set", http.StatusConflict)
		return
	}
	answer(w, h.backend.Change(h.fleet, h.fleet.Change(time.Unix(0, nanos))))
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func memory(w http.ResponseWriter, _ *http.Request) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Memory{m.HeapAlloc, m.StackInuse, uint64(runtime.NumGoroutine())})
}
