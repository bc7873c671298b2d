package run

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
	"time"

	"fairlead/internal/door"
)

// TLS says how a server proves itself.
type TLS struct {
	Cert           string `name:"tls-cert" env:"FAIRLEAD_TLS_CERT" type:"path" placeholder:"FILE" help:"Certificate chain, PEM. With --tls-key. Both files are read again when they change."`
	Key            string `name:"tls-key" env:"FAIRLEAD_TLS_KEY" type:"path" placeholder:"FILE" help:"Private key, PEM."`
	AllowPlaintext bool   `name:"allow-plaintext" env:"FAIRLEAD_ALLOW_PLAINTEXT" help:"Serve without TLS on an address that is not loopback. Tokens then cross the network in the clear."`
}

// Open reads the server's certificate; nil is plaintext, which is refused on an address that
// others can reach unless it was asked for by name.
func (t TLS) Open(address string, log *slog.Logger) (*Certificate, error) {
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("--tls-cert and --tls-key go together: give both")
	}
	if t.Cert != "" {
		return newCertificate(t.Cert, t.Key, log, time.Now)
	}
	if !t.AllowPlaintext && !loopback(address) {
		return nil, fmt.Errorf("%s can be reached from other machines and there is no certificate: give --tls-cert and --tls-key, or ask for plaintext with --allow-plaintext", address)
	}
	return nil, nil
}

// Unauthenticated says how many connections a port has on which nobody has proved who they are.
type Unauthenticated struct {
	Most       int `name:"max-unauthenticated-connections" env:"FAIRLEAD_MAX_UNAUTHENTICATED_CONNECTIONS" default:"2000" help:"Connections without a valid token so far, handshakes included, and no more of them than half of those that the limit of open files allows. One more closes the oldest of them."`
	PerAddress int `name:"max-unauthenticated-connections-per-address" env:"FAIRLEAD_MAX_UNAUTHENTICATED_CONNECTIONS_PER_ADDRESS" default:"500" help:"Of them, those from one address (IPv6: from one /64); more are refused. Raise it where a load balancer, proxy or NAT hides the clients' addresses and many connect at once."`
}

const defaultUnauthenticated, defaultUnauthenticatedPerAddress = 2000, 500

// limits are those of a port of HTTP.
func (u Unauthenticated) limits(idle time.Duration) door.Limits {
	l := door.Limits{Unproved: u.Most, PerAddress: u.PerAddress, Idle: idle}
	if l.Unproved == 0 {
		l.Unproved = defaultUnauthenticated
	}
	if l.PerAddress == 0 {
		l.PerAddress = defaultUnauthenticatedPerAddress
	}
	return l
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Listen opens a TCP port. flag names the option that chooses another address.
func Listen(address, flag string) (net.Listener, error) {
	lis, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return lis, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program: stop that one, or choose another address with %s (port 0 takes any free one)", address, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s may not be opened by this user: choose a port above 1023 with %s", address, flag)
	}
	return nil, fmt.Errorf("listen on %s (%s): %w", address, flag, err)
}
