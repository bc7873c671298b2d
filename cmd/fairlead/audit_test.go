package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const path = "GET /v1/tenants/acme/audit"
	w.replies[path] = []reply{ok(`{"items": [{"at": "2026-01-02T03:04:05Z", "kind": "token.create", "object": "token 1", "by": {"kind": "token", "name": "ada"}, "address": "10.0.0.1", "request_id": "r1"}]}`)}
	w.run("audit", "--kind", "token.create").want(t, exitOK, `AT                    BY   FROM      KIND          OBJECT   REQUEST
2026-01-02 03:04:05Z  ada  10.0.0.1  token.create  token 1  r1
`, "")
	if r := w.run("audit", "-o", "json"); r.code != exitOK || !strings.Contains(r.out, `"address": "10.0.0.1"`) {
		t.Errorf("%+v", r)
	}
	w.replies[path] = []reply{ok(`{"items": [{"at": "2026-01-02T03:04:05Z", "kind": "access.denied", "object": "deleteFleet", "by": {"kind": "token", "name": "bob"}, "detail": {"code": "forbidden", "attempts": 1200000}}]}`)}
	w.run("audit").want(t, exitOK, `AT                    BY   FROM  KIND           OBJECT                             REQUEST
2026-01-02 03:04:05Z  bob  -     access.denied  deleteFleet (forbidden, x1200000)  -
`, "")
	w.replies[path] = []reply{ok(`{"items": [{"at": "2026-01-02T03:04:05Z", "kind": "secret.compared", "object": "secrets/pin", "by": {"kind": "token", "name": "bob"}, "detail": {"result": "differs", "contents": 9}}]}`)}
	w.run("audit").want(t, exitOK, `AT                    BY   FROM  KIND             OBJECT                     REQUEST
2026-01-02 03:04:05Z  bob  -     secret.compared  secrets/pin (differs, x9)  -
`, "")
	w.replies[path] = []reply{ok(`{"items": []}`)}
	w.run("audit").want(t, exitOK, "there is no such event\n", "")
	w.replies[path] = []reply{problemReply(http.StatusForbidden, "forbidden", "the token's role does not allow this")}
	w.run("audit").want(t, exitFailed, "", "fairlead: Forbidden: the token's role does not allow this\nrequest id req-1\n")
}
