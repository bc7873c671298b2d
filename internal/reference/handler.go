// Package reference makes the page at /docs out of the contract: every operation and every schema, without script.
package reference

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
)

var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style []byte
)

// policy lets the page load its style from its own server, and nothing else: it has no script.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Paths returns the paths that New's handler answers.
func Paths() []string { return []string{"/docs", "/docs.css"} }

// New renders the contract, once, and returns what serves the page and its style to GET and HEAD. It does not keep the contract.
func New(spec *openapi3.T) (http.Handler, error) {
	p, err := newPage(spec)
	if err != nil {
		return nil, fmt.Errorf("make the reference page: %w", err)
	}
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return nil, fmt.Errorf("make the reference page: %w", err)
	}
	var html bytes.Buffer
	if err := t.Execute(&html, p); err != nil {
		return nil, fmt.Errorf("make the reference page: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /docs", serve("text/html; charset=utf-8", html.Bytes()))
	mux.HandleFunc("GET /docs.css", serve("text/css; charset=utf-8", style))
	return mux, nil
}

func serve(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cache-Control", "no-cache")
		if r.Method != http.MethodHead {
			_, _ = w.Write(body)
		}
	}
}
