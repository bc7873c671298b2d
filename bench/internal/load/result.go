package load

import "fairlead/bench/internal/proc"

// Usage is what a phase has cost, until the server was at rest again. Bytes are those of the
// TCP streams.
type Usage struct {
	Seconds   float64 `json:"seconds"`   // until the phase's condition held
	LastByte  float64 `json:"last_byte"` // until the last byte came in, in seconds
	Settled   float64 `json:"settled"`   // until the server was at rest, in seconds; a tenth of one is for seeing it
	ServerCPU float64 `json:"server_cpu_s"`
	ClientCPU float64 `json:"client_cpu_s"`
	Received  int64   `json:"received"`
	Sent      int64   `json:"sent"`
	Messages  int64   `json:"messages"`
	Resources int64   `json:"resources"`
}

// Change is what one change has cost.
type Change struct {
	Usage
	Latency Dist `json:"latency"` // from the change to each client
}

// Memory is that of the server. Heap is 0 where nobody tells.
type Memory struct {
	proc.Memory
	Heap int64 `json:"heap"` // with stacks, after a garbage collection
}

// Killed is what it costs a server that all clients of one that was killed come to it. Its Rest has the most memory that it has had.
type Killed struct {
	Usage
	Idle Memory `json:"idle"` // before the first client
	Rest Memory `json:"rest"` // with all clients
}

// Result is the outcome of a run.
type Result struct {
	Storm   Usage    `json:"storm"`   // all clients connect, until each is complete
	Full    Dist     `json:"full"`    // from the start of that to each client
	Changes []Change `json:"changes"` // while all are connected
	AtRest  Usage    `json:"at_rest"` // nothing changes for Seconds; zero: it was not looked at
	Same    Usage    `json:"same"`    // all come back to the server that they left, up to date
	Other   Usage    `json:"other"`   // all come to another server, up to date
	Changed Usage    `json:"changed"` // all come back to it, one change behind

	// The server is killed after a change, there is another change, and all come to another server: as new processes, or with what they have.
	KilledAnew Killed `json:"killed_anew"`
	KilledSame Killed `json:"killed_same"`

	Idle Memory `json:"idle"` // before the first client
	Rest Memory `json:"rest"` // with all clients, after the changes
}
