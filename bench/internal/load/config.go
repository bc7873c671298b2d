// Package load is an xDS load generator: thousands of well-behaved clients in one light
// process. A client has one ADS stream, on a connection of its own or with others, subscribes to all clusters
// and listeners, then by name to what those need, acknowledges every response, and says what
// it has when it comes back. Or it polls over REST for all clusters.
package load

import (
	"errors"
	"fmt"
	"time"

	"fairlead/bench/internal/xds"
)

// Server is the process that is loaded.
type Server struct {
	Target string `json:"target"` // address for xDS clients
	PID    int    `json:"pid"`    // 0: CPU and memory are not looked at
	Memory string `json:"memory"` // URL that answers a POST as admin.Memory; "": the heap is not looked at
	Token  string `json:"token"`  // bearer token of every call; "" is none
}

// Config says what load to make.
type Config struct {
	Server   Server       `json:"server"`
	Protocol xds.Protocol `json:"protocol"`
	Clients  int          `json:"clients"`
	// Connections are those that the clients share, each with as many of them as any other, but for one; 0: each has its own.
	Connections int `json:"connections"`

	Clusters int `json:"clusters"` // what makes a client complete
	Changes  int `json:"changes"`  // to make, one after the other
	Returns  int `json:"returns"`  // how often all clients come back to the server that they have left, and how often after a change; 0: once

	NodeBytes int  `json:"node_bytes"` // size of the node in each stream's first request, and in each poll; 0: some 20
	Own       bool `json:"own"`        // each client names clusters of its own choice
	Only      bool `json:"only"`       // clients ask for clusters alone, and these are what changes

	AtRest time.Duration `json:"at_rest"` // how long the server is looked at while nothing changes; 0: it is not

	// Control is the URL of who has the servers: POST /change makes a change and answers with
	// a Made; POST /another starts another server with the same content and answers with a Server;
	// POST /killed kills the server that was started last before it does the same.
	Control string        `json:"control"`
	Timeout time.Duration `json:"timeout"` // of each phase

	StreamWindow int `json:"stream_window"` // HTTP/2 windows in bytes; 0: Envoy's default
	ConnWindow   int `json:"conn_window"`
}

// Made is a change that was made.
type Made struct {
	Epoch uint64 `json:"epoch"`
	Nanos int64  `json:"nanos"` // Unix time at which it was asked for
}

const (
	envoysStreamWindow = 16 << 20
	envoysConnWindow   = 24 << 20
	dials              = 256 // connections that are made at a time
)

// Clients that choose for themselves take the first clusters, which are those that change,
// and leave out some of the others.
const (
	commonClusters = 32
	leftOut        = 3
)

func (c Config) check() error {
	if c.Clients < 1 || c.Clusters < 1 || c.Timeout <= 0 {
		return errors.New("clients, clusters and timeout have to be above 0")
	}
	if c.Own && (c.Clusters < 2*commonClusters || c.Changes+c.Returns >= commonClusters) {
		return fmt.Errorf("clients can choose among %d clusters or more, of which fewer than %d change", 2*commonClusters, commonClusters)
	}
	if c.Only && c.Own || c.Protocol == xds.REST && !c.Only {
		return errors.New("who polls asks for all clusters, and for nothing else")
	}
	if c.Connections < 0 || c.Connections > c.Clients || c.Connections > 0 && c.Protocol == xds.REST {
		return errors.New("each connection has a client or several, and who polls has one of its own")
	}
	_, err := xds.ParseProtocol(string(c.Protocol))
	return err
}
