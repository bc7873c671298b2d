package forward

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
)

// SyslogConfig is what a Syslog needs.
type SyslogConfig struct {
	URL  string // tcp+tls://host:port, or tcp://host:port of a loopback address
	Host string // that the messages are said to come from
	TLS  *tls.Config
}

// Syslog sends each event and each head as a message after RFC 5424, of the facility "log audit", over TLS (RFC 5425) or, on this machine, TCP (RFC 6587): each with its length before
// it. Syslog has no answer. So a batch has a connection of its own, which is closed on our side: the receiver that has read all closes its side too, and that is
// taken for its receipt; an end that comes before ours is none. What comes after a message that was not read is a reset, or nothing, and the batch is sent again.
type Syslog struct {
	address, host string
	tls           *tls.Config // nil: plaintext
}

// NewSyslog checks the address and calls nobody.
func NewSyslog(c SyslogConfig) (*Syslog, error) {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil, u.Scheme != "tcp+tls" && u.Scheme != "tcp", u.Hostname() == "", u.Port() == "", strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("this is no address of a syslog receiver: write tcp+tls://HOST:PORT, or tcp://HOST:PORT with a loopback address: %w", fleet.ErrInvalid)
	case u.Scheme == "tcp" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("the address of syslog is not tcp+tls://, and not of this machine: write tcp+tls://HOST:PORT, or tcp://HOST:PORT with a loopback address: %w", fleet.ErrInvalid)
	}
	s := &Syslog{address: u.Host, host: word(c.Host)}
	if u.Scheme == "tcp+tls" {
		if s.tls = c.TLS.Clone(); s.tls == nil {
			s.tls = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		s.tls.ServerName = u.Hostname()
	}
	return s, nil
}

// Name is the collector's.
func (s *Syslog) Name() string { return "syslog" }

// halfCloser is a connection whose one side can be closed.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// Send writes the batch and waits until the receiver has read it.
func (s *Syslog) Send(ctx context.Context, b Batch) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := s.messages(b)
	if err != nil {
		return err
	}
	conn, err := s.dial(ctx)
	if err != nil {
		return fmt.Errorf("call syslog: %w", err)
	}
	defer conn.Close()                                                               //nolint:errcheck // all is said
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what waits
	defer stop()
	if _, err := conn.Write(text); err != nil {
		return fmt.Errorf("write to syslog: %w", err)
	}
	if err := open(ctx, conn); err != nil {
		return err
	}
	if err := conn.CloseWrite(); err != nil {
		return fmt.Errorf("write to syslog: %w", err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(conn, mostAnswer)); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || n == mostAnswer {
		return fmt.Errorf("wait until syslog has read all: %w", errors.Join(err, fleet.ErrUnavailable))
	}
	return nil
}

// open verifies that the other side is open still: what ends before ours is no receipt.
func open(ctx context.Context, conn net.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		return fmt.Errorf("wait for syslog: %w", err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("syslog ended the connection, or wrote to it, before it had all: %w", errors.Join(err, fleet.ErrUnavailable))
	}
	end, _ := ctx.Deadline()
	if err := conn.SetReadDeadline(end); err != nil {
		return fmt.Errorf("wait for syslog: %w", err)
	}
	return ctx.Err() //nolint:wrapcheck // what ended it may have been set before our deadline
}

func (s *Syslog) dial(ctx context.Context) (halfCloser, error) {
	var conn net.Conn
	var err error
	if s.tls != nil {
		conn, err = (&tls.Dialer{Config: s.tls}).DialContext(ctx, "tcp", s.address)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
	}
	if err != nil {
		return nil, err
	}
	return conn.(halfCloser), nil //nolint:forcetypeassert // both kinds are
}

// priority is of the facility 13, "log audit", and the severity 5, "notice".
const priority = 13*8 + 5

// record is the text of a message.
type record struct {
	Tenant   string `json:"tenant"`
	TenantID string `json:"tenant_id"`
	*audit.Link
	Head *audit.Head `json:"head,omitempty"`
}

func (s *Syslog) messages(b Batch) ([]byte, error) {
	var out bytes.Buffer
	add := func(at time.Time, id string, r record) error {
		text, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("write a batch of the audit: %w", err)
		}
		message := fmt.Sprintf("<%d>1 %s %s fairlead - %s - %s", priority, at.UTC().Format("2006-01-02T15:04:05.000000Z"), s.host, id, text)
		fmt.Fprintf(&out, "%d %s", len(message), message)
		return nil
	}
	for _, l := range b.Events {
		at, id := time.Now(), "missing"
		if l.Event != nil {
			at, id = l.Event.At, word(l.Event.Kind)
		}
		if err := add(at, id, record{b.Tenant, b.TenantID, &l, nil}); err != nil {
			return nil, err
		}
	}
	for _, h := range b.Heads {
		if err := add(h.At, "audit.head", record{b.Tenant, b.TenantID, nil, &h}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// word is text as a field of a message's header: printable ASCII without spaces, 32 characters at most.
func word(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, s)
	if s = s[:min(len(s), 32)]; s == "" {
		return "-"
	}
	return s
}
