package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	client "fairlead/clients/go"
)

const (
	// requestTimeout is above the 60 s for which the API holds a receipt back.
	requestTimeout = 75 * time.Second
	maxAnswer      = 64 << 20 // bytes
)

// session is a command's tie to the API and to one fleet.
type session struct {
	*shell
	target
	api   *client.Client
	doubt *bool // the retrier's
}

// open finds the settings of a fleet. It asks nothing yet.
func (c connection) open(sh *shell) (*session, error) { return c.openFor(sh, ofFleet) }

// openFor finds the settings that the command needs.
func (c connection) openFor(sh *shell, about reach) (*session, error) {
	t, err := c.target(sh, about)
	if err != nil {
		return nil, err
	}
	if exposed(t.server) {
		fmt.Fprintf(sh.err, "warning: %s is not encrypted: the token can be read on its way\n", plain(t.server.String()))
	}
	doer := &retrier{now: sh.now, pause: sh.pause, next: &http.Client{
		Timeout:       requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token goes nowhere else
	}}
	api, err := client.NewClient(t.server.String(), client.WithHTTPClient(doer), client.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+t.token.Reveal())
			r.Header.Set("Accept", "application/json, application/problem+json")
			r.Header.Set("User-Agent", "fairlead-cli")
			return nil
		}))
	return &session{sh, t, api, &doer.doubt}, err
}

// answer reads what the API answered: a T with the JSON that it was, or an error.
func answer[T any](s *session, resp *http.Response, err error) (out T, raw []byte, _ error) {
	if err != nil {
		return out, nil, s.unreachable(err)
	}
	defer resp.Body.Close()
	raw, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return out, nil, s.unreachable(err)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "application/problem+json":
		p := new(problem)
		if json.Unmarshal(raw, &p.Problem) == nil {
			p.Status = int32(resp.StatusCode) //nolint:gosec // three digits
			p.asked = addressed(s.server, resp.Request, p.Missing)
			return out, nil, p
		}
	case kind == "application/json" && resp.StatusCode/100 == 2:
		if json.Unmarshal(raw, &out) == nil {
			return out, raw, nil
		}
	}
	if resp.StatusCode == http.StatusBadRequest && strings.Contains(string(raw), httpToTLS) {
		return out, nil, s.otherScheme("https")
	}
	return out, nil, &strangeAnswer{s.server, resp.StatusCode}
}

// What Go's server says to a client without TLS, and its client of a server without.
const (
	httpToTLS = "Client sent an HTTP request to an HTTPS server"
	tlsToHTTP = "server gave HTTP response to HTTPS client"
)

// otherScheme says that the URL is to begin otherwise. The server has read nothing of the request.
func (s *session) otherScheme(scheme string) error {
	return fmt.Errorf("%s speaks %s: give %s:// in --server or FAIRLEAD_URL", s.server, map[string]string{"https": "TLS", "http": "no TLS"}[scheme], scheme)
}

// addressed is the tenant or the fleet that a request was for, where that is what is missing: the answer is the same for all names, and of two
// fleets it is not plain which one was meant.
func addressed(server *url.URL, r *http.Request, missing *client.Missing) string {
	if r == nil || missing == nil {
		return ""
	}
	path, _ := strings.CutPrefix(r.URL.EscapedPath(), strings.TrimSuffix(server.EscapedPath(), "/")+"/v1/tenants/")
	parts, at := strings.Split(path, "/"), 0
	switch {
	case *missing == client.MissingFleet && len(parts) > 2 && parts[1] == "fleets":
		at = 2
	case *missing != client.MissingTenant:
		return ""
	}
	name, err := url.PathUnescape(parts[at])
	if err != nil || name == "" {
		return ""
	}
	return fmt.Sprintf("%s %q: ", *missing, name)
}

// strangeAnswer is an answer that is not the API's.
type strangeAnswer struct {
	server *url.URL
	status int
}

func (e *strangeAnswer) Error() string {
	return fmt.Sprintf("%s answered %d %s, not in the form of Fairlead's API: is the URL right, and is a proxy in between?",
		e.server, e.status, http.StatusText(e.status))
}

// lostConnection is a request without an answer.
type lostConnection struct {
	words string
	err   error
}

func (e *lostConnection) Error() string { return e.words }

func (e *lostConnection) Unwrap() error { return e.err }

func (s *session) unreachable(err error) error {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		inner := err
		var u *url.Error
		if errors.As(err, &u) {
			inner = u.Err
		}
		if strings.Contains(inner.Error(), tlsToHTTP) {
			return s.otherScheme("http")
		}
		return &lostConnection{fmt.Sprintf("no answer from %s: %v", s.server, inner), err}
	}
	words := fmt.Sprintf("nothing answers at %s", s.server)
	switch {
	case s.readyFile != "":
		words += fmt.Sprintf(` (from %s): start Fairlead with "make run", or say with --server where it runs`, filepath.ToSlash(s.readyFile))
	case !exposed(s.server) && s.server.Scheme == "http":
		words += `: start Fairlead with "make run", or say with --server or FAIRLEAD_URL where it runs`
	default:
		words += ": the connection was refused; is the URL right, and does the server run?"
	}
	return &lostConnection{words, err}
}

// unsure tells whether a write may have been stored although it failed.
func (s *session) unsure(err error) bool {
	var p *problem
	var strange *strangeAnswer
	var lost *lostConnection
	var late *lateError
	switch {
	case errors.As(err, &late):
		return true
	case errors.As(err, &p):
		if didNothing(p.Code, int(p.Status)) {
			return *s.doubt
		}
		return p.Status >= 500 || p.Code == "in_flight"
	case errors.As(err, &strange):
		return strange.status/100 == 2 || strange.status >= 500
	case errors.As(err, &lost):
		return !errors.Is(err, syscall.ECONNREFUSED)
	}
	return false
}

// newKey makes an Idempotency-Key.
func newKey() string { return "cli-" + strings.ToLower(rand.Text()) }

// exactPath puts the path below the fleet as it must be, whatever the names: libraries
// take the names "." and ".." for steps through the path, and ask for something else.
func (s *session) exactPath(names ...string) client.RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		path := strings.TrimSuffix(s.server.EscapedPath(), "/") + "/v1/tenants/" + segment(s.tenant) + "/fleets/" + segment(s.fleet)
		for _, name := range names {
			path += "/" + segment(name)
		}
		clear, err := url.PathUnescape(path)
		r.URL.Path, r.URL.RawPath = clear, path
		return err
	}
}

func segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}
