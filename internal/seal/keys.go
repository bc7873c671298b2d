package seal

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fairlead/internal/fleet"
)

// The names of the key files that WriteKeys writes.
const (
	PublicFile  = "seal.pub"    // for the API servers
	PrivateFile = "seal.key"    // for the xDS servers alone
	VersionFile = "version.key" // for the API servers: the key of Secret versions
)

const keyLen = 32

// kind is what a key is for. It stands before the key in its file, so that no key passes for another one: all are 32 bytes. A file without it is
// older, or somebody else has made it.
type kind string

const (
	public  kind = "seal-public"
	private kind = "seal-private"
	version kind = "version"
)

// words say what a kind is, in which file it is written, and who needs it.
var words = map[kind]struct{ key, file, owner string }{
	public:  {"public sealing key", PublicFile, "the API servers"},
	private: {"private sealing key", PrivateFile, "the xDS servers alone"},
	version: {"version key", VersionFile, "the API servers"},
}

// Keys is what an installation needs to keep Secrets. Private opens every secret that
// was ever sealed with Public: who loses it loses them.
type Keys struct {
	Public  []byte // X25519, 32 bytes
	Private []byte // X25519, 32 bytes
	Version []byte // HMAC key of the versions and hashes of Secrets, 32 bytes
}

// String keeps the private parts out of logs.
func (Keys) String() string { return "[sealing keys, redacted]" }

// GoString keeps the private parts out of logs.
func (k Keys) GoString() string { return k.String() }

// Generate draws fresh keys.
func Generate() (Keys, error) {
	priv, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return Keys{}, fmt.Errorf("draw a sealing key: %w", err)
	}
	version := make([]byte, keyLen)
	_, _ = rand.Read(version) // crypto/rand.Read never fails
	return Keys{Public: priv.PublicKey().Bytes(), Private: priv.Bytes(), Version: version}, nil
}

// WriteKeys writes the public key and the version key into the folder of the API servers, and the private key into
// that of the xDS servers; it makes them if need be. It never replaces a file: that would make every stored Secret
// unreadable. The error is then ErrConflict, and no file was written.
func WriteKeys(api, xds string, k Keys) error {
	var written []string
	for _, f := range []struct {
		dir, name string
		mode      os.FileMode
		kind      kind
		key       []byte
	}{{api, VersionFile, 0o400, version, k.Version}, {xds, PrivateFile, 0o400, private, k.Private}, {api, PublicFile, 0o444, public, k.Public}} {
		path := filepath.Join(f.dir, f.name)
		err := os.MkdirAll(f.dir, 0o700)
		if err == nil {
			err = writeNew(path, f.mode, string(f.kind)+kindEnd+base64.StdEncoding.EncodeToString(f.key)+"\n")
		}
		if err == nil {
			written = append(written, path)
			continue
		}
		for _, w := range written {
			_ = os.Remove(w) // written by this call a moment ago
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("write sealing keys: %s is already there and is never replaced: %w", path, fleet.ErrConflict)
		}
		return fmt.Errorf("write sealing keys: %w", err)
	}
	return nil
}

// kindEnd stands between the kind of a key and the key.
const kindEnd = ":"

func writeNew(path string, mode os.FileMode, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path) // half a key is worse than none
	}
	return err
}

// LoadPublic reads the file of the public key. The file of another kind of key is ErrInvalid, here and in the others.
func LoadPublic(path string) ([]byte, error) { return load(path, public) }

// LoadPrivate reads the file of the private key. A file that others may read (Loose) is ErrInvalid, with the command that fixes it.
func LoadPrivate(path string) ([]byte, error) { return load(path, private) }

// LoadVersion reads the file of the version key, as strictly as LoadPrivate.
func LoadVersion(path string) ([]byte, error) { return load(path, version) }

func load(path string, want kind) ([]byte, error) {
	what := words[want].key
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: there is no file %s: \"api keys\" makes it, as %s for %s: %w", what, path, words[want].file, words[want].owner, fleet.ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat() // of the open file: it cannot be changed under the check
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	text := strings.TrimSpace(string(raw))
	for is, w := range words {
		if is != want && strings.HasPrefix(text, string(is)+kindEnd) {
			return nil, fmt.Errorf("read %s: %s holds a %s, which is for %s: give the file of the %s, %s of \"api keys\": %w",
				what, path, w.key, w.owner, what, words[want].file, fleet.ErrInvalid)
		}
	}
	if want != public && Loose(info) {
		return nil, fmt.Errorf("read %s: others than the owner may use %s (mode %04o): run \"chmod 600 %s\", and make new keys if somebody may have read it: %w",
			what, path, info.Mode().Perm(), path, fleet.ErrInvalid)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, string(want)+kindEnd))
	if err != nil {
		return nil, fmt.Errorf("read %s: %s does not hold one line of base64: write it with \"openssl rand -base64 32\" or let Fairlead make the keys: %w",
			what, path, fleet.ErrInvalid)
	}
	if err := checkKey(key); err != nil {
		return nil, fmt.Errorf("%s in %s %w", what, path, err)
	}
	return key, nil
}

// checkKey refuses what cannot be 32 random bytes: of those at least 16 differ, but for
// one case in 2^60.
func checkKey(key []byte) error {
	if len(key) != keyLen {
		return fmt.Errorf("is %d bytes long: it must be %d random bytes: %w", len(key), keyLen, fleet.ErrInvalid)
	}
	seen := map[byte]bool{}
	for _, b := range key {
		seen[b] = true
	}
	if len(seen) < keyLen/2 {
		return fmt.Errorf("is weak, hardly any of its bytes differ: use %d random bytes: %w", keyLen, fleet.ErrInvalid)
	}
	return nil
}
