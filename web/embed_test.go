package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func get(t *testing.T, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	Handler().ServeHTTP(w, r)
	return w
}

func TestT23_PageRunsNothingButItsOwnFiles(t *testing.T) {
	t.Parallel()
	nonces := make(map[string]bool)
	for _, path := range []string{"/", "/fleets/edge", "/fleets/edge/nodes/a%2Fb", "/settings"} {
		w := get(t, http.MethodGet, path)
		csp := w.Header().Get("Content-Security-Policy")
		if w.Code != http.StatusOK || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types default"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(w.Body.String(), placeholder) {
			t.Errorf("%s: %s", path, csp)
		}
		nonce := regexp.MustCompile(`style-src 'self' 'nonce-([A-Z2-7]{26})'`).FindStringSubmatch(csp)
		if nonce == nil || !strings.Contains(w.Body.String(), `nonce="`+nonce[1]+`"`) || nonces[nonce[1]] {
			t.Errorf("%s: the nonce is not of this answer: %s", path, csp)
		} else {
			nonces[nonce[1]] = true
		}
		if head := get(t, http.MethodHead, path); head.Body.Len() != 0 || head.Header().Get("Content-Length") == "0" {
			t.Errorf("HEAD %s: %d bytes", path, head.Body.Len())
		}
	}
}

// What the policy forbids must not be in the page either: it would be broken.
func TestT23_PageHasNoInlineCode(t *testing.T) {
	t.Parallel()
	index := get(t, http.MethodGet, "/").Body.String()
	for _, bad := range []string{`<style`, ` style=`, `<script>`, ` on[a-z]+=`, `javascript:`, `https?://`, `data:`} {
		if m := regexp.MustCompile(bad).FindString(index); m != "" {
			t.Errorf("index.html has %q", m)
		}
	}
}

// Every file is served under its name, in both encodings, for good.
func TestFilesOfThePage(t *testing.T) {
	t.Parallel()
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range files {
		if name == "index.html" {
			continue
		}
		plain := get(t, http.MethodGet, "/"+name)
		if plain.Code != http.StatusOK || !bytes.Equal(plain.Body.Bytes(), f.plain) || plain.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %d, %d bytes", name, plain.Code, plain.Body.Len())
		}
		if cache := plain.Header().Get("Cache-Control"); strings.HasPrefix(name, "assets/") != strings.Contains(cache, "immutable") {
			t.Errorf("%s: %s", name, cache)
		}
		packed := get(t, http.MethodGet, "/"+name, "Accept-Encoding", "br, gzip")
		r, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if body, err := io.ReadAll(r); err != nil || !bytes.Equal(body, f.plain) || packed.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %v, %d bytes", name, err, len(body))
		}
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	t.Parallel()
	for path, page := range map[string]bool{"/index.html": false, "/assets/index-old.js": false, "/other": true, "/favicon.ico": true, "/settingsx": true} {
		w := get(t, http.MethodGet, path)
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), `id="root"`) != page {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestAddressesAreTheRouters: what the page's router knows is answered with the page.
func TestAddressesAreTheRouters(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("src/app/router.tsx")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile(`getParentRoute: \(\) => root, path: "([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		want = append(want, strings.Replace(m[1], "/$fleet", "/*", 1))
	}
	got := slices.Clone(addresses)
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the server answers %q with the page, whose router knows %q", got, want)
	}
}
