package resource

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"maps"
	"slices"
	"time"

	"fairlead/internal/fleet"
)

// versionBytes is how much of a hash makes a version: 120 bits, 20 letters.
const versionBytes = 15

// digest hashes parts, each with its length before it, so that no two lists of parts
// give the same bytes. With a key it is an HMAC: what is hashed can then not be guessed
// from the hash.
type digest struct{ h hash.Hash }

func newDigest(key []byte) digest {
	if key == nil {
		return digest{sha256.New()}
	}
	return digest{hmac.New(sha256.New, key)}
}

func (d digest) bytes(b []byte) {
	_, _ = d.h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b)))) // a hash never fails
	_, _ = d.h.Write(b)
}

func (d digest) text(s string) { d.bytes([]byte(s)) }

func (d digest) int(v int64) { d.bytes(binary.BigEndian.AppendUint64(nil, uint64(v))) }

func (d digest) sum() (out [32]byte) { d.h.Sum(out[:0]); return out }

// secretKey is the key of the Secrets of one variant in one fleet. With one key for more, equal versions and hashes would tell that two
// tenants have the same secret, or whoever may write Secrets that a guess is right: written
// beside the one that is guessed at, as another variant or in another fleet.
func secretKey(installation []byte, k fleet.Key, variant string) ([]byte, error) {
	info := "fairlead/version-key/v2" + string(k.Tenant[:]) + string(k.Fleet[:]) + variant
	return hkdf.Key(sha256.New, installation, nil, info, sha256.Size)
}

// version is SEMANTICS 1.1: over the value and the TTL in milliseconds, nothing else.
func version(key, value []byte, ttl time.Duration) string {
	d := newDigest(key)
	d.bytes(value)
	d.int(ttl.Milliseconds())
	sum := d.sum()
	return base64.RawURLEncoding.EncodeToString(sum[:versionBytes])
}

// docHash is SEMANTICS 1.2: over all that a tenant can set, and the values of the fleet that stand in it.
func docHash(key []byte, doc Document, in Placeholders, value []byte) [32]byte {
	d := newDigest(key)
	d.text(doc.Type.Slug())
	d.text(doc.Name)
	d.text(doc.Variant)
	d.text(doc.Selector)
	d.int(int64(doc.Priority))
	d.int(doc.TTL.Milliseconds())
	d.int(int64(len(doc.Labels)))
	for _, k := range slices.Sorted(maps.Keys(doc.Labels)) {
		d.text(k)
		d.text(doc.Labels[k])
	}
	d.text(doc.Description)
	d.bytes(value)
	if doc.ByName { // longer than what follows else: no two documents give the same bytes
		d.text("delivery " + DeliveryByName)
	}
	if len(in.Texts) == 0 {
		return d.sum()
	}
	for _, of := range []map[string]string{in.Texts, in.Values} {
		d.int(int64(len(of)))
		for _, k := range slices.Sorted(maps.Keys(of)) {
			d.text(k)
			d.text(of[k])
		}
	}
	return d.sum()
}

// bodyHash is the address of a stored body. A Secret's stored body is sealed for one
// fleet, name and version, and may only be shared by what has all three; the version
// moves with the value and with the TTL.
func bodyHash(key []byte, f fleet.ID, doc Document, value []byte) [32]byte {
	if key == nil {
		return sha256.Sum256(value)
	}
	d := newDigest(key)
	d.bytes(f[:])
	d.text(doc.Name)
	d.bytes(value)
	d.int(doc.TTL.Milliseconds())
	return d.sum()
}
