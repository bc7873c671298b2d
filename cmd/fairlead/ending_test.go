package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestADeletedFleetIsRestored(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("prod", shop("a"), "apply", "-f", "-").is(t, exitOK)
	w.on("edge", "", "fleet", "list", "--deleted").want(t, exitOK, "no fleet can be restored\n", "")
	w.on("edge", "", "fleet", "delete", "prod").want(t, exitOK, "", "fleet prod is deleted; for 30 days \"fairlead fleet restore prod\" brings it back\n")
	if out := w.on("edge", "", "fleet", "list").is(t, exitOK); strings.Contains(out, "prod") {
		t.Error(out)
	}
	out := w.on("edge", "", "fleet", "list", "--deleted").is(t, exitOK)
	fields := strings.Fields(out)
	if !strings.HasPrefix(out, "FLEET  REVISION  DELETED") || !strings.Contains(out, "\nprod   1 ") {
		t.Fatal(out)
	}
	id := fields[len(fields)-1]
	w.on("edge", "", "fleet", "create", "prod").is(t, exitOK)
	if r := w.on("edge", "", "fleet", "restore", "prod"); r.code != exitFailed || !strings.Contains(r.err, "delete that one and restore this one with id="+id) {
		t.Errorf("%+v", r)
	}
	w.on("edge", "", "fleet", "delete", "prod").is(t, exitOK)
	w.on("edge", "", "fleet", "restore", "prod", "--id", id).want(t, exitOK, "", "fleet prod is there again\n")
	if out := w.on("prod", "", "get", "-o", "name").is(t, exitOK); out != "clusters/a\n" {
		t.Error(out)
	}
	if r := w.on("edge", "", "fleet", "restore", "nobody"); r.code != exitFailed || !strings.Contains(r.err, "no fleet \"nobody\" was deleted in the last 30 days") {
		t.Errorf("%+v", r)
	}
}

func TestADeletedTenantIsRestored(t *testing.T) {
	t.Parallel()
	w := setup(t)
	one := `{"id": "x", "slug": "acme", "name": "Acme", "created_at": "2026-01-02T03:04:05Z", "deleted_at": "2026-02-02T03:04:05Z"}`
	w.replies["GET /v1/tenants"] = []reply{ok(`{"items": [` + one + `]}`), ok(`{"items": []}`)}
	w.replies["DELETE /v1/tenants/acme"] = []reply{{status: 204}}
	w.replies["POST /v1/tenants/acme/restore"] = []reply{ok(one)}
	w.run("tenant", "delete", "acme").want(t, exitOK, "", "tenant acme is deleted; for 30 days an operator's \"fairlead tenant restore acme\" brings it back\n")
	w.run("tenant", "list", "--deleted").want(t, exitOK, "TENANT  NAME  DELETED\nacme    Acme  2026-02-02 03:04:05Z\n", "")
	w.run("tenant", "list", "--deleted").want(t, exitOK, "no tenant can be restored\n", "")
	w.run("tenant", "restore", "acme").want(t, exitOK, "", "tenant acme is there again\n")
	if d := cmp.Diff([]string{
		"DELETE /v1/tenants/acme", "GET /v1/tenants?state=deleted&limit=500", "GET /v1/tenants?state=deleted&limit=500", "POST /v1/tenants/acme/restore",
	}, w.requests()); d != "" {
		t.Error(d)
	}
}
