package fleet

import (
	"fmt"
	"log/slog"

	"github.com/google/uuid"
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

// NewToken returns a random token (UUIDv4).
func NewToken() Token { return Token(uuid.New()) }

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

func (t TenantID) String() string     { return uuid.UUID(t).String() }
func (f ID) String() string           { return uuid.UUID(f).String() }
func (t Token) String() string        { return uuid.UUID(t).String() }
func (c CredentialID) String() string { return uuid.UUID(c).String() }
func (s SessionID) String() string    { return uuid.UUID(s).String() }
func (l LeaseID) String() string      { return uuid.UUID(l).String() }

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

// newUUIDv7 is of RFC 9562, section 5.7: 48 bits of milliseconds, then a part of one and random bits.
func newUUIDv7() [16]byte { return uuid.Must(uuid.NewV7()) } // which fails only if the system has no random bytes

// parseUUID reads the canonical form alone; uuid.Parse knows others.
func parseUUID(s string) ([16]byte, error) {
	u, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return [16]byte{}, fmt.Errorf("%q is not a UUID: %w", s, ErrInvalid)
	}
	return u, nil
}
