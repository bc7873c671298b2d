package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"fairlead/internal/fleet"
)

// PublicURL is where browsers reach the API and the page, whatever is in between. The zero value goes by each request:
// by its Host, and by whether it came over TLS.
type PublicURL struct {
	origin, host string // origin: as browsers write it; "": the zero value
	https        bool
}

// ParsePublicURL reads https://fairlead.example.com; "" is the zero value.
func ParsePublicURL(text string) (PublicURL, error) {
	if text == "" {
		return PublicURL{}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(u.Host, ":") {
		return PublicURL{}, fmt.Errorf("the public URL has to be https:// with a name, and a port where it is not 443, such as https://fairlead.example.com: %w", fleet.ErrInvalid)
	}
	p := PublicURL{host: strings.ToLower(u.Host), https: u.Scheme == "https"}
	if !p.https && !isLoopback(p.host) {
		return PublicURL{}, fmt.Errorf("the public URL has to begin with https://: without TLS no browser keeps the session, but on the very machine: %w", fleet.ErrInvalid)
	}
	standard := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]
	p.origin = u.Scheme + "://" + strings.TrimSuffix(p.host, standard)
	return p, nil
}

// cookieForm is how the browser that made the request is given its session.
func (p PublicURL) cookieForm(r *http.Request) cookieForm {
	if !p.overTLS(r) && isLoopback(p.hostOf(r)) {
		return cookieOfLoopback
	}
	return cookieOfHost
}

func (p PublicURL) overTLS(r *http.Request) bool {
	if p.origin == "" {
		return r.TLS != nil
	}
	return p.https
}

func (p PublicURL) hostOf(r *http.Request) string {
	if p.origin == "" {
		return r.Host
	}
	return p.host
}

// where says in a sentence where the page is.
func (p PublicURL) where() string {
	if p.origin == "" {
		return "the address that this request went to"
	}
	return p.origin
}

// check refuses a request that would change something and that another origin's page made a browser send. A request that
// tells neither is no browser's.
func (p PublicURL) check(r *http.Request) error {
	if p.origin == "" {
		return http.NewCrossOriginProtection().Check(r)
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	site, origins := r.Header.Get("Sec-Fetch-Site"), r.Header.Values("Origin")
	if site != "" && site != "same-origin" && site != "none" {
		return fmt.Errorf("Sec-Fetch-Site is %q", site)
	}
	if len(origins) > 0 && (len(origins) > 1 || origins[0] != p.origin) {
		return fmt.Errorf("the Origin is %q, and the public URL is %s", origins, p.origin)
	}
	return nil
}

// strictTransport has browsers come back over TLS alone, for a year. Not on loopback: there the rule would hold for
// whatever else the machine serves on any port. Neighbours below the same name are not spoken for.
func (p PublicURL) strictTransport(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.overTLS(r) && !isLoopback(p.hostOf(r)) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}
