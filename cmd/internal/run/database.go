package run

import (
	"crypto/tls"
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// Database says how the way to Postgres is secured.
type Database struct {
	AllowPlaintextDatabase bool `name:"allow-plaintext-database" env:"FAIRLEAD_ALLOW_PLAINTEXT_DATABASE" help:"Reach a Postgres on another machine without TLS, or without checking its certificate. Its password, tokens' hashes and configuration can then be read, and changed, on the way."`
}

// CheckURL refuses a way to Postgres over which others could read or change something:
// one to another machine without sslmode=verify-full. A URL may name several hosts and a
// client tries them one after the other, so all have to be good. flag names the option
// that holds the URL; no error holds any of the URL, which has a password in it.
func (d Database) CheckURL(flag, url string) error {
	conf, err := pgconn.ParseConfig(url)
	if err != nil {
		return errors.New(flag + " cannot be read: write postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full, with what is special in " +
			"the password percent-encoded, and check that the files that it names (sslrootcert, sslcert, sslkey) are there")
	}
	good := d.AllowPlaintextDatabase || private(conf.Host, conf.TLSConfig)
	for _, f := range conf.Fallbacks {
		good = good && (d.AllowPlaintextDatabase || private(f.Host, f.TLSConfig))
	}
	if !good {
		return errors.New(flag + " leads to another machine and does not check whom it reaches: add sslmode=verify-full to the URL (and sslrootcert=FILE " +
			"where an authority of your own signed the server's certificate), or accept with --allow-plaintext-database that what goes over it " +
			"can be read and changed on the way")
	}
	return nil
}

// private reports whether a connection stays on this machine, or is encrypted to a server
// that proves its name.
func private(host string, conf *tls.Config) bool {
	if network, _ := pgconn.NetworkAddress(host, 0); network == "unix" {
		return true
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() || conf != nil && !conf.InsecureSkipVerify
}
