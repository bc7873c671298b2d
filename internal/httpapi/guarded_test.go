package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// guardCase is one entry of the rules' corpus, which package resource has.
type guardCase struct {
	Rule resource.Rule
	At   string // in the body
	Type string
	Name string
	Body json.RawMessage
	Any  json.RawMessage
}

func guardCases(t *testing.T) []guardCase {
	t.Helper()
	y, err := os.ReadFile("../resource/testdata/guard.yaml")
	must(t, err)
	j, err := resource.ToJSON(resource.YAML, y)
	must(t, err)
	for _, key := range []string{"@type", "type_url"} {
		for _, pkg := range []string{"envoy.", "xds.", "google."} {
			j = bytes.ReplaceAll(j, []byte(`"`+key+`":"`+pkg), []byte(`"`+key+`":"`+fleet.URLPrefix+pkg))
		}
	}
	var cases []guardCase
	must(t, json.Unmarshal(j, &cases))
	for i := range cases {
		c := &cases[i]
		if c.Name == "" {
			c.Name = "x"
		}
		if c.Any != nil {
			c.Type, c.Body = "extensions", fmt.Appendf(nil, `{"name": "x", "typed_config": %s}`, c.Any)
		}
	}
	return cases
}

// document is the case as an element of an apply.
func (c guardCase) document() string {
	return fmt.Sprintf(`{"type": %q, "name": %q, "body": %s}`, c.Type, c.Name, c.Body)
}

// writers are tokens of all roles that write configuration.
func (w *world) writers(f store.Fleet) map[auth.Role]string {
	out := map[auth.Role]string{}
	for _, role := range []auth.Role{auth.RoleCI, auth.RoleEditor, auth.RoleAdmin, auth.RoleOwner} {
		var bound *fleet.ID
		if role == auth.RoleCI {
			bound = &f.ID
		}
		out[role] = "Bearer " + w.tokenOf(w.tenant, store.APIToken{Role: role, Fleet: bound, Name: string(role), WritesSecrets: true})
	}
	return out
}

// TestT22_T43_GuardOnEveryWayIn: each case of the corpus, as JSON, as YAML, as a variant, in an
// apply and by a rollback, is refused to the roles ci and editor at the field, and taken from
// admin and owner: the first case of each rule to all four on every way, the others to two of them, on one way in turn, and each tenth of these by a rollback. (What the rules
// find of each case, sent and stored, is package resource's to test.)
func TestT22_T43_GuardOnEveryWayIn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	cases := guardCases(t)
	if len(cases) < 60 {
		t.Fatalf("only %d cases", len(cases))
	}
	by := w.writers(w.fleet)
	snake := strings.NewReplacer("virtualHosts", "virtual_hosts", "directResponse", "direct_response")
	seen := map[resource.Rule]bool{}
	for i, c := range cases {
		not, may := []auth.Role{auth.RoleCI, auth.RoleEditor}, []auth.Role{auth.RoleAdmin, auth.RoleOwner}
		first := !seen[c.Rule]
		if !first {
			not, may = not[i%2:i%2+1], may[i%2:i%2+1]
		}
		seen[c.Rule] = true
		path := w.at("resources", c.Type, c.Name)
		variant := fmt.Sprintf(`{"selector": "node.id=n", "body": %s}`, c.Body)
		apply := `{"resources": [` + c.document() + `]}`
		refused := func(role auth.Role, a answer, pointer string) {
			t.Helper()
			p := a.isProblem(403, "guarded", pointer)
			for _, f := range deref(p.Errors) {
				if *f.Pointer == pointer && f.Code == "guard_"+string(c.Rule) && strings.Contains(f.Detail, " (guard rule "+string(c.Rule)+"); only tokens of the roles admin and owner may write it: ask one of them to write it") {
					return
				}
			}
			t.Errorf("%s %s as %s: no sentence of the rule %s: %s", c.Type, c.At, role, c.Rule, a.body)
		}
		for _, role := range not {
			for way, write := range []func(){
				func() {
					refused(role, w.do(http.MethodPut, path, asDocument(string(c.Body)), "Authorization", by[role]), "/body"+c.At)
				},
				func() {
					refused(role, w.do(http.MethodPut, path, asDocument(string(c.Body)), "Authorization", by[role], "Content-Type", "application/yaml"), "/body"+c.At)
				},
				func() {
					refused(role, w.do(http.MethodPut, path+"?variant=v", variant, "Authorization", by[role]), "/body"+c.At)
				},
				func() {
					refused(role, w.do(http.MethodPost, w.at("apply"), apply, "Authorization", by[role]), "/resources/0/body"+c.At)
				},
			} {
				if first || i/2%4 == way {
					write()
				}
			}
		}
		if !first && i%10 > 0 {
			continue
		}
		var before oapi.WriteResult
		w.do(http.MethodPost, w.at("apply"), apply, "Authorization", by[auth.RoleAdmin]).is(200, &before)
		w.do(http.MethodPut, path+"?variant=v", variant, "Authorization", by[auth.RoleOwner]).isWritten(nil)
		for _, role := range slices.Concat(not, may) {
			w.do(http.MethodDelete, path+"?variant=v", "", "Authorization", by[auth.RoleCI]).is(200, nil) // to delete is nobody's harm
			w.do(http.MethodDelete, path, "", "Authorization", by[auth.RoleEditor]).is(200, nil)
			a := w.do(http.MethodPost, w.at("rollback"), fmt.Sprintf(`{"revision": %d}`, before.Revision+1), "Authorization", by[role])
			if slices.Contains(may, role) {
				a.is(200, nil)
				continue
			}
			at := strings.ReplaceAll(c.Name, "/", "~1")
			refused(role, a, "/resources/"+c.Type+"/"+at+"/body"+snake.Replace(c.At))
			refused(role, a, "/resources/"+c.Type+"/"+at+"/variants/v/body"+snake.Replace(c.At))
			w.do(http.MethodPost, w.at("rollback"), fmt.Sprintf(`{"revision": %d}`, before.Revision+1)).is(200, nil)
		}
		w.do(http.MethodPost, w.at("apply"), fmt.Sprintf(`{"delete": [{"type": %q, "name": %q}, {"type": %q, "name": %q, "variant": "v"}]}`, c.Type, c.Name, c.Type, c.Name), "Authorization", by[auth.RoleCI]).is(200, nil)
	}
}

// luaListener is a listener that only admins and owners may write.
func luaListener(name, code string) string {
	return fmt.Sprintf(`{"name": %q, "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [{"name": "h", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "s", "route_config": {"name": "r"},
		"http_filters": [{"name": "l", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "default_source_code": {"inline_string": %q}}}]}}]}]}`, name, code)
}

const luaAt = "/filter_chains/0/filters/0/typed_config/http_filters/0/typed_config"

func applied(docs ...string) string { return `{"resources": [` + strings.Join(docs, ",") + `]}` }

func element(kind, name, body string) string {
	return fmt.Sprintf(`{"type": %q, "name": %q, "body": %s}`, kind, name, body)
}

// TestGuardLetsTheUnchangedStand: a folder that holds what an admin wrote can be applied by
// an editor, as long as that is as it is stored. All that is not is told at once.
func TestGuardLetsTheUnchangedStand(t *testing.T) {
	t.Parallel()
	w := setup(t)
	editor := w.writers(w.fleet)[auth.RoleEditor]
	lua := element("listeners", "l", luaListener("l", "x = 1"))
	w.do(http.MethodPost, w.at("apply"), applied(lua)).is(200, nil)

	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), applied(element("clusters", "a", cluster("a")), lua), "Authorization", editor).is(200, &out)
	if out.Revision != 2 || out.Changed != 1 {
		t.Errorf("the apply is %+v", out)
	}
	tag := w.do(http.MethodGet, w.at("resources", "listeners", "l"), "").is(200, nil).header.Get("ETag")
	same := asDocument(luaListener("l", "x = 1"))
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), same, "Authorization", editor).isWritten(&out)
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), same, "Authorization", editor, "If-Match", tag).isWritten(nil)
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), same, "Authorization", editor, "If-Match", "*").isWritten(nil)
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), same, "Authorization", editor, "If-Match", `"9-00000000"`).isProblem(412, "precondition_failed", "")
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), same, "Authorization", editor, "If-None-Match", "*").isProblem(412, "precondition_failed", "")
	if out.Changed != 0 {
		t.Errorf("the put is %+v", out)
	}

	other := element("listeners", "l", luaListener("l", "x = 2"))
	w.do(http.MethodPost, w.at("apply"), applied(element("clusters", "b", cluster("b")), other), "Authorization", editor).isProblem(403, "guarded", "/resources/1/body"+luaAt)
	labelled := strings.Replace(lua, `"body"`, `"labels": {"a": "b"}, "body"`, 1)
	w.do(http.MethodPost, w.at("apply"), applied(labelled), "Authorization", editor).isProblem(403, "guarded", "/resources/0/body"+luaAt)
	p := w.do(http.MethodPost, w.at("apply"), applied(other, element("listeners", "m", luaListener("m", "y")), element("listeners", "n", luaListener("n", "z"))), "Authorization", editor).isProblem(403, "guarded", "")
	if len(deref(p.Errors)) != 3 {
		t.Errorf("not all is told at once: %+v", p.Errors)
	}
	w.do(http.MethodDelete, w.at("resources", "listeners", "l"), "", "Authorization", editor).is(200, nil)
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), same, "Authorization", editor).isProblem(403, "guarded", "/body"+luaAt)
}

// TestT22_AForetoldETagBringsNothingBack: what was the same as stored when it was checked is not written over what an admin has written since,
// though the caller's own preconditions name just that.
func TestT22_AForetoldETagBringsNothingBack(t *testing.T) {
	t.Parallel()
	for _, own := range []func(c *store.ResourceChange, foretold string){
		func(c *store.ResourceChange, foretold string) { c.IfMatch = foretold },
		func(c *store.ResourceChange, foretold string) { c.ReadTag = foretold },
		func(c *store.ResourceChange, foretold string) { c.IfMatch, c.ReadTag = foretold, foretold },
	} {
		w := setup(t)
		write := func(doc byte) string {
			change := store.ResourceChange{Type: fleet.Cluster, Name: "c", Body: []byte{}, Version: "v", DocHash: [32]byte{doc}, BodyHash: [32]byte{doc}}
			_, err := w.store.Apply(t.Context(), w.tenant.ID, w.fleet.ID, store.Write{Actor: tester, Changes: []store.ResourceChange{change}})
			must(t, err)
			stored, err := w.store.Stored(t.Context(), w.tenant.ID, w.fleet.ID, []store.Cursor{cursorOf(change)})
			must(t, err)
			row := stored[cursorOf(change)]
			return row.ETag()
		}
		write(1)
		back := store.ResourceChange{Type: fleet.Cluster, Name: "c", Body: []byte{}, Version: "v", DocHash: [32]byte{1}, BodyHash: [32]byte{1}}
		own(&back, `"2-02000000"`)
		wrote := ""
		_, err := w.api.writeGuarded(t.Context(), &call{tenant: w.tenant, fleet: w.fleet, actor: tester}, store.Write{Changes: []store.ResourceChange{back}}, guarded{0: {{}}}, func(ctx context.Context, c *call, tied store.Write) (store.Result, error) {
			if wrote = write(2); wrote != `"2-02000000"` {
				t.Fatalf("the ETag is %s: foretell that one", wrote)
			}
			return w.api.write(ctx, c, tied)
		})
		if stale := new(store.StaleError); !errors.As(err, &stale) {
			t.Errorf("it is written back: %v", err)
		}
	}
}

// TestAGuardWithoutRules lets nobody write what a rule names.
func TestAGuardWithoutRules(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.api.guard = write.Guard{}
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(luaListener("l", "x"))).isProblem(403, "guarded", "/body"+luaAt)
}

// The rules are told as the server has them, in the words of docs/guard.md, and by default with its roles.
func TestTheGuardRulesAreTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	docs, err := os.ReadFile("../../docs/guard.md")
	must(t, err)
	viewer := "Bearer " + w.token(w.tenant, auth.RoleViewer, nil)
	ask := func(settings ...string) (roles map[string]string) {
		w.api.guard, err = write.ParseGuard(settings)
		must(t, err)
		var got oapi.Guard
		w.do(http.MethodGet, "/v1/guard", "", "Authorization", viewer).is(200, &got)
		if len(got.Items) != len(resource.Rules()) || !slices.Equal(got.LogPaths, resource.DefaultLogPaths()) {
			t.Errorf("%d rules, logs at %v", len(got.Items), got.LogPaths)
		}
		roles = map[string]string{}
		for _, r := range got.Items {
			roles[r.Rule] = fmt.Sprint(r.Roles)
			if row := "| `" + r.Rule + "` | " + r.Covers + " |"; r.Code != "guard_"+r.Rule || r.Reason == "" || r.Covers == "" ||
				!strings.Contains(strings.ReplaceAll(string(docs), "`", ""), strings.ReplaceAll(row, "`", "")) {
				t.Errorf("%+v is not in docs/guard.md as %s", r, row)
			}
		}
		return roles
	}
	got := ask()
	if got["code"] != "[admin owner]" || got["loopback"] != "[admin owner]" {
		t.Errorf("by default %v", got)
	}
	if got := ask("code=nobody", "loopback=owner"); got["code"] != "[]" || got["loopback"] != "[owner]" || got["files"] != "[admin owner]" {
		t.Errorf("as set %v", got)
	}
}

// TestT46_PrivateClustersOnEveryWayIn: what the fleet says is private is refused from then on, on every way in; what is stored
// stands, may be sent again unchanged, and is not brought back. Another fleet has its own.
func TestT46_PrivateClustersOnEveryWayIn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	by := w.writers(w.fleet)
	const at = "/virtual_hosts/0/routes/0/route/cluster"
	to := func(name, cluster string) string {
		return strings.Replace(fmt.Sprintf(toCluster, cluster), `"r"`, `"`+name+`"`, 1)
	}
	put := func(name, body string, role auth.Role, query string) answer {
		return w.do(http.MethodPut, w.at("resources", "routes", name)+query, body, "Authorization", by[role])
	}
	var before oapi.WriteResult
	put("r", asDocument(to("r", "vault")), auth.RoleCI, "").isWritten(&before)
	w.do(http.MethodPatch, w.at(), `{"private_clusters": ["vault"]}`, "Authorization", by[auth.RoleEditor]).isProblem(403, "forbidden", "")
	var f oapi.Fleet
	w.do(http.MethodPatch, w.at(), `{"private_clusters": ["vault", "b", "vault"]}`).is(200, &f)
	if !slices.Equal(f.PrivateClusters, []string{"b", "vault"}) {
		t.Errorf("%q", f.PrivateClusters)
	}
	for _, role := range []auth.Role{auth.RoleCI, auth.RoleEditor} {
		put("r", asDocument(to("r", "vault")), role, "").isWritten(nil) // as it is stored
		put("s", asDocument(to("s", "vault")), role, "").isProblem(403, "guarded", "/body"+at)
		put("s", `{"selector": "node.id=n", "body": `+to("s", "vault")+`}`, role, "?variant=v").isProblem(403, "guarded", "/body"+at)
		w.do(http.MethodPost, w.at("apply"), applied(element("routes", "s", to("s", "vault"))), "Authorization", by[role]).isProblem(403, "guarded", "/resources/0/body"+at)
		w.do(http.MethodPost, w.at("plan"), applied(element("routes", "s", to("s", "vault"))), "Authorization", by[role]).isProblem(403, "guarded", "/resources/0/body"+at)
		w.do(http.MethodPut, w.at("resources", "clusters", "vault"), asDocument(`{"name": "vault"}`), "Authorization", by[role]).isProblem(403, "guarded", "/body/name")
		put("s", asDocument(to("s", "vaults")), role, "").isWritten(nil)
	}
	w.do(http.MethodDelete, w.at("resources", "routes", "r"), "", "Authorization", by[auth.RoleCI]).is(200, nil)
	back := fmt.Sprintf(`{"revision": %d}`, before.Revision)
	w.do(http.MethodPost, w.at("rollback"), back, "Authorization", by[auth.RoleEditor]).isProblem(403, "guarded", "/resources/routes/r/body"+at)
	w.do(http.MethodPost, w.at("rollback"), back, "Authorization", by[auth.RoleAdmin]).is(200, nil)
	other := w.newFleet(w.tenant, "core")
	w.do(http.MethodPut, "/v1/tenants/acme/fleets/"+other.Name+"/resources/routes/s", asDocument(to("s", "vault")), "Authorization", by[auth.RoleEditor]).isWritten(nil)
	w.do(http.MethodPatch, w.at(), `{"private_clusters": []}`).is(200, nil)
	put("s", asDocument(to("s", "vault")), auth.RoleCI, "").isWritten(nil)
	for body, pointer := range map[string]string{`{"private_clusters": [""]}`: "/private_clusters/0", `{"private_clusters": ["a", "b\u0000"]}`: "/private_clusters/1"} {
		w.do(http.MethodPatch, w.at(), body).isProblem(400, "invalid_request", pointer)
	}
}
