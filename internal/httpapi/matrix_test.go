package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// matrix says what each role may do: for viewer, ci, editor, admin, owner and
// operator, y: allowed, n: 403. (ci is bound to the fleet that the operation is about.)
var matrix = map[string]string{
	"whoami": "yyyyyy", "signIn": "yyyyyy", "signOut": "yyyyyy", "endOtherSessions": "yyyyyy", "listSessions": "yyyyyy", "endSession": "nnnyyy", "listOperatorSessions": "nnnnny", "endOperatorSession": "nnnnny",
	"getGuard": "yyyyyy", "getSchemas": "yyyyyy", "getSchema": "yyyyyy", "getMessageSchema": "yyyyyy",
	"listTenants": "yyyyyy", "createTenant": "nnnnny", "getTenant": "yyyyyy", "deleteTenant": "nnnnyy", "restoreTenant": "nnnnny",
	"listTokens": "nnnyyy", "createToken": "nnnyyy", "revokeToken": "nnnyyy", "getTokenMade": "nnnyyy", "handOverToken": "nnnnyy", "listTenantEvents": "nnnyyy", "listAudit": "nnnyyy", "getAuditCheck": "nnnyyy", "listAuditChain": "nnnyyy",
	"listServers": "nnnnny", "listOperatorTokens": "nnnnny", "createOperatorToken": "nnnnny", "revokeOperatorToken": "nnnnny",
	"getUsage": "yyyyyy", "getFleetUsage": "yyyyyn", "getLive": "yyyyyn", "getTenantLive": "yyyyyy", "getTopology": "yyyyyn", "listFindings": "yyyyyn", "getLimits": "nnnnny", "updateLimits": "nnnnny",
	"listFleets": "yyyyyn", "createFleet": "nnnyyn", "getFleet": "yyyyyn", "updateFleet": "nnnyyn", "deleteFleet": "nnnyyn", "restoreFleet": "nnnyyn",
	"listResources": "yyyyyn", "listResourcesOfType": "yyyyyn", "getResource": "yyyyyn",
	"putResource": "nyyyyn", "deleteResource": "nyyyyn", "apply": "nyyyyn", "plan": "nyyyyn", "importConfig": "nyyyyn", "getBootstrap": "yyyyyn", "rollback": "nyyyyn", "planRollback": "nyyyyn",
	"listRevisions": "yyyyyn", "getRevision": "yyyyyn", "getReceipt": "yyyyyn",
	"listRevisionChanges": "yyyyyn", "compareRevisions": "yyyyyn", "listResourceHistory": "yyyyyn",
	"listEndpoints": "yyyyyn", "writeEndpoints": "nyyyyn", "putEndpoint": "nyyyyn", "deleteEndpoint": "nyyyyn", "takeLease": "nyyyyn", "renewLease": "nyyyyn", "endLease": "nyyyyn",
	"listLoad":        "yyyyyn",
	"listCredentials": "nnnyyn", "createCredential": "nnnyyn", "renewCredential": "nnnyyn", "revokeCredential": "nnnyyn",
	"listNodes": "yyyyyn", "getNode": "yyyyyn", "getNodeConfig": "yyyyyn", "getNodeWhy": "yyyyyn", "retryNode": "nyyyyn", "listEvents": "yyyyyn",
}

// target is one operation with something to do it to.
type target struct {
	id, method, path, body string
}

// targetOf fills the path of an operation with things of the fleet f that are there.
func (w *world) targetOf(id, method, pattern string, f store.Fleet) target {
	w.t.Helper()
	base := "/v1/tenants/" + w.tenant.Slug + "/fleets/" + f.Name
	fill := map[string]string{"{tenant}": w.tenant.Slug, "{fleet}": f.Name, "{type}": "clusters", "{name}": "a", "{revision}": "1", "{node}": "n", "{message}": "envoy.config.cluster.v3.Cluster", "{cluster}": "a", "{locality}": "eu%2Fa", "{address}": "10.0.0.7:80"}
	w.do(http.MethodPut, base+"/resources/clusters/a", asDocument(cluster("a"))).isWritten(nil)
	switch id {
	case "getNode", "getNodeConfig", "getNodeWhy":
		w.settledNode(f.ID, "n", 1)
	case "restoreFleet":
		gone := w.newFleet(w.tenant, f.Name+"-gone")
		must(w.t, w.store.DeleteFleet(w.t.Context(), w.tenant.ID, tester, gone.ID))
		fill["{fleet}"] = gone.Name
	case "retryNode":
		w.refusingNode(f.ID, "n", fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: "v", Revision: 1})
	case "revokeCredential", "renewCredential":
		var c oapi.CredentialCreated
		w.do(http.MethodPost, base+"/credentials", `{"nodes": "*"}`).is(201, &c)
		fill["{id}"] = c.Credential.Id
	case "renewLease", "endLease":
		var l oapi.Lease
		w.do(http.MethodPost, base+"/leases", `{"ttl": "1h"}`).is(201, &l)
		fill["{id}"] = l.Id
	case "revokeOperatorToken":
		fill["{id}"] = w.secondOperator().String()
	case "endSession":
		fill["{id}"] = w.signedIn(w.token(w.tenant, auth.RoleViewer, nil)).id
	case "endOperatorSession":
		fill["{id}"] = w.operatorSession().String()
	case "revokeToken", "handOverToken", "getTokenMade":
		var k oapi.TokenCreated
		w.do(http.MethodPost, "/v1/tenants/"+w.tenant.Slug+"/tokens", `{"name": "x", "role": "viewer"}`).is(201, &k)
		fill["{id}"] = k.ApiToken.Id
	}
	for name, value := range fill {
		pattern = strings.ReplaceAll(pattern, name, value)
	}
	if id == "compareRevisions" {
		pattern += "?from=0"
	}
	if id == "getBootstrap" {
		pattern += "?node_id=n&xds=localhost:18000"
	}
	body := map[string]string{
		"createTenant": `{"slug": "t-` + f.Name + `"}`, "createFleet": `{"name": "new-` + f.Name + `"}`,
		"signIn": `{"token": "` + w.owner + `"}`, "createToken": `{"name": "x", "role": "viewer"}`, "createOperatorToken": `{"name": "x"}`, "createCredential": `{"nodes": "*"}`, "renewCredential": `{}`, "rollback": `{"revision": 1}`, "planRollback": `{"revision": 1}`, "updateFleet": `{"references": "strict"}`, "updateLimits": `{"tokens": null}`,
		"writeEndpoints": `{"set": [{"address": "10.0.0.7:80"}]}`, "putEndpoint": `{}`, "takeLease": `{"ttl": "1m"}`,
		"importConfig": `{"static_resources": {}}`,
		"putResource":  asDocument(cluster("a")), "plan": `{"resources": [{"type": "clusters", "name": "a", "body": ` + cluster("a") + `}]}`, "apply": `{"resources": [{"type": "clusters", "name": "a", "body": ` + cluster("a") + `}]}`,
	}[id]
	return target{id: id, method: method, path: pattern, body: body}
}

// with is the world seen from another tenant.
func (w *world) with(slug string) *world {
	w.t.Helper()
	v := *w
	v.tenant = v.newTenant(slug)
	v.owner = v.token(v.tenant, auth.RoleOwner, nil)
	return &v
}

// eachOperation calls f with every operation of the contract, in a fixed order.
func (w *world) eachOperation(f func(id, method, pattern string)) {
	spec, err := oapi.GetSpec()
	must(w.t, err)
	for _, pattern := range slices.Sorted(maps.Keys(spec.Paths.Map())) {
		ops := spec.Paths.Find(pattern).Operations()
		for _, method := range slices.Sorted(maps.Keys(ops)) {
			f(ops[method].OperationID, method, pattern)
		}
	}
}

func TestRoleMatrix(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := w.operator()
	roles := append(auth.Roles(), "operator")
	many := int64(1000)
	must(t, w.store.SetLimits(t.Context(), w.tenant.ID, tester, map[store.LimitName]*int64{store.LimitFleets: &many})) // one for each row and role
	seen, fleets := 0, 0
	w.eachOperation(func(id, method, pattern string) {
		want, ok := matrix[id]
		if !ok {
			t.Errorf("%s has no row in the matrix", id)
			return
		}
		seen++
		newTarget := func(w *world) (store.Fleet, target) {
			fleets++
			f := w.newFleet(w.tenant, fmt.Sprintf("f%d", fleets))
			return f, w.targetOf(id, method, pattern, f)
		}
		ofTenant := id == "deleteTenant" || id == "restoreTenant"
		stays, toStay := newTarget(w) // after what is read, and what is refused
		for i, role := range roles {
			w, f, op := w, stays, toStay
			if ofTenant { // of its own, as it may succeed
				w = w.with(fmt.Sprintf("gone%d", fleets))
			}
			if ofTenant || want[i] == 'y' && method != http.MethodGet {
				f, op = newTarget(w)
			}
			token := operator
			if role == auth.RoleCI {
				token = w.token(w.tenant, role, &f.ID)
			} else if role != "operator" {
				token = w.token(w.tenant, role, nil)
			} else if id == "restoreTenant" { // the others are of a tenant that is there
				must(t, w.store.DeleteTenant(t.Context(), w.tenant.ID, tester))
			}
			a := w.do(op.method, op.path, op.body, "Authorization", "Bearer "+token)
			switch {
			case want[i] == 'y' && a.status >= 300:
				t.Errorf("%s as %s: %d %s", id, role, a.status, a.body)
			case want[i] == 'n' && a.status != http.StatusForbidden:
				t.Errorf("%s as %s: %d, want 403: %s", id, role, a.status, a.body)
			}
		}
	})
	if seen != len(matrix) {
		t.Errorf("the matrix has %d rows, the contract %d operations", len(matrix), seen)
	}
}

// TestT04_ForeignTenantIsNotThere also is T06: what is another tenant's is answered like
// what is nowhere, byte for byte but for the request's id.
func TestT04_ForeignTenantIsNotThere(t *testing.T) {
	t.Parallel()
	w := setup(t)
	stranger := w.newTenant("globex")
	tokens := map[auth.Role]string{}
	for _, role := range auth.Roles() {
		if role == auth.RoleCI {
			f := w.newFleet(stranger, "edge") // the same name as the one that it must not reach
			tokens[role] = w.token(stranger, role, &f.ID)
			continue
		}
		tokens[role] = w.token(stranger, role, nil)
	}
	var targets []target
	w.eachOperation(func(id, method, pattern string) {
		if strings.Contains(pattern, "{tenant}") {
			targets = append(targets, w.targetOf(id, method, pattern, w.fleet))
		}
	})
	before, asked := w.everything(), 0
	for _, op := range targets {
		for role, token := range tokens {
			asked++
			foreign := w.do(op.method, op.path, op.body, "Authorization", "Bearer "+token)
			nowhere := w.do(op.method, strings.Replace(op.path, "/acme", "/nobody", 1), op.body, "Authorization", "Bearer "+token)
			foreign.isProblem(404, "not_found", "")
			if got, want := withoutID(foreign), withoutID(nowhere); got != want {
				t.Errorf("%s as %s:\nforeign %s\nnowhere %s", op.id, role, got, want)
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d questions were asked", asked)
	}
	if now := w.everything(); now != before {
		t.Errorf("a stranger changed something:\nbefore %s\nnow    %s", before, now)
	}
}

// everything is what the owner can read of the tenant and does not move by itself.
func (w *world) everything() string {
	w.t.Helper()
	var all strings.Builder
	tenant := "/v1/tenants/" + w.tenant.Slug
	for _, path := range []string{tenant, tenant + "/tokens", tenant + "/fleets", w.at("resources"), w.at("revisions"), w.at("credentials")} {
		all.Write(w.do(http.MethodGet, path, "").is(200, nil).body)
	}
	return all.String()
}

func withoutID(a answer) string {
	h := a.header.Clone()
	id := h.Get("X-Request-Id")
	h.Del("X-Request-Id")
	h.Del("Date")
	return fmt.Sprint(a.status, h, strings.ReplaceAll(string(a.body), id, "ID"))
}
