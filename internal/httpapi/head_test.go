package httpapi

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/auth"
)

// Every GET of the contract answers HEAD likewise, but for the body; so do the paths beside it.
func TestHeadIsAGetWithoutABody(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator, asked := w.operator(), 0
	same := func(what, path, token string, headers ...string) {
		t.Helper()
		asked++
		headers = append(headers, "Authorization", "Bearer "+token)
		get, head := w.do(http.MethodGet, path, "", headers...), w.do(http.MethodHead, path, "", headers...)
		if len(head.body) > 0 || len(get.body) == 0 && get.status != http.StatusNotModified {
			t.Errorf("%s %s: %d bytes, and %d of the GET", what, path, len(head.body), len(get.body))
		}
		if g, h := told(get), told(head); g != h {
			t.Errorf("%s %s:\nGET  %s\nHEAD %s", what, path, g, h)
		}
	}
	w.eachOperation(func(id, method, pattern string) {
		op := w.targetOf(id, method, pattern, w.fleet)
		token := w.owner
		if rules[id].scope == installation || rules[id].action == auth.ManageTenants {
			token = operator
		}
		if method == http.MethodGet {
			same(id, op.path, token)
			mark := "?"
			if strings.Contains(op.path, mark) {
				mark = "&"
			}
			same(id, op.path+mark+"no_such=1", token)
			same(id, op.path, "fla_wrong")
			return
		}
		if allow := w.do(http.MethodHead, op.path, "", "Authorization", "Bearer "+token); allow.status == http.StatusMethodNotAllowed &&
			slices.Contains(allow.header.Values("Allow"), http.MethodHead) {
			t.Errorf("%s: %v", id, allow.header)
		}
	})
	tag := w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, nil).header.Get("ETag")
	same("unchanged", w.at("resources", "clusters", "a"), w.owner, "If-None-Match", tag)
	for _, path := range []string{"/", "/icon.svg", "/fleets/edge", "/healthz", "/readyz", "/openapi.yaml", "/docs", "/docs.css", "/no-such-path"} {
		same("beside the contract", path, w.owner)
	}
	if asked < 60 {
		t.Errorf("only %d were asked", asked)
	}
	if allow := w.do(http.MethodTrace, w.at(), "").is(405, nil).header.Values("Allow"); !slices.Contains(allow, http.MethodHead) {
		t.Errorf("405 allows %v", allow)
	}
	if line := w.logs.String(); !strings.Contains(line, `"method":"HEAD"`) {
		t.Error("the access log knows no HEAD")
	}
}

// told is what an answer says beside its body, without what every answer has of its own. The length
// of a large body is not known before it is written.
func told(a answer) string {
	h := a.header.Clone()
	for _, name := range []string{"X-Request-Id", "Date", "Content-Length", "RateLimit", "RateLimit-Policy"} {
		h.Del(name)
	}
	return regexp.MustCompile(`'nonce-[A-Z2-7]+'`).ReplaceAllString(fmt.Sprint(a.status, h), "a nonce")
}
