package main

import (
	"strings"
	"testing"
)

func TestManage(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", "", "fleet", "list").is(t, exitOK)
	if out := w.on("edge", "", "fleet", "list").is(t, exitOK); !strings.Contains(out, "FLEET  REVISION  RECEIPT  LIVE  REFUSING  OFFLINE  REFUSALS  CREATED") || !strings.Contains(out, "\nprod   0         -        0     0         0        0         ") {
		t.Error(out)
	}
	w.on("edge", "", "fleet", "create", "canary", "--description", "first").want(t, exitOK, "", "fleet canary made\n")
	w.on("edge", "", "fleet", "create", "canary").is(t, exitFailed)
	if out := w.on("canary", "", "fleet").is(t, exitOK); !strings.Contains(out, "fleet               canary\n") {
		t.Error(out)
	}
	if out := w.on("edge", "", "tenant", "list").is(t, exitOK); !strings.Contains(out, "\nacme    acme  ") {
		t.Error(out)
	}
	w.on("edge", "", "tenant", "create", "other").is(t, exitFailed) // an operator's

	r := w.on("edge", "", "token", "create", "pipeline", "--role", "ci", "--for-fleet", "edge", "--expires", "30d")
	token := strings.TrimSpace(r.is(t, exitOK))
	if !strings.HasPrefix(token, "flc_") || !strings.Contains(r.err, "of the role ci made; it is shown this once:") {
		t.Fatalf("%+v", r)
	}
	id := strings.Fields(r.err)[1]
	if out := w.on("edge", "", "token", "list").is(t, exitOK); !strings.Contains(out, id+"  pipeline  ci     edge ") {
		t.Error(out)
	}
	w.on("edge", "", "token", "revoke", id).want(t, exitOK, "", "token "+id+" is revoked\n")
	w.on("edge", "", "token", "create", "user", "--role", "editor", "--uses-secrets", "api-key,team=shop").is(t, exitOK)
	if out := w.on("edge", "", "token", "list", "--json").is(t, exitOK); !strings.Contains(strings.Join(strings.Fields(out), ""), `"uses_secrets":["api-key","team=shop"]`) {
		t.Error(out)
	}
	w.on("edge", "", "token", "create", "x", "--role", "king").want(t, exitUsage, "", "fairlead: --role is one of viewer, ci, editor, admin, owner\n")
	w.on("edge", "", "token", "create", "x", "--role", "ci", "--expires", "soon").want(t, exitUsage, "", "fairlead: --expires: \"soon\" is not a date such as 2027-01-31, nor a time from now such as 30d or 12h\n")

	w.on("edge", "", "credential", "list").want(t, exitOK, "the fleet has no credential\n", "")
	r = w.on("edge", "", "credential", "create", "edge-*")
	if !strings.HasPrefix(r.is(t, exitOK), "flf1.") {
		t.Errorf("%+v", r)
	}
	id = strings.Fields(r.err)[1]
	if out := w.on("edge", "", "credential", "list", "--json").is(t, exitOK); !strings.Contains(out, id) {
		t.Error(out)
	}
	r = w.on("edge", "", "credential", "renew", id, "--old-expires", "24h")
	if !strings.HasPrefix(r.is(t, exitOK), "flf1.") || !strings.Contains(r.err, "of the nodes edge-* made in the place of "+id) {
		t.Errorf("%+v", r)
	}
	w.on("edge", "", "credential", "renew", id, "--old-expires", "soon").want(t, exitUsage, "", "fairlead: --old-expires: \"soon\" is not a date such as 2027-01-31, nor a time from now such as 30d or 12h\n")
	w.on("edge", "", "credential", "revoke", id).want(t, exitOK, "", "credential "+id+" is revoked\n")
	w.on("edge", "", "credential", "revoke", "nobody").is(t, exitFailed)
}

func TestGetForms(t *testing.T) {
	t.Parallel()
	w := setup(t)
	one := `{"type": "clusters", "name": "a", "variant": "eu", "selector": "x=y", "labels": {"team": "shop"}, "body": {}, "version": "v", "revision": 7, "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z", "updated_by": "ada"}`
	two := `{"type": "secrets", "name": "s", "secret": {"kind": "generic_secret"}, "version": "v", "revision": 8, "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z"}`
	w.on("GET", "/resources", ok(`{"items": [`+one+`, `+two+`]}`))
	w.run("get", "-o", "table").want(t, exitOK, "TYPE      NAME  VARIANT  REVISION  LABELS\nclusters  a     eu       7         team=shop\nsecrets   s     -        8         -\n", "")
	w.run("get", "-o", "wide", "-l", "team=shop").want(t, exitOK, "TYPE      NAME  VARIANT  REVISION  LABELS     SELECTOR  UPDATED               BY   VERSION  DESCRIPTION\nclusters  a     eu       7         team=shop  x=y       2026-01-02 03:04:05Z  ada  v        -\n", "")
	w.run("get", "-o", "name").want(t, exitOK, "clusters/a, variant eu\nsecrets/s\n", "")
	w.run("get", "-o", "json", "-l", "team=other").want(t, exitOK, indented(t, `{"items": []}`), "")
	w.run("get", "-o", "table", "-l", "team=other").want(t, exitOK, "there is nothing\n", "")
	w.run("get", "-l", "team=shop").want(t, exitOK, "type: clusters\nname: a\nvariant: eu\nselector: \"x=y\"\nlabels:\n  team: shop\nbody: {}\nversion: v\nrevision: 7\ncreated_at: \"2026-01-02T03:04:05Z\"\nupdated_at: \"2026-01-02T03:04:05Z\"\nupdated_by: ada\n", "")
	w.run("get", "clusters", "a", "-l", "team=shop").want(t, exitUsage, "", "fairlead: -l is about a list: leave the name out\n")
	w.run("get", "--json", "-o", "name").want(t, exitUsage, indented(t, `{"error": {"detail": "--json is -o json: give one of them"}}`), "fairlead: --json is -o json: give one of them\n")
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", "type: listeners\nname: l\nlabels: {team: shop}\nbody: {name: l, filter_chains: [{filters: [{name: h, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: h, rds: {route_config_name: none, config_source: {ads: {}}}}}]}]}\n", "apply", "-f", "-").is(t, exitOK)
	out := w.on("edge", "", "describe", "listeners", "l").is(t, exitOK)
	for _, want := range []string{"resource     listeners/l\n", "labels       team=shop\n", "by           owner\n", "names routes/none, which does not exist", "body:\n  name: l\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if js := w.on("edge", "", "describe", "listeners", "l", "--json").is(t, exitOK); !strings.Contains(js, "\"findings\": [\n") || !strings.Contains(js, "\"variants\": [\n") {
		t.Error(js)
	}
	if r := w.on("edge", "", "describe", "listeners", "x"); r.code != exitFailed || !strings.Contains(r.err, "Not Found") {
		t.Errorf("%+v", r)
	}
}
