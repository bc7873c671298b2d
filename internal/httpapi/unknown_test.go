package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/oapi"
)

// Every operation refuses what it does not know, before it does anything, and names it.
func TestNothingThatWasAskedForIsPassedOver(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := w.operator()
	spec, err := oapi.GetSpec()
	must(t, err)
	asked := 0
	targets := map[string]target{}
	w.eachOperation(func(id, method, pattern string) { targets[id] = w.targetOf(id, method, pattern, w.fleet) })
	before := w.everything()
	w.eachOperation(func(id, method, pattern string) {
		op := targets[id]
		token := w.owner
		if rules[id].scope == installation || rules[id].action == auth.ManageTenants {
			token = operator
		}
		send := func(query string, headers ...string) answer {
			asked++
			if strings.Contains(op.path, "?") { // it needs a parameter
				query = strings.Replace(query, "?", "&", 1)
			}
			return w.do(op.method, op.path+query, op.body, append(headers, "Authorization", "Bearer "+token)...)
		}
		for _, name := range []string{"dry_run", "no such", "Limit", ""} {
			query := "?" + strings.ReplaceAll(name, " ", "%20") + "=true"
			p := send(query).isProblem(400, "invalid_request", "?"+name)
			if f := (*p.Errors)[0]; f.Code != "unknown_parameter" || name == "dry_run" && !strings.Contains(f.Detail, ".../plan") {
				t.Errorf("%s%s: %+v", id, query, f)
			}
		}
		for _, broken := range []string{"?a;b", "?%zz=1", "?limit=1;dry_run=true"} {
			send(broken).isProblem(400, "invalid_request", "")
		}
		item := spec.Paths.Find(pattern)
		for _, name := range promises {
			honoured := item.Operations()[method].Parameters.GetByInAndName("header", name) != nil || item.Parameters.GetByInAndName("header", name) != nil
			if honoured {
				continue
			}
			for _, value := range []string{"*", `"9-00000000"`} {
				p := send("", name, value).isProblem(400, "invalid_request", "?"+name)
				if (*p.Errors)[0].Code != "unknown_parameter" {
					t.Errorf("%s with %s: %+v", id, name, p)
				}
			}
		}
	})
	if now := w.everything(); now != before {
		t.Errorf("one of them did something:\nbefore %s\nnow    %s", before, now)
	}
	if asked < 500 {
		t.Errorf("only %d questions were asked", asked)
	}
}

// What an operation does know is taken, and all that is unknown is named at once.
func TestUnknownParametersAreNamedTogether(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.do(http.MethodGet, w.at("resources")+"?limit=1&cursor=", "").is(200, nil)
	w.do(http.MethodGet, w.at("resources", "clusters", "a")+"?variant=", "", "If-None-Match", `"x"`).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "a", cluster("a"))), "Idempotency-Key", "k").is(200, nil)
	p := w.do(http.MethodPut, w.at("resources", "clusters", "a")+"?variant=&force=1&dryRun=1&"+strings.Repeat("x", 2000), asDocument(cluster("a")), "If-Range", "k").
		isProblem(400, "invalid_request", "?If-Range")
	var names []string
	for _, f := range *p.Errors {
		names = append(names, *f.Parameter)
	}
	if !slices.Equal(names, []string{"dryRun", "force", strings.Repeat("x", maxName), "If-Range"}) || !strings.HasSuffix((*p.Errors)[1].Detail, "it has message, variant") {
		t.Errorf("%+v", *p.Errors)
	}
	for _, empty := range []string{w.at("resources") + "?limit=", w.at("resources") + "?bodies=", w.at("resources") + "?label=", w.at("nodes") + "?state=", w.at("findings") + "?limit=1&limit="} {
		name := strings.TrimSuffix(empty[strings.LastIndexAny(empty, "?&")+1:], "=")
		w.do(http.MethodGet, empty, "").isProblem(400, "invalid_request", "?"+name)
	}
	w.do(http.MethodDelete, "/v1/tenants/acme/fleets/edge?%ff=1", "").isProblem(400, "invalid_request", "?\uFFFD")
	w.do(http.MethodDelete, "/v1/tenants/nobody/fleets/edge?dry_run=1", "").isProblem(404, "not_found", "") // first who asks
	w.do(http.MethodGet, "/v1/whoami?dry_run=1", "", "Authorization", "").isProblem(401, "unauthenticated", "")
}
