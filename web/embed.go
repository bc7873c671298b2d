// Package web is the page at `/`: read-only, three files, without a build step.
package web

import (
	"bytes"
	"embed"
	"net/http"
	"strconv"
)

//go:embed index.html app.js app.css icon.svg
var files embed.FS

// policy lets the page load its own files and talk to its own server, nothing else. No
// text can become markup or script, whatever a client of ours wrote into it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

var contentTypes = map[string]string{
	"index.html": "text/html; charset=utf-8",
	"app.js":     "text/javascript; charset=utf-8",
	"app.css":    "text/css; charset=utf-8",
	"icon.svg":   "image/svg+xml",
}

// Paths returns the paths that Handler answers.
func Paths() []string { return []string{"/", "/app.js", "/app.css", "/icon.svg"} }

// Handler serves the page and its files to GET and HEAD, with a policy that forbids
// inline script and style. Every other path is a plain 404.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path[min(1, len(r.URL.Path)):]
		if name == "" {
			name = "index.html"
		} else if name == "index.html" {
			http.NotFound(w, r) // one address for one page
			return
		}
		body, err := files.ReadFile(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", contentTypes[name])
		h.Set("Content-Length", strconv.Itoa(len(body)))
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cache-Control", "no-cache")
		if r.Method != http.MethodHead {
			_, _ = bytes.NewReader(body).WriteTo(w)
		}
	})
}
