package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func TestT23_PageRunsNothingButItsOwnFiles(t *testing.T) {
	t.Parallel()
	for _, path := range Paths() {
		w := get(t, http.MethodGet, path)
		csp := w.Header().Get("Content-Security-Policy")
		if w.Code != http.StatusOK || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %s", path, csp)
		}
		if head := get(t, http.MethodHead, path); head.Body.Len() != 0 || head.Header().Get("Content-Length") == "0" {
			t.Errorf("HEAD %s: %d bytes", path, head.Body.Len())
		}
	}
}

// What the policy forbids must not be in the files either: the page would be broken.
func TestT23_PageHasNoInlineCodeAndNoMarkupSinks(t *testing.T) {
	t.Parallel()
	index, script := get(t, http.MethodGet, "/").Body.String(), get(t, http.MethodGet, "/app.js").Body.String()
	for _, bad := range []string{`<style`, ` style=`, `<script>`, ` on[a-z]+=`, `javascript:`, `https?://`} {
		if m := regexp.MustCompile(bad).FindString(index); m != "" {
			t.Errorf("index.html has %q", m)
		}
	}
	for _, bad := range []string{`innerHTML`, `outerHTML`, `insertAdjacentHTML`, `document\.write`, `\beval\b`, `new Function`, `\.style\b`, `localStorage`, `https?://`} {
		if m := regexp.MustCompile(bad).FindString(script); m != "" {
			t.Errorf("app.js has %q", m)
		}
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/index.html", "/embed.go", "/../embed.go", "/app.jsx", "/favicon.ico"} {
		if w := get(t, http.MethodGet, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
