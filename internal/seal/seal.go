package seal

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"fairlead/internal/fleet"
)

// A sealed secret is: one byte of format, 8 bytes of key id, 32 bytes of encapsulated
// key, ciphertext with its tag. The first two are authenticated as well.
const (
	formatV1    = 1
	keyIDLen    = 8
	encLen      = 32
	tagLen      = 16
	headerLen   = 1 + keyIDLen
	minSealed   = headerLen + encLen + tagLen
	infoPrefix  = "fairlead/sds/v1|"
	keyIDPrefix = "fairlead/kek/v1|"
)

// Context is the place that a secret is sealed for. Opening it for any other place
// fails, so that a row copied to another tenant, fleet, name or version is worthless.
type Context struct {
	Tenant  fleet.TenantID
	Fleet   fleet.ID
	Name    string // of the Secret resource
	Version string // the resource's version
}

// info is the context as HPKE wants it. Every part carries its length, so that no two
// contexts give the same bytes.
func (c Context) info() []byte {
	b := []byte(infoPrefix)
	for _, part := range [][]byte{c.Tenant[:], c.Fleet[:], []byte(c.Name), []byte(c.Version)} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return b
}

// Sealer holds a public key: it can seal and never open. It is safe for concurrent use.
type Sealer struct {
	key hpke.PublicKey
	id  [keyIDLen]byte
}

// NewSealer takes an X25519 public key of 32 bytes; another or a weak one is ErrInvalid.
func NewSealer(pub []byte) (*Sealer, error) {
	if err := checkKey(pub); err != nil {
		return nil, fmt.Errorf("public sealing key %w", err)
	}
	k, err := ecdh.X25519().NewPublicKey(pub)
	if err != nil {
		return nil, fmt.Errorf("public sealing key is not an X25519 key: %w", fleet.ErrInvalid)
	}
	key, err := hpke.NewDHKEMPublicKey(k)
	if err != nil {
		return nil, fmt.Errorf("public sealing key is not usable: %w", fleet.ErrInvalid)
	}
	return &Sealer{key: key, id: keyID(pub)}, nil
}

// KeyID names the key pair, in hex; it stands in everything that the key seals.
func (s *Sealer) KeyID() string { return hex.EncodeToString(s.id[:]) }

// Seal encrypts plaintext for the given place (HPKE base mode: X25519, HKDF-SHA256,
// AES-256-GCM, a fresh key each time). Two calls never give the same bytes.
func (s *Sealer) Seal(c Context, plaintext []byte) ([]byte, error) {
	enc, sender, err := hpke.NewSender(s.key, hpke.HKDFSHA256(), hpke.AES256GCM(), c.info())
	if err != nil {
		return nil, fmt.Errorf("seal secret with key %s: %w", s.KeyID(), err)
	}
	header := append([]byte{formatV1}, s.id[:]...)
	text, err := sender.Seal(header, plaintext)
	if err != nil {
		return nil, fmt.Errorf("seal secret with key %s: %w", s.KeyID(), err)
	}
	return bytes.Join([][]byte{header, enc, text}, nil), nil
}

// Opener holds a private key. It is safe for concurrent use.
type Opener struct {
	key hpke.PrivateKey
	id  [keyIDLen]byte
}

// NewOpener takes an X25519 private key of 32 bytes; another or a weak one is ErrInvalid.
func NewOpener(priv []byte) (*Opener, error) {
	if err := checkKey(priv); err != nil {
		return nil, fmt.Errorf("private sealing key %w", err)
	}
	k, err := ecdh.X25519().NewPrivateKey(priv)
	if err != nil {
		return nil, fmt.Errorf("private sealing key is not an X25519 key: %w", fleet.ErrInvalid)
	}
	key, err := hpke.NewDHKEMPrivateKey(k)
	if err != nil {
		return nil, fmt.Errorf("private sealing key is not usable: %w", fleet.ErrInvalid)
	}
	return &Opener{key: key, id: keyID(k.PublicKey().Bytes())}, nil
}

// KeyID names the key pair, as the Sealer's does.
func (o *Opener) KeyID() string { return hex.EncodeToString(o.id[:]) }

// Open decrypts what a Sealer of the same key pair sealed for the same place. Anything
// else is ErrInvalid; the error holds nothing of the secret.
func (o *Opener) Open(c Context, sealed []byte) ([]byte, error) {
	if len(sealed) < minSealed {
		return nil, fmt.Errorf("open secret: %d bytes are too few: %w", len(sealed), fleet.ErrInvalid)
	}
	if sealed[0] != formatV1 {
		return nil, fmt.Errorf("open secret: unknown format %d: %w", sealed[0], fleet.ErrInvalid)
	}
	if id := sealed[1:headerLen]; !bytes.Equal(id, o.id[:]) {
		return nil, fmt.Errorf("open secret: it was sealed for key %x, this server has key %s: %w", id, o.KeyID(), fleet.ErrInvalid)
	}
	enc, text := sealed[headerLen:headerLen+encLen], sealed[headerLen+encLen:]
	r, err := hpke.NewRecipient(enc, o.key, hpke.HKDFSHA256(), hpke.AES256GCM(), c.info())
	if err != nil {
		return nil, fmt.Errorf("open secret: the encapsulated key is damaged: %w", fleet.ErrInvalid)
	}
	plain, err := r.Open(sealed[:headerLen], text)
	if err != nil {
		return nil, fmt.Errorf("open secret: it is damaged or was sealed for another place: %w", fleet.ErrInvalid)
	}
	return plain, nil
}

func keyID(pub []byte) (id [keyIDLen]byte) {
	sum := sha256.Sum256(append([]byte(keyIDPrefix), pub...))
	copy(id[:], sum[:])
	return id
}
