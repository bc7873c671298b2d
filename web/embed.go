// Package web is the page: a client of the API, written in TypeScript and built by "make web" into one archive, which is
// embedded ([docs/adr/0019]). To build the servers nothing but Go is needed.
package web

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed dist.zip
var archive []byte

// placeholder stands in index.html where the nonce of an answer goes (vite.config.ts).
const placeholder = "FAIRLEAD_NONCE"

// policyOf lets the page load its own files and talk to its own server, nothing else. Styles that its libraries make carry the nonce of the
// answer. No text can become markup or script, whatever a client of ours wrote into it: the one policy that the page makes takes text
// without markup alone.
func policyOf(nonce string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce + "'; img-src 'self'; connect-src 'self'; font-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types default"
}

var contentTypes = map[string]string{
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".svg":   "image/svg+xml",
	".woff2": "font/woff2",
}

// addresses are what the page's router knows (web/src/app/router.tsx), besides its files. A test compares them.
var addresses = []string{"/", "/fleets/*", "/settings", "/audit", "/operator"}

// Paths returns the paths that Handler answers, as chi's patterns.
func Paths() []string { return append([]string{"/assets/*", "/icon.svg"}, addresses...) }

// file is one file of the archive, as it is and as gzip: the archive's own compressed bytes between gzip's header and trailer.
type file struct {
	kind        string
	plain, gzip []byte
}

var load = sync.OnceValues(func() (map[string]file, error) { return readArchive(archive) })

func readArchive(data []byte) (map[string]file, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the page's archive: %w", err)
	}
	files := make(map[string]file, len(r.File))
	for _, f := range r.File {
		kind, ok := contentTypes[path.Ext(f.Name)]
		if !ok || f.Method != zip.Deflate {
			return nil, fmt.Errorf("the page's archive has %s, which is of no known kind", f.Name)
		}
		raw, err := f.OpenRaw()
		if err != nil {
			return nil, fmt.Errorf("%s in the page's archive: %w", f.Name, err)
		}
		packed := bytes.NewBuffer([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}) // RFC 1952: deflate, no time, no system
		if _, err := io.Copy(packed, raw); err != nil {
			return nil, fmt.Errorf("%s in the page's archive: %w", f.Name, err)
		}
		end := binary.LittleEndian.AppendUint32(nil, f.CRC32)
		packed.Write(binary.LittleEndian.AppendUint32(end, uint32(f.UncompressedSize64))) //nolint:gosec // RFC 1952: its lowest 32 bits
		plain, err := unpacked(f)
		if err != nil {
			return nil, fmt.Errorf("%s in the page's archive: %w", f.Name, err)
		}
		files[f.Name] = file{kind, plain, packed.Bytes()}
	}
	if _, ok := files["index.html"]; !ok {
		return nil, fmt.Errorf("the page's archive has no index.html")
	}
	return files, nil
}

func unpacked(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	plain, err := io.ReadAll(r) // our own file: its size is known
	if err == nil && crc32.ChecksumIEEE(plain) != f.CRC32 {
		err = zip.ErrChecksum
	}
	return plain, err
}

// Handler serves the page and its files to GET and HEAD. An address of the page is answered with the page itself, which
// shows what the address names; any other one, that a browser opens, with the page and 404.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		files, err := load()
		if err != nil {
			http.Error(w, "the page is damaged: build the server again", http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		name := strings.TrimPrefix(r.URL.Path, "/")
		f, isFile := files[name]
		switch {
		case name == "index.html": // one address for one page
			http.NotFound(w, r)
		case isFile:
			serveFile(w, r, name, f)
		case strings.HasPrefix(name, "assets/"): // of another version of this server
			h.Set("Cache-Control", "no-store")
			http.NotFound(w, r)
		case isAddress(r.URL.Path):
			servePage(w, r, http.StatusOK, files["index.html"].plain)
		default:
			servePage(w, r, http.StatusNotFound, files["index.html"].plain)
		}
	})
}

func isAddress(p string) bool {
	for _, a := range addresses {
		if p == a || strings.HasSuffix(a, "*") && strings.HasPrefix(p, strings.TrimSuffix(a, "*")) {
			return true
		}
	}
	return false
}

// serveFile serves what its name tells the content of: it never changes.
func serveFile(w http.ResponseWriter, r *http.Request, name string, f file) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if !strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=3600")
	}
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.gzip
	}
	write(w, r, http.StatusOK, body)
}

func servePage(w http.ResponseWriter, r *http.Request, status int, page []byte) {
	nonce := rand.Text()
	h := w.Header()
	h.Set("Content-Type", contentTypes[".html"])
	h.Set("Content-Security-Policy", policyOf(nonce))
	h.Set("Cache-Control", "no-store") // each answer has a nonce of its own
	write(w, r, status, bytes.ReplaceAll(page, []byte(placeholder), []byte(nonce)))
}

func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}
