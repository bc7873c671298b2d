package bootstrap

import (
	"net"
	"path"
	"time"
)

// Defaults of Config's fields.
const (
	DefaultCluster  = "fairlead"
	DefaultCAFile   = "/etc/ssl/certs/ca-certificates.crt"
	DefaultRelay    = "127.0.0.1:18002"
	DefaultTokenEnv = "FAIRLEAD_NODE_TOKEN"
	defaultRetry    = time.Second
	defaultRetryMax = 30 * time.Second
)

// Config is one client's way to Fairlead. Paths are those of the machine that the client
// runs on. A field that means nothing to the client must be left alone.
type Config struct {
	NodeID      string // needed; the credential must allow it
	NodeCluster string // "": DefaultCluster. Envoy demands one for file SDS
	// Region, Zone and SubZone are the node's locality, which is always written, empty or
	// not: grpc-js fails every call without one. Metadata is the node's (JSON values).
	Region, Zone, SubZone string
	Metadata              map[string]any

	// XDSAddresses are the servers, host:port each; names or IP addresses. Of an Envoy all are in one
	// cluster and one priority: Envoy never fails over between priorities without health
	// checks. A gRPC client goes to a later one only while it lacks something and those before do not
	// answer (gRFC A71). GoogleGRPC takes one: a name may have all servers' addresses.
	XDSAddresses []string
	// FailoverAddresses are servers that Envoy asks only until one of XDSAddresses has answered it for the
	// first time: those of another region, say. Envoy alone, over gRPC.
	FailoverAddresses []string
	// Delta asks for the incremental protocol; false is state of the world. Envoy only:
	// gRPC clients speak nothing else.
	Delta bool
	// REST has Envoy poll over HTTP/1.1 for clusters and listeners. It has no ADS then: each config source in the content is
	// of REST too, and names the cluster fairlead_xds, which only an admin may write.
	REST bool
	// Folder has Envoy read its clusters and listeners from cds.json and lds.json of an absolute path on its machine, which "fairlead sync"
	// keeps. It asks no server, so all that leads to one means nothing.
	Folder string
	// LoadReports has Envoy report its load, over a gRPC stream beside the one for its configuration.
	LoadReports bool
	// GoogleGRPC makes Envoy use its second gRPC client, over TLS with a TokenFile: that
	// alone keeps the token out of Envoy's debug log, but it notices a dead server late.
	GoogleGRPC bool

	// Plaintext is for a server on this machine: the token crosses the wire in the clear.
	Plaintext bool
	// CAFile holds the certificates that the server's is checked against; "" is
	// DefaultCAFile. ServerName is the name in the server's certificate; "" is the host of
	// the first address, of FailoverAddresses the first of those, and GRPC knows no other than each one's host.
	CAFile, ServerName string

	// One of the two, or neither if Plaintext. TokenFile is read through TokenSDSFile (see
	// TokenSDS), which "" puts beside it as fairlead_token.yaml: a token that is replaced
	// by a rename is used by the next stream. TokenEnv is the variable that holds the
	// token; a new one needs a restart. GRPC and GoogleGRPC read a TokenFile themselves;
	// it must not end in a newline.
	TokenFile, TokenSDSFile string
	TokenEnv                string

	// RelayAddress is where a Relay listens for gRPC clients, on loopback only: whoever
	// connects acts as the node; "" is DefaultRelay.
	RelayAddress string
	// AdminAddress is where Envoy's admin interface listens: the absolute path of a Unix socket, which Envoy's
	// user alone may open, or host:port, which has no access control. "" is nowhere.
	AdminAddress string
	// RetryBase and RetryMax bound the pause before a new stream (full jitter); 0 is 1 s
	// and 30 s.
	RetryBase, RetryMax time.Duration
	// InitialFetchTimeout is how long Envoy waits for its first clusters and listeners
	// before it serves without; 0 is for ever.
	InitialFetchTimeout time.Duration
}

func (c Config) withDefaults() Config {
	orDefault(&c.NodeCluster, DefaultCluster)
	orDefault(&c.RelayAddress, DefaultRelay)
	if !c.Plaintext {
		orDefault(&c.CAFile, DefaultCAFile)
		if c.ServerName == "" && len(c.XDSAddresses) > 0 {
			c.ServerName, _, _ = net.SplitHostPort(c.XDSAddresses[0]) // a bad address is found by check
		}
	}
	if c.TokenFile != "" {
		orDefault(&c.TokenSDSFile, path.Join(path.Dir(c.TokenFile), "fairlead_token.yaml"))
	}
	if c.RetryBase == 0 {
		c.RetryBase = defaultRetry
	}
	if c.RetryMax == 0 {
		c.RetryMax = max(defaultRetryMax, c.RetryBase)
	}
	return c
}

func orDefault(s *string, value string) {
	if *s == "" {
		*s = value
	}
}
