package fleet

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"
)

// TenantID names a tenant. It is the first argument of every store method and the
// first column of every key.
type TenantID [16]byte

// ID names a fleet within its tenant.
type ID [16]byte

// Token is drawn anew with every revision. A reader that compares (revision, token)
// notices a failover after which the same revision means other content.
type Token [16]byte

// CredentialID names an API token or a node credential. It is public: the secret
// part stands beside it.
type CredentialID [16]byte

// SessionID names a session of the web page. It is public, as a CredentialID is.
type SessionID [16]byte

// LeaseID names a lease of endpoints.
type LeaseID [16]byte

// Key is the one address of a fleet. It is a struct and never a joined string, so
// that no two fleets can share one.
type Key struct {
	Tenant TenantID
	Fleet  ID
}

// NewTenantID returns a fresh, time-ordered id (UUIDv7).
func NewTenantID() TenantID { return TenantID(newUUIDv7()) }

// NewID returns a fresh, time-ordered id (UUIDv7).
func NewID() ID { return ID(newUUIDv7()) }

// NewCredentialID returns a fresh, time-ordered id (UUIDv7).
func NewCredentialID() CredentialID { return CredentialID(newUUIDv7()) }

// NewSessionID returns a fresh, time-ordered id (UUIDv7).
func NewSessionID() SessionID { return SessionID(newUUIDv7()) }

// NewLeaseID returns a fresh, time-ordered id (UUIDv7).
func NewLeaseID() LeaseID { return LeaseID(newUUIDv7()) }

// NewToken returns a random token (UUIDv4 form).
func NewToken() Token {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return b
}

// ParseTenantID reads the canonical 36-character form.
func ParseTenantID(s string) (TenantID, error) { b, err := parseUUID(s); return TenantID(b), err }

// ParseID reads the canonical 36-character form.
func ParseID(s string) (ID, error) { b, err := parseUUID(s); return ID(b), err }

// ParseCredentialID reads the canonical 36-character form.
func ParseCredentialID(s string) (CredentialID, error) {
	b, err := parseUUID(s)
	return CredentialID(b), err
}

// ParseSessionID reads the canonical 36-character form.
func ParseSessionID(s string) (SessionID, error) { b, err := parseUUID(s); return SessionID(b), err }

// ParseLeaseID reads the canonical 36-character form.
func ParseLeaseID(s string) (LeaseID, error) { b, err := parseUUID(s); return LeaseID(b), err }

// ParseToken reads the canonical 36-character form.
func ParseToken(s string) (Token, error) { b, err := parseUUID(s); return Token(b), err }

func (t TenantID) String() string     { return formatUUID(t) }
func (f ID) String() string           { return formatUUID(f) }
func (t Token) String() string        { return formatUUID(t) }
func (c CredentialID) String() string { return formatUUID(c) }
func (s SessionID) String() string    { return formatUUID(s) }
func (l LeaseID) String() string      { return formatUUID(l) }

func (k Key) String() string { return k.Tenant.String() + "/" + k.Fleet.String() }

// LogValue is the canonical form: a line of JSON would hold sixteen numbers.
func (t TenantID) LogValue() slog.Value { return slog.StringValue(t.String()) }

// LogValue is the canonical form.
func (f ID) LogValue() slog.Value { return slog.StringValue(f.String()) }

// LogValue is the canonical form.
func (c CredentialID) LogValue() slog.Value { return slog.StringValue(c.String()) }

// LogValue is the canonical form.
func (s SessionID) LogValue() slog.Value { return slog.StringValue(s.String()) }

// LogValue is the canonical forms of both.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// newUUIDv7 follows RFC 9562, section 5.7: 48 bits of milliseconds, then random bits.
func newUUIDv7() [16]byte {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(time.Now().UnixMilli()))
	copy(b[:6], ms[2:])
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return b
}

func formatUUID(u [16]byte) string {
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

func parseUUID(s string) (u [16]byte, err error) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, fmt.Errorf("%q is not a UUID: %w", s, ErrInvalid)
	}
	digits := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return [16]byte{}, fmt.Errorf("%q is not a UUID: %w", s, ErrInvalid)
	}
	return u, nil
}
