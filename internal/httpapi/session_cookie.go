package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"fairlead/internal/auth"
)

// cookieForm is how a browser is given the cookie of its session. A request has one, of how it came; a
// cookie of the other form is none.
type cookieForm struct {
	name   string
	secure bool
}

var (
	// cookieOfHost cannot be set by a neighbour: browsers take the name of the very host alone, over TLS.
	cookieOfHost = cookieForm{name: "__Host-fairlead", secure: true}
	// cookieOfLoopback is for a server on the browser's own machine, which has no TLS.
	cookieOfLoopback = cookieForm{name: "fairlead"}
)

// isLoopback reports whether a request's Host leads to the browser's own machine, whatever its resolver says.
func isLoopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// sent are the values of the cookies of this form. What net/http would pass over as damaged is there too.
func (f cookieForm) sent(r *http.Request) (values []string) {
	for _, line := range r.Header.Values("Cookie") {
		for part := range strings.SplitSeq(line, ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name == f.name {
				values = append(values, value)
			}
		}
	}
	return values
}

// given is the cookie of a session that ends at the latest so long from now.
func (f cookieForm) given(secret auth.Secret, life time.Duration) *http.Cookie {
	return f.cookie(secret.Reveal(), max(1, int(life.Seconds())))
}

// removed makes the browser forget it.
func (f cookieForm) removed() *http.Cookie { return f.cookie("", -1) }

func (f cookieForm) cookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: f.name, Value: value, Path: "/", MaxAge: maxAge, Secure: f.secure, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// requestHeader is what a page of another site cannot send: a browser would ask first whether it may, and is not told so.
const requestHeader = "X-Fairlead-Request"

// sameOrigin refuses what the page of another site made the browser send.
func (a *API) sameOrigin(r *http.Request) error {
	if err := a.public.check(r); err != nil {
		p := refuse(http.StatusForbidden, "cross_origin", "the page of another site made this request: open Fairlead's own page, at "+a.public.where())
		p.cause = err
		return p
	}
	return nil
}

// fromOwnPage refuses a request that a cookie authenticates, or that sets one, unless a page of ours made it, or none.
// What came with a token is no page's doing: a browser does not send it by itself. Reading needs no header: no other page
// is shown the answer.
func (a *API) fromOwnPage(r *http.Request, c *call) error {
	if c.session == nil {
		if a.operation(r).rule.scope == anybody {
			return a.sameOrigin(r)
		}
		return nil
	}
	if err := a.sameOrigin(r); err != nil {
		return err
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Header.Get(requestHeader) == "1" {
		return nil
	}
	return refuse(http.StatusForbidden, "request_header_missing", "a request that changes something and comes with the cookie of a session needs the header "+
		requestHeader+": 1; a program sends its token instead, Authorization: Bearer, and needs neither",
		headerFault(requestHeader, "required", "it has to be 1"))
}
