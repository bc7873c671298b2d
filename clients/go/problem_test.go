package client

import (
	"errors"
	"net/http"
	"testing"
)

type given struct {
	status int
	body   string
}

func (g given) StatusCode() int { return g.status }

func (g given) GetBody() []byte { return []byte(g.body) }

func TestCheck(t *testing.T) {
	t.Parallel()
	const problem = `{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid","request_id":"r1","errors":[` +
		`{"pointer":"/resources/0/body/x","code":"unknown_field","detail":"no such field"},{"parameter":"limit","code":"invalid","detail":"too large"},` +
		`{"pointer":"","code":"invalid","detail":"not an object"}]}`
	for name, c := range map[string]struct {
		given
		want string
	}{
		"done":          {given{http.StatusCreated, ""}, ""},
		"a problem":     {given{http.StatusBadRequest, problem}, "400 invalid: Bad Request (request r1)\n  /resources/0/body/x: no such field\n  limit: too large\n  the body: not an object"},
		"with detail":   {given{http.StatusNotFound, `{"status":404,"code":"not_found","detail":"no fleet x","request_id":"r2"}`}, "404 not_found: no fleet x (request r2)"},
		"not the API's": {given{http.StatusBadGateway, "<html>"}, "an answer 502 Bad Gateway that is not the API's"},
		"other JSON":    {given{http.StatusNotFound, `{}`}, "an answer 404 Not Found that is not the API's"},
	} {
		err := Check(c.given)
		if got := words(err); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
	var p *Problem
	if !errors.As(Check(given{http.StatusBadRequest, problem}), &p) || p.Code != "invalid" {
		t.Errorf("no problem to look into: %+v", p)
	}
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
