package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

const extensionsURL = "type.googleapis.com/envoy.extensions."

func sds(name string) string {
	return fmt.Sprintf(`{"name": %q, "sds_config": {"ads": {}, "resource_api_version": "V3"}}`, name)
}

func genericSecret(name, value string) string {
	return fmt.Sprintf(`{"name": %q, "generic_secret": {"secret": {"inline_string": %q}}}`, name, value)
}

// injection is what was found: a cluster that adds a Secret to every request that it sends, to an upstream of its author's.
func injection(name, secret string) string {
	return fmt.Sprintf(`{"name": %[1]q, "type": "STATIC", "connect_timeout": "1s", "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
		"@type": "%[3]supstreams.http.v3.HttpProtocolOptions", "explicit_http_config": {"http_protocol_options": {}}, "http_filters": [
		{"name": "inject", "typed_config": {"@type": "%[3]sfilters.http.credential_injector.v3.CredentialInjector", "credential": {"name": "g", "typed_config": {
			"@type": "%[3]shttp.injected_credentials.generic.v3.Generic", "credential": %[2]s, "header": "x-stolen"}}}},
		{"name": "codec", "typed_config": {"@type": "%[3]sfilters.http.upstream_codec.v3.UpstreamCodec"}}]}},
		"load_assignment": {"cluster_name": %[1]q, "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "192.0.2.1", "port_value": 80}}}}]}]}}`,
		name, sds(secret), extensionsURL)
}

const injectionAt = "/typed_extension_protocol_options/envoy.extensions.upstreams.http.v3.HttpProtocolOptions/http_filters/0/typed_config/credential/typed_config/credential/name"

// extensionWith is an extension that uses a Secret in one of the other ways.
func extensionWith(message, fields string) string {
	return fmt.Sprintf(`{"name": "x", "typed_config": {"@type": "%s%s", %s}}`, extensionsURL, message, fields)
}

// theft is a document by which a Secret leaves, and where it names that.
type theft struct{ kind, name, body, at string }

func thefts() []theft {
	const uri = `{"uri": "https://mine.example", "cluster": "c", "timeout": "1s"}`
	return []theft{
		{"clusters", "leak", injection("leak", "apikey"), injectionAt},
		{"extensions", "x", extensionWith("filters.http.oauth2.v3.OAuth2", `"config": {"token_endpoint": `+uri+`, "authorization_endpoint": "https://mine.example", "redirect_uri": "x",
			"redirect_path_matcher": {"path": {"exact": "/c"}}, "signout_path": {"path": {"exact": "/s"}}, "credentials": {"client_id": "i", "token_secret": `+sds("apikey")+`, "hmac_secret": `+sds("other")+`}}`),
			"/typed_config/config/credentials/token_secret/name"},
		{"extensions", "x", extensionWith("filters.http.credential_injector.v3.CredentialInjector", `"credential": {"name": "o", "typed_config": {"@type": "`+extensionsURL+`http.injected_credentials.oauth2.v3.OAuth2",
			"token_endpoint": `+uri+`, "client_credentials": {"client_id": "i", "client_secret": `+sds("apikey")+`}}}`), "/typed_config/credential/typed_config/client_credentials/client_secret/name"},
		{"extensions", "x", extensionWith("quic.connection_id_generator.quic_lb.v3.Config", `"server_id": {"inline_string": "x"}, "nonce_length_bytes": 8, "encryption_parameters": `+sds("apikey")),
			"/typed_config/encryption_parameters/name"},
		{"extensions", "x", `{"name": "x", "typed_config": {"@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "` + extensionsURL + `http.injected_credentials.generic.v3.Generic", "value": {"credential": ` + sds("apikey") + `}}}`,
			"/typed_config/value/credential/name"},
	}
}

// TestT47_ASecretLeavesByNoWayIn: a Secret that is sent to whom the author likes is refused to ci and editor as JSON, as YAML, as a
// variant, in an apply, a plan, a rollback and its plan, at the field; admin and owner may, and who has it in uses_secrets.
func TestT47_ASecretLeavesByNoWayIn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	by := w.writers(w.fleet)
	granted := "Bearer " + w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleEditor, Name: "granted", UsesSecrets: auth.SecretGrants{"apikey", "oth*"}})
	w.do(http.MethodPut, w.at("resources", "secrets", "apikey"), asDocument(genericSecret("apikey", "x"))).isWritten(nil)
	for i, c := range thefts() {
		path := w.at("resources", c.kind, c.name)
		variant, apply := fmt.Sprintf(`{"selector": "node.id=n", "body": %s}`, c.body), applied(element(c.kind, c.name, c.body))
		refused := func(a answer, pointer string) {
			t.Helper()
			p := a.isProblem(403, "uses_secret", pointer)
			for _, f := range deref(p.Errors) {
				if *f.Pointer == pointer && f.Code == "uses_secret" && strings.Contains(f.Detail, `the secret "apikey"`) && strings.Contains(f.Detail, "only tokens of the roles admin and owner") &&
					strings.Contains(f.Detail, `Ask an admin for a token with uses_secrets: ["apikey"]`) {
					return
				}
			}
			t.Errorf("%s: no sentence that says which secret, who may and how to ask: %s", c.at, a.body)
		}
		for _, role := range []auth.Role{auth.RoleCI, auth.RoleEditor} {
			as := []string{"Authorization", by[role]}
			refused(w.do(http.MethodPut, path, asDocument(c.body), as...), "/body"+c.at)
			refused(w.do(http.MethodPut, path, asDocument(c.body), append(as, "Content-Type", "application/yaml")...), "/body"+c.at)
			refused(w.do(http.MethodPut, path+"?variant=v", variant, as...), "/body"+c.at)
			refused(w.do(http.MethodPost, w.at("apply"), apply, as...), "/resources/0/body"+c.at)
			refused(w.do(http.MethodPost, w.at("plan"), apply, as...), "/resources/0/body"+c.at)
		}
		var before oapi.WriteResult
		may := []string{by[auth.RoleAdmin], by[auth.RoleOwner], granted}[i%3]
		w.do(http.MethodPost, w.at("plan"), apply, "Authorization", may).is(200, nil)
		w.do(http.MethodPost, w.at("apply"), apply, "Authorization", may).is(200, &before)
		w.do(http.MethodPut, path+"?variant=v", variant, "Authorization", may).isWritten(nil)
		w.do(http.MethodDelete, path+"?variant=v", "", "Authorization", by[auth.RoleEditor]).is(200, nil) // to delete uses nothing
		w.do(http.MethodDelete, path, "", "Authorization", by[auth.RoleEditor]).is(200, nil)
		back := fmt.Sprintf(`{"revision": %d}`, before.Revision+1)
		for _, role := range []auth.Role{auth.RoleCI, auth.RoleEditor} {
			refused(w.do(http.MethodPost, w.at("rollback"), back, "Authorization", by[role]), "/resources/"+c.kind+"/"+c.name+"/body"+c.at)
			refused(w.do(http.MethodPost, w.at("rollback", "plan"), back, "Authorization", by[role]), "/resources/"+c.kind+"/"+c.name+"/variants/v/body"+c.at)
		}
		w.do(http.MethodPost, w.at("rollback"), back, "Authorization", may).is(200, nil)
		w.do(http.MethodPost, w.at("apply"), fmt.Sprintf(`{"delete": [{"type": %[1]q, "name": %[2]q}, {"type": %[1]q, "name": %[2]q, "variant": "v"}]}`, c.kind, c.name)).is(200, nil)
	}
}

// TestT47_WhatIsUnchangedUsesNothingAnew: an editor applies a folder that holds what an admin wrote, or keeps it.
func TestT47_WhatIsUnchangedUsesNothingAnew(t *testing.T) {
	t.Parallel()
	w := setup(t)
	editor := []string{"Authorization", w.writers(w.fleet)[auth.RoleEditor]}
	theirs := element("clusters", "leak", injection("leak", "apikey"))
	w.do(http.MethodPost, w.at("apply"), applied(theirs)).is(200, nil)
	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), applied(theirs, element("clusters", "a", cluster("a"))), editor...).is(200, &out)
	if out.Changed != 1 {
		t.Errorf("the apply changed %d", out.Changed)
	}
	w.do(http.MethodPost, w.at("plan"), applied(theirs), editor...).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), applied(`{"type": "clusters", "name": "leak", "keep": true}`), editor...).is(200, nil)
	labelled := strings.Replace(theirs, `"body"`, `"labels": {"a": "b"}, "body"`, 1)
	w.do(http.MethodPost, w.at("apply"), applied(labelled), editor...).isProblem(403, "uses_secret", "/resources/0/body"+injectionAt)
}

// tlsCluster secures its connections with a Secret.
func tlsCluster(name, secret string) string {
	return fmt.Sprintf(`{"name": %q, "transport_socket": {"name": "tls", "typed_config": {"@type": "%stransport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": {"tls_certificate_sds_secret_configs": [%s]}}}}`, name, extensionsURL, sds(secret))
}

const tlsAt = "/transport_socket/typed_config/common_tls_context/tls_certificate_sds_secret_configs/0/name"

func ofTeam(team, doc string) string {
	if team == "" {
		return doc
	}
	return strings.Replace(doc, `"body"`, fmt.Sprintf(`"labels": {"team": %q}, "body"`, team), 1)
}

// TestT47_TLSIsOfItsTeam: TLS of a cluster may use the Secrets of its own team, none being a team too, and those that are not
// there yet. A Secret in the same write counts as it is written, and every variant of it.
func TestT47_TLSIsOfItsTeam(t *testing.T) {
	t.Parallel()
	w := setup(t)
	by := w.writers(w.fleet)
	secret := func(team, name string) string {
		return ofTeam(team, element("secrets", name, genericSecret(name, name)))
	}
	w.do(http.MethodPost, w.at("apply"), applied(secret("", "plain"), secret("shop", "shop"), secret("pay", "pay"))).is(200, nil)
	labels := "Bearer " + w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleEditor, Name: "labels", UsesSecrets: auth.SecretGrants{"team=pay"}})
	n := 0
	for _, c := range []struct {
		team, secret string
		may          bool
	}{{"", "plain", true}, {"", "absent", true}, {"shop", "absent", true}, {"shop", "shop", true}, {"shop", "plain", false}, {"", "shop", false}, {"shop", "pay", false}, {"pay", "shop", false}} {
		for _, role := range auth.Roles()[1:] {
			n++
			doc := ofTeam(c.team, element("clusters", fmt.Sprint("c", n), tlsCluster(fmt.Sprint("c", n), c.secret)))
			a := w.do(http.MethodPost, w.at("apply"), applied(doc), "Authorization", by[role])
			if c.may || role == auth.RoleAdmin || role == auth.RoleOwner {
				a.is(200, nil)
				continue
			}
			p := a.isProblem(403, "uses_secret", "/resources/0/body"+tlsAt)
			if !strings.Contains(*p.Detail, fmt.Sprintf("the secret %q, with", c.secret)) || !strings.Contains(*p.Detail, "TLS may use secrets of its own team") || !strings.Contains(*p.Detail, "uses_secrets: [") {
				t.Error(*p.Detail)
			}
		}
	}
	w.do(http.MethodPost, w.at("apply"), applied(ofTeam("shop", element("clusters", "l", tlsCluster("l", "pay")))), "Authorization", labels).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), applied(element("clusters", "leak", injection("leak", "pay"))), "Authorization", labels).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), applied(element("clusters", "leak", injection("leak", "absent"))), "Authorization", labels).isProblem(403, "uses_secret", "/resources/0/body"+injectionAt)

	editor := []string{"Authorization", by[auth.RoleEditor]}
	// Nobody sets up TLS in a route, and what requests choose may be any Secret.
	route := `{"name": "r", "typed_per_filter_config": {"x": {"@type": "` + extensionsURL + `transport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": {"tls_certificate_sds_secret_configs": [` + sds("plain") + `]}}}}`
	w.do(http.MethodPost, w.at("apply"), applied(element("routes", "r", route)), editor...).isProblem(403, "uses_secret", "/resources/0/body/typed_per_filter_config/x/common_tls_context/tls_certificate_sds_secret_configs/0/name")
	chosen := `{"name": "o", "transport_socket": {"name": "tls", "typed_config": {"@type": "` + extensionsURL + `transport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": {"custom_tls_certificate_selector": {"name": "s",
		"typed_config": {"@type": "` + extensionsURL + `transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config", "config_source": {"ads": {}},
		"certificate_mapper": {"name": "m", "typed_config": {"@type": "` + extensionsURL + `transport_sockets.tls.cert_mappers.sni.v3.SNI", "default_value": "plain"}}}}}}}}`
	w.do(http.MethodPost, w.at("apply"), applied(element("clusters", "o", chosen)), editor...).isProblem(403, "uses_secret", "")
	both := func(team string) string {
		return applied(secret(team, "new"), ofTeam("shop", element("clusters", "n", tlsCluster("n", "new"))))
	}
	w.do(http.MethodPost, w.at("apply"), both("pay"), editor...).isProblem(403, "uses_secret", "/resources/1/body"+tlsAt)
	w.do(http.MethodPost, w.at("plan"), both("shop"), editor...).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), both("shop"), editor...).is(200, nil)
	variant := strings.Replace(secret("pay", "new"), `"labels"`, `"variant": "v", "selector": "node.id=n", "labels"`, 1)
	w.do(http.MethodPost, w.at("apply"), applied(variant)).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), applied(ofTeam("shop", element("clusters", "m", tlsCluster("m", "new")))), editor...).isProblem(403, "uses_secret", "/resources/0/body"+tlsAt)
}

// TestT47_AnExtensionIsUsedByWhoTakesIt: an extension that an admin wrote adds its Secret to the requests of whatever takes it.
func TestT47_AnExtensionIsUsedByWhoTakesIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	editor := []string{"Authorization", w.writers(w.fleet)[auth.RoleEditor]}
	granted := "Bearer " + w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleEditor, Name: "granted", UsesSecrets: auth.SecretGrants{"apikey"}})
	inject := `"credential": {"name": "g", "typed_config": {"@type": "` + extensionsURL + `http.injected_credentials.generic.v3.Generic", "credential": ` + sds("apikey") + `}}`
	w.do(http.MethodPost, w.at("apply"), applied(element("extensions", "x", extensionWith("filters.http.credential_injector.v3.CredentialInjector", inject)))).is(200, nil)
	discovered := func(name string) string {
		return `{"name": "` + name + `", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["` + extensionsURL + `filters.http.credential_injector.v3.CredentialInjector"]}}`
	}
	composite := `{"name": "y", "typed_config": {"@type": "` + extensionsURL + `filters.http.composite.v3.ExecuteFilterAction", "dynamic_config": ` + discovered("x") + `}}`
	takes := func(name string) string {
		return `{"name": "l", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [{"name": "h", "typed_config": {
			"@type": "` + extensionsURL + `filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "s", "route_config": {"name": "r"}, "http_filters": [` + discovered(name) + `]}}]}]}`
	}
	const at = "/filter_chains/0/filters/0/typed_config/http_filters/0/name"
	p := w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(takes("x")), editor...).isProblem(403, "uses_secret", "/body"+at)
	if !strings.Contains(*p.Detail, `the extension "x", which uses the secret "apikey"`) {
		t.Error(*p.Detail)
	}
	w.do(http.MethodPut, w.at("resources", "extensions", "y"), asDocument(composite), editor...).isProblem(403, "uses_secret", "/body/typed_config/dynamic_config/name")
	w.do(http.MethodPut, w.at("resources", "extensions", "y"), asDocument(composite)).isWritten(nil)
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(takes("y")), editor...).isProblem(403, "uses_secret", "/body"+at)
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(takes("z")), editor...).isWritten(nil)
	last := "y"
	for i := range 12 { // however long the way to the Secret is
		name := fmt.Sprint("y", i)
		w.do(http.MethodPut, w.at("resources", "extensions", name), asDocument(strings.NewReplacer(`"name": "y"`, `"name": "`+name+`"`, `"name": "x"`, `"name": "`+last+`"`).Replace(composite))).isWritten(nil)
		last = name
	}
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(takes(last)), editor...).isProblem(403, "uses_secret", "/body"+at)
	var out oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(takes("y")), "Authorization", granted).isWritten(&out)
	w.do(http.MethodDelete, w.at("resources", "listeners", "l"), "").is(200, nil)
	w.do(http.MethodPost, w.at("rollback"), fmt.Sprintf(`{"revision": %d}`, out.Revision), editor...).isProblem(403, "uses_secret", "/resources/listeners/l/body")
}

// TestT44_UsesOfSecretsAreToldOnce: of listeners, extensions that they take and Secrets that these use nothing has the size of the product, and
// neither has it of the resources that use a Secret and the teams of its variants. Each resource is told of.
func TestT44_UsesOfSecretsAreToldOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	editor := []string{"Authorization", w.writers(w.fleet)[auth.RoleEditor]}
	const listeners, extensions, secrets = 5, 40, 100
	discovered := func(name string) string {
		return `{"name": "` + name + `", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["` + extensionsURL + `filters.http.router.v3.Router"]}}`
	}
	many := func(n int, one func(i int) string) string {
		out := make([]string, n)
		for i := range out {
			out[i] = one(i)
		}
		return strings.Join(out, ", ")
	}
	xs := many(extensions, func(i int) string { // that all lead to one
		name := fmt.Sprint("x", i)
		return element("extensions", name, fmt.Sprintf(`{"name": %q, "typed_config": {"@type": "%sfilters.http.composite.v3.ExecuteFilterAction", "dynamic_config": %s}}`, name, extensionsURL, discovered("z")))
	})
	ls := many(listeners, func(i int) string {
		return element("listeners", fmt.Sprint("l", i), fmt.Sprintf(`{"name": "l%d", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [{"name": "h", "typed_config": {
			"@type": "%sfilters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "s", "route_config": {"name": "r"}, "http_filters": [%s]}}]}]}`,
			i, extensionsURL, many(extensions, func(i int) string { return discovered(fmt.Sprint("x", i)) })))
	})
	z := element("extensions", "z", fmt.Sprintf(`{"name": "z", "typed_config": {"@type": "%stransport_sockets.tls.v3.DownstreamTlsContext", "common_tls_context": {"tls_certificate_sds_secret_configs": [%s]}}}`,
		extensionsURL, many(secrets, func(i int) string { return sds(fmt.Sprint("s", i)) })))
	p := w.do(http.MethodPost, w.at("plan"), applied(z, xs, ls), editor...).isProblem(403, "uses_secret", "")
	if want := fmt.Sprintf("secrets of %d of the fields", extensions+listeners*extensions); !strings.Contains(*p.Detail, want) { // z itself is TLS without a team
		t.Errorf("%s; want %s", *p.Detail, want)
	}

	const variants, users = 50, 40
	ofTeams := many(variants, func(i int) string {
		variant := fmt.Sprintf(`"variant": "v%[1]d", "selector": "node.id=n%[1]d", "labels"`, i)
		return strings.Replace(ofTeam(fmt.Sprint("team", i), element("secrets", "s", genericSecret("s", "x"))), `"labels"`, variant, 1)
	})
	cs := many(users, func(i int) string {
		return element("clusters", fmt.Sprint("c", i), tlsCluster(fmt.Sprint("c", i), "s"))
	})
	a := w.do(http.MethodPost, w.at("plan"), applied(ofTeams, cs), editor...)
	p = a.isProblem(403, "uses_secret", fmt.Sprintf("/resources/%d/body%s", variants, tlsAt))
	if len(*p.Errors) != users || !strings.Contains((*p.Errors)[0].Detail, `team="team0" and`) || !strings.Contains((*p.Errors)[0].Detail, "and 40 others") {
		t.Errorf("%d faults: %s", len(*p.Errors), (*p.Errors)[0].Detail)
	}
}

// TestT44_WarningsOfAWriteAreBounded: each may have a place of 4 KiB, and a resource a hundred of them.
func TestT44_WarningsOfAWriteAreBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const unchecked = `"%d": {"@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router", "value": {"unknown": 1}}`
	held := make([]string, 60)
	for i := range held {
		held[i] = fmt.Sprintf(unchecked, i)
	}
	docs := make([]string, 3)
	for i := range docs {
		name := fmt.Sprint("r", i)
		docs[i] = element("routes", name, fmt.Sprintf(`{"name": %q, "typed_per_filter_config": {%s}}`, name, strings.Join(held, ", ")))
	}
	var plan oapi.Plan
	w.do(http.MethodPost, w.at("plan"), applied(docs...)).is(200, &plan)
	if n := len(deref(plan.Warnings)); n != 101 || (*plan.Warnings)[100].Code != "too_many_errors" {
		t.Errorf("%d warnings: %v", n, (*plan.Warnings)[n-1])
	}
}

// TestT47_ALabelIsNotSmuggledByARace: the Secret was of the author's team when that was looked up, and is another's when the write is made.
func TestT47_ALabelIsNotSmuggledByARace(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := func(team string) string {
		return fmt.Sprintf(`{"labels": {"team": %q}, "body": %s}`, team, genericSecret("s", "x"))
	}
	path := w.at("resources", "secrets", "s")
	w.do(http.MethodPut, path, secret("shop")).isWritten(nil)
	cluster := fmt.Sprintf(`{"labels": {"team": "shop"}, "body": %s}`, tlsCluster("c", "s"))
	admin, adminDone := w.sent(http.MethodPut, path, secret("pay"))
	editor, editorDone := w.beside().sent(http.MethodPut, w.at("resources", "clusters", "c"), cluster, "Authorization", w.writers(w.fleet)[auth.RoleEditor])
	w.queued(admin, editor)
	adminDone().is(200, nil)
	editorDone().isProblem(403, "uses_secret", "/body"+tlsAt)
	w.do(http.MethodGet, w.at("resources", "clusters", "c"), "").isProblem(404, "not_found", "")
	// What moved and is of the team all the same is judged again and made.
	w.do(http.MethodPut, path, secret("shop")).isWritten(nil)
	other, otherDone := w.sent(http.MethodPut, path, strings.Replace(secret("shop"), `"labels"`, `"description": "d", "labels"`, 1))
	again, againDone := w.beside().sent(http.MethodPut, w.at("resources", "clusters", "c"), cluster, "Authorization", w.writers(w.fleet)[auth.RoleEditor])
	w.queued(other, again)
	otherDone().is(200, nil)
	againDone().is(201, nil)
}

// TestT47_ARollbackIsNotSmuggledByARace is the same of what a rollback brings back.
func TestT47_ARollbackIsNotSmuggledByARace(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := func(team string) string {
		return fmt.Sprintf(`{"labels": {"team": %q}, "body": %s}`, team, genericSecret("s", "x"))
	}
	path, editor := w.at("resources", "secrets", "s"), w.writers(w.fleet)[auth.RoleEditor]
	w.do(http.MethodPut, path, secret("shop")).isWritten(nil)
	var used, now oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "clusters", "c"), fmt.Sprintf(`{"labels": {"team": "shop"}, "body": %s}`, tlsCluster("c", "s"))).isWritten(&used)
	w.do(http.MethodPut, w.at("resources", "clusters", "c"), `{"labels": {"team": "shop"}, "body": {"name": "c"}}`).isWritten(&now)
	body := fmt.Sprintf(`{"revision": %d, "resources": [{"type": "clusters", "name": "c"}]}`, used.Revision)
	for _, op := range [][]string{{"rollback"}, {"rollback", "plan"}} {
		admin, adminDone := w.sent(http.MethodPut, path, secret("pay"))
		back, backDone := w.beside().sent(http.MethodPost, w.at(op...), body, "Authorization", editor)
		w.queued(admin, back)
		adminDone().is(200, nil)
		backDone().isProblem(403, "uses_secret", "/resources/clusters/c/body"+tlsAt)
		w.do(http.MethodPut, path, secret("shop")).isWritten(nil)
	}
	// What moved and is of the team all the same is judged again and made.
	other, otherDone := w.sent(http.MethodPut, path, strings.Replace(secret("shop"), `"labels"`, `"description": "d", "labels"`, 1))
	back, backDone := w.beside().sent(http.MethodPost, w.at("rollback"), body, "Authorization", editor)
	w.queued(other, back)
	otherDone().is(200, nil)
	backDone().is(200, nil)
}

// TestT47_GrantsAreOfTheToken: made by who manages tokens, told, kept by sessions, and never changed.
func TestT47_GrantsAreOfTheToken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const path = "/v1/tenants/acme/tokens"
	for _, maker := range []string{w.owner, w.token(w.tenant, auth.RoleAdmin, nil)} {
		var made oapi.TokenCreated
		w.do(http.MethodPost, path, `{"name": "x", "role": "ci", "fleet": "edge", "uses_secrets": ["apikey", "team=shop"]}`, "Authorization", "Bearer "+maker).is(201, &made)
		if !slices.Equal(deref(made.ApiToken.UsesSecrets), []string{"apikey", "team=shop"}) {
			t.Errorf("made is %+v", made.ApiToken)
		}
		page := w.signedIn(made.Token)
		if got := page.whoami().UsesSecrets; !slices.Equal(deref(got), []string{"apikey", "team=shop"}) {
			t.Errorf("the session uses %v", got)
		}
		page.do(http.MethodPut, w.at("resources", "clusters", "leak"), asDocument(injection("leak", "apikey"))).isWritten(nil)
		page.do(http.MethodPut, w.at("resources", "clusters", "leak"), asDocument(injection("leak", "b"))).isProblem(403, "uses_secret", "/body"+injectionAt)
		w.do(http.MethodDelete, w.at("resources", "clusters", "leak"), "").is(200, nil)
	}
	for body, pointer := range map[string]string{
		`"role": "viewer", "uses_secrets": ["a"]`: "/uses_secrets", `"role": "admin", "uses_secrets": ["a"]`: "/uses_secrets", `"role": "owner", "uses_secrets": ["*"]`: "/uses_secrets",
		`"role": "editor", "uses_secrets": ["a", "b*c"]`: "/uses_secrets/1", `"role": "editor", "uses_secrets": ["team="]`: "/uses_secrets/0", `"role": "editor", "uses_secrets": [""]`: "/uses_secrets/0",
		`"role": "editor", "uses_secrets": ["a\u0000"]`: "/uses_secrets/0",
	} {
		w.do(http.MethodPost, path, `{"name": "x", `+body+`}`).isProblem(400, "invalid_request", pointer)
	}
	w.do(http.MethodPost, path, `{"name": "x", "role": "viewer", "uses_secrets": []}`).is(201, nil)
	for _, role := range []auth.Role{auth.RoleViewer, auth.RoleCI, auth.RoleEditor} {
		w.do(http.MethodPost, path, `{"name": "x", "role": "editor", "uses_secrets": ["a"]}`, "Authorization", "Bearer "+w.token(w.tenant, role, map[bool]*fleet.ID{true: &w.fleet.ID}[role == auth.RoleCI])).isProblem(403, "forbidden", "")
	}
	var audit oapi.AuditList
	w.do(http.MethodGet, "/v1/tenants/acme/audit?kind=token.create", "").is(200, &audit)
	if !slices.ContainsFunc(audit.Items, func(e oapi.AuditEvent) bool { return fmt.Sprint((*e.Detail)["uses_secrets"]) == "[apikey team=shop]" }) {
		t.Errorf("the audit does not tell what was granted: %+v", audit.Items)
	}
}
