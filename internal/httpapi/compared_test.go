package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// pinned is a world with a Secret that is a short number, and who may write Secrets and does not know it.
func pinned(t *testing.T) (w *world, guesser []string) {
	t.Helper()
	w = setup(t)
	w.do(http.MethodPut, w.at("resources", "secrets", "pin"), asDocument(genericSecret("pin", "4711"))).isWritten(nil)
	return w, []string{"Authorization", w.writers(w.fleet)[auth.RoleCI]}
}

func guess(value, more string) string {
	return applied(strings.Replace(element("secrets", "pin", genericSecret("pin", value)), `"body"`, more+`"body"`, 1))
}

// TestT47_GuessesBesideASecretTellNothing: a plan of many variants, other names and other fleets, and writes of them, say of the right
// guess what they say of a wrong one.
func TestT47_GuessesBesideASecretTellNothing(t *testing.T) {
	t.Parallel()
	w, ci := pinned(t)
	editor := []string{"Authorization", w.writers(w.fleet)[auth.RoleEditor]}
	other := w.newFleet(w.tenant, "mine")
	var docs []string
	for pin := 4700; pin < 4720; pin++ {
		docs = append(docs, fmt.Sprintf(`{"type": "secrets", "name": "pin", "variant": "v%d", "selector": "node.id=n", "body": %s}`, pin, genericSecret("pin", strconv.Itoa(pin))))
	}
	var stored oapi.Resource
	w.do(http.MethodGet, w.at("resources", "secrets", "pin"), "").is(200, &stored)
	told := stored.Version + "|" + strings.Trim(strings.SplitN(stored.Etag, "-", 2)[1], `"`)
	for what, a := range map[string]answer{
		"plan":  w.do(http.MethodPost, w.at("plan"), applied(docs...), ci...).is(200, nil),
		"apply": w.do(http.MethodPost, w.at("apply"), applied(docs...), ci...).is(200, nil),
		"list":  w.do(http.MethodGet, w.at("resources", "secrets")+"?prefix=pin&limit=500", "", ci...).is(200, nil),
		"fleet": w.do(http.MethodPut, "/v1/tenants/acme/fleets/"+other.Name+"/resources/secrets/pin", asDocument(genericSecret("pin", "4711")), editor...).is(201, nil),
	} {
		if n := len(regexp.MustCompile(told).FindAll(a.body, -1)); n > 2*map[bool]int{true: 1}[what == "list"] {
			t.Errorf("%s tells the stored version or hash %d times: %s", what, n, a.body)
		}
		if bytes.Contains(a.body, []byte("fingerprint")) {
			t.Errorf("%s tells a fingerprint: %s", what, a.body)
		}
	}
	// The right one is told of as a wrong one is.
	one := func(pin string) string {
		doc := fmt.Sprintf(`{"type": "secrets", "name": "pin", "variant": "w", "selector": "node.id=n", "body": %s}`, genericSecret("pin", pin))
		a := w.do(http.MethodPost, w.at("plan"), applied(doc), ci...).is(200, nil)
		return regexp.MustCompile(`plan-[A-Za-z0-9_-]+`).ReplaceAllString(string(a.body), "plan")
	}
	if right, wrong := one("4711"), one("4712"); right != wrong {
		t.Errorf("the right guess is told of as\n%s\na wrong one as\n%s", right, wrong)
	}
	if es := w.comparedEvents(true); len(es) != 0 {
		t.Errorf("what compares nothing is in the audit: %+v", es)
	}
}

// comparedEvents are the tenant's events of Secrets that were compared, newest first.
func (w *world) comparedEvents(end bool) []oapi.AuditEvent {
	w.t.Helper()
	must(w.t, w.api.RecordDenials(w.t.Context(), end))
	var list oapi.AuditList
	w.do(http.MethodGet, "/v1/tenants/"+w.tenant.Slug+"/audit?kind=secret.compared", "").is(200, &list)
	return list.Items
}

// TestT47_GuessesAreFew: of one Secret ten contents that differ are compared within an hour, by whichever plan, or write that is
// refused; then nothing more is told, of the right one neither. The audit tells who tried.
func TestT47_GuessesAreFew(t *testing.T) {
	t.Parallel()
	w, ci := pinned(t)
	var ahead atomic.Int64
	w.api.guesses.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	w.api.comparisons.Now = w.api.guesses.Now
	plan := func(value, more string) answer { return w.do(http.MethodPost, w.at("plan"), guess(value, more), ci...) }
	changed := func(a answer) {
		t.Helper()
		var p oapi.Plan
		a.is(200, &p)
		r := p.Resources[0]
		if r.Action != oapi.Update || bytes.Contains(a.body, []byte("fingerprint")) {
			t.Errorf("told is %s", a.body)
		}
		for _, ch := range deref(r.Changes) {
			if ch.Pointer == "/version" && string(deref(ch.After)) != `"(another)"` {
				t.Errorf("the version of what was sent is told: %s", a.body)
			}
		}
	}
	tooMany := func(a answer) {
		t.Helper()
		p := a.isProblem(429, "too_many_comparisons", "")
		if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 3000 || n > 3600 || !strings.Contains(*p.Detail, "secrets/pin") {
			t.Errorf("Retry-After %q: %s", a.header.Get("Retry-After"), *p.Detail)
		}
	}
	for range 30 {
		plan("4711", "").is(200, nil) // who knows it plans all day
		changed(plan("0", ""))        // as does who sends the same again
	}
	for i := 1; i < 4; i++ {
		changed(plan(strconv.Itoa(i), ""))
	}
	changed(plan("4711", `"labels": {"a": "b"}, `)) // what is beside it makes another content
	// A write that would change it is refused, and says so, and one that would not is made: that compares too.
	stale := func(value string) answer {
		return w.do(http.MethodPost, w.at("apply"), guess(value, `"revision": 9, `), ci...)
	}
	stale("4711").is(200, nil)
	for i := 4; i < 7; i++ {
		stale(strconv.Itoa(i)).isProblem(412, "precondition_failed", "/resources/0/revision")
	}
	w.do(http.MethodPut, w.at("resources", "secrets", "pin"), asDocument(genericSecret("pin", "7")), append(ci, "If-Match", `"9-00000000"`)...).isProblem(412, "precondition_failed", "")
	w.do(http.MethodPut, w.at("resources", "secrets", "pin"), asDocument(genericSecret("pin", "8")), append(ci, "If-None-Match", "*")...).isProblem(412, "precondition_failed", "")
	tooMany(plan("9", ""))
	tooMany(plan("4711", ""))
	tooMany(stale("9"))
	tooMany(stale("4711"))                                                  // a wrong one would be refused
	tooMany(w.do(http.MethodPost, w.at("apply"), guess("4711", ""), ci...)) // and this, where the fleet is full
	w.do(http.MethodPost, w.at("apply"), applied(`{"type": "secrets", "name": "pin", "keep": true}`), ci...).is(200, nil)
	tooMany(w.do(http.MethodPost, w.at("plan"), guess("10", ""), "Authorization", w.writers(w.fleet)[auth.RoleEditor])) // of the Secret, not of the token
	changed(plan("3", ""))                                                                                              // nothing new
	w.do(http.MethodPost, w.at("plan"), guess("10", "")).is(200, nil)                                                   // an owner could have it sent
	w.do(http.MethodPost, w.at("apply"), guess("10", "")).is(200, nil)
}

func TestT47_GuessesAreAudited(t *testing.T) {
	t.Parallel()
	w, ci := pinned(t)
	var ahead atomic.Int64
	w.api.guesses.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	w.api.comparisons.Now = w.api.guesses.Now
	plan := func(value string) answer { return w.do(http.MethodPost, w.at("plan"), guess(value, ""), ci...) }
	plan("4711").is(200, nil)
	if es := w.comparedEvents(true); len(es) != 0 {
		t.Errorf("who knows it is in the audit: %+v", es)
	}
	for i := range access.GuessesOfSecret {
		plan(strconv.Itoa(i)).is(200, nil)
		if i == 5 {
			plan("4711").is(200, nil)
		}
	}
	plan("4711").isProblem(429, "too_many_comparisons", "")
	results := map[string]float64{}
	for _, e := range w.comparedEvents(true) {
		if e.Object != "secrets/pin" || e.By.Name != "ci" || e.By.Id == nil || deref(e.Fleet) != "edge" || deref(e.Address) != "127.0.0.1" || deref(e.RequestId) == "" {
			t.Errorf("%+v", e)
		}
		results[(*e.Detail)["result"].(string)] += (*e.Detail)["contents"].(float64)
	}
	if len(results) != 3 || results["differs"] != access.GuessesOfSecret || results["same"] != 1 || results["refused"] != 1 {
		t.Errorf("the audit tells %v", results)
	}
	ahead.Store(int64(access.GuessesHold + time.Minute))
	plan("4711").is(200, nil)
	plan("11").is(200, nil)
	if n := w.api.guesses.Len(); n != 1 {
		t.Errorf("%d Secrets are kept in mind", n)
	}
}

// TestT47_NoFingerprintOfWhatCanBeGuessed: of what was stored when there were some, none is told, whoever asks; of a certificate, which everybody
// is shown by the proxy, it is.
func TestT47_NoFingerprintOfWhatCanBeGuessed(t *testing.T) {
	t.Parallel()
	w, _ := pinned(t)
	cert, key := pair(t)
	w.do(http.MethodPut, w.at("resources", "secrets", "tls"), asDocument(`{"name": "tls", "tls_certificate": {"certificate_chain": {"inline_string": `+quoted(cert)+`}, "private_key": {"inline_string": `+quoted(key)+`}}}`)).isWritten(nil)
	for summary, want := range map[string]bool{
		`{"kind": "generic_secret", "fingerprint": "ab"}`:                                          false,
		`{"kind": "session_ticket_keys", "fingerprint": "ab"}`:                                     false,
		`{"kind": "tls_certificate", "fingerprint": "ab"}`:                                         false, // of a key in a file
		`{"kind": "tls_certificate", "fingerprint": "ab", "not_after": "2030-01-01T00:00:00Z"}`:    true,
		`{"kind": "validation_context", "fingerprint": "ab", "not_after": "2030-01-01T00:00:00Z"}`: true,
	} {
		s, err := shownSecret("s", []byte(summary))
		if err != nil || (s.Fingerprint != nil) != want {
			t.Errorf("of %s is told %+v, %v", summary, s, err)
		}
		var held oapi.NodeResource
		must(t, addBody(&held, store.HeldVersion{Ref: fleet.Ref{Type: fleet.Secret, Name: "s"}, Summary: []byte(summary)}))
		if (held.Secret.Fingerprint != nil) != want {
			t.Errorf("of %s, which a node holds, is told %+v", summary, held.Secret)
		}
	}
	for _, path := range []string{
		w.at("resources"), w.at("resources", "secrets"), w.at("resources", "secrets", "pin"), w.at("resources", "secrets", "pin") + "?revision=1", w.at("resources") + "?revision=2",
		w.at("resources", "secrets", "pin", "history"), w.at("revisions", "1", "changes"), w.at("compare") + "?from=1&to=2", w.at("findings"), "/v1/tenants/acme/audit", w.at("events"),
	} {
		a := w.do(http.MethodGet, path, "")
		for _, r := range regexp.MustCompile(`\{[^{}]*"fingerprint"[^{}]*\}`).FindAll(a.body, -1) {
			var s oapi.SecretSummary
			must(t, json.Unmarshal(r, &s))
			if s.NotAfter == nil {
				t.Errorf("%s tells %s", path, r)
			}
		}
	}
}
