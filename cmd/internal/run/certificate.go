package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"fairlead/internal/lifecycle"
	"fairlead/internal/resource"
)

const (
	certificateEvery = 2 * time.Second     // how often the files are read, give or take a fifth
	certificateSoon  = 14 * 24 * time.Hour // before its end a certificate is warned of
	certificateDaily = 24 * time.Hour      // and so often
	certificateBytes = 1 << 20             // more than any chain has
)

// Certificate is how a server proves itself: the pair of two files, which is read again when what they hold changes.
// New handshakes get the new pair as soon as two readings see the same, since the first may be of files that somebody writes;
// connections that are open go on. A pair that is broken, does not match or has ended is logged once and not used: the old one
// stays. So it is with one whose time has not begun, until then. nil is plaintext.
type Certificate struct {
	cert, key string
	log       *slog.Logger
	now       func() time.Time
	every     time.Duration

	current atomic.Pointer[tls.Certificate]
	seen    [sha256.Size]byte // what was read last, good or not; only look uses it
	judged  [sha256.Size]byte // what was taken or refused last; only look uses it
	early   bool              // it is good, and its time has not begun; only look uses it
	warned  time.Time         // that the current one ends soon; only look uses it
}

func newCertificate(cert, key string, log *slog.Logger, now func() time.Time) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log, now: now, every: certificateEvery}
	pair, seen, err := c.read()
	if err != nil {
		return nil, err
	}
	c.seen, c.judged = seen, seen
	c.current.Store(pair)
	c.tellItsTime(pair)
	return c, nil
}

// Config is for the listeners of the server; nil: plaintext.
func (c *Certificate) Config() *tls.Config {
	if c == nil {
		return nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return c.current.Load(), nil
	}}
	// A session that is resumed shows no certificate. One that began with another certificate is not resumed.
	tickets := &tls.Config{MinVersion: tls.VersionTLS12} //nolint:gosec // it holds the keys of the tickets alone
	conf.WrapSession = func(state tls.ConnectionState, session *tls.SessionState) ([]byte, error) {
		session.Extra = append(session.Extra, c.fingerprint())
		return tickets.EncryptTicket(state, session)
	}
	conf.UnwrapSession = func(ticket []byte, state tls.ConnectionState) (*tls.SessionState, error) {
		session, err := tickets.DecryptTicket(ticket, state)
		if err != nil || session == nil || !contains(session.Extra, c.fingerprint()) {
			return nil, err
		}
		return session, nil
	}
	return conf
}

func (c *Certificate) fingerprint() []byte {
	sum := sha256.Sum256(c.current.Load().Certificate[0])
	return append([]byte("fairlead certificate "), sum[:]...)
}

func contains(all [][]byte, one []byte) bool {
	for _, b := range all {
		if bytes.Equal(b, one) {
			return true
		}
	}
	return false
}

// Ends is when the pair that is served ends.
func (c *Certificate) Ends() time.Time { return c.current.Load().Leaf.NotAfter }

// Components watch the files.
func (c *Certificate) Components() []lifecycle.Component {
	if c == nil {
		return nil
	}
	return []lifecycle.Component{{Name: "certificate", Run: c.run}}
}

func (c *Certificate) run(ctx context.Context) error {
	return routine{log: c.log, name: "the look at the certificate", first: c.every, every: c.every, once: func(context.Context) bool { c.look(); return false }}.run(ctx)
}

// look takes what the files hold, if it is new and good, and was there at the last look. What is good but for its beginning is taken then.
func (c *Certificate) look() {
	pair, seen, err := c.read()
	if seen != c.seen { // it may be half of what is being written: a chain that ends early is one, and proves nothing to most clients
		c.seen = seen
		c.tellItsTime(c.current.Load())
		return
	}
	early := err == nil && c.now().Before(pair.Leaf.NotBefore)
	if seen != c.judged || c.early && !early {
		if err == nil {
			err = outOfTime(pair, c.now())
		}
		if err != nil {
			c.log.Error("the new certificate is not used, the one before stays: put a pair that matches into --tls-cert and --tls-key", "error", err)
		} else {
			c.current.Store(pair)
			c.warned = time.Time{}
			c.log.Info("new handshakes get the new certificate", "names", pair.Leaf.DNSNames, "ends", pair.Leaf.NotAfter.UTC())
		}
	}
	c.judged, c.early = seen, early
	c.tellItsTime(c.current.Load())
}

func outOfTime(pair *tls.Certificate, now time.Time) error {
	switch {
	case now.Before(pair.Leaf.NotBefore):
		return fmt.Errorf("it begins at %s, and is used then", pair.Leaf.NotBefore.UTC().Format(time.RFC3339))
	case now.After(pair.Leaf.NotAfter):
		return fmt.Errorf("it expired at %s", pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// tellItsTime warns once a day of a certificate that ends soon, or is out of its time.
func (c *Certificate) tellItsTime(pair *tls.Certificate) {
	now := c.now()
	left := pair.Leaf.NotAfter.Sub(now)
	early := now.Before(pair.Leaf.NotBefore)
	if left > certificateSoon && !early || !c.warned.IsZero() && now.Sub(c.warned) < certificateDaily {
		return
	}
	c.warned = now
	switch {
	case early:
		c.log.Error("the certificate's time has not begun: clients refuse this server until then", "begins", pair.Leaf.NotBefore.UTC())
	case left <= 0:
		c.log.Error("the certificate has expired: clients refuse this server until there is a new one in --tls-cert and --tls-key", "ended", pair.Leaf.NotAfter.UTC())
	default:
		c.log.Warn("the certificate expires soon: put a new one into --tls-cert and --tls-key, no restart is needed", "ends", pair.Leaf.NotAfter.UTC())
	}
}

// read returns the pair and what identifies the state of the files, also of one that is no good.
func (c *Certificate) read() (*tls.Certificate, [sha256.Size]byte, error) {
	chain, errChain := readBounded(c.cert)
	key, errKey := readBounded(c.key)
	seen := sha256.New()
	for _, part := range []any{errChain, errKey, len(chain)} {
		fmt.Fprintln(seen, part)
	}
	seen.Write(chain)
	seen.Write(key)
	sum := [sha256.Size]byte(seen.Sum(nil))
	if err := errors.Join(errChain, errKey); err != nil {
		return nil, sum, fmt.Errorf("load the certificate of --tls-cert and --tls-key: %w", err)
	}
	if err := resource.CheckPEM(chain); err != nil { // Go passes over it, and would serve a shorter chain
		return nil, sum, fmt.Errorf("load the certificate of --tls-cert %s: %w: write the file again from a whole copy", c.cert, err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, sum, fmt.Errorf("load the certificate of --tls-cert %s and --tls-key %s: %w", c.cert, c.key, err)
	}
	return &pair, sum, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, certificateBytes))
}
