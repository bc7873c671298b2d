package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fairlead/internal/httpapi/oapi"
)

const (
	goldenBackend = `{"type": "clusters", "name": "backend", "labels": {"team": "shop"}, "body": {"name": "backend", "connect_timeout": "1s"}, "version": "b1a2c3d4e5f60718",
		"revision": 6, "etag": "\"6-1a2b3c4d\"", "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-03T03:04:05Z", "updated_by": "ada"}`
	goldenSecret = `{"type": "secrets", "name": "edge-tls", "secret": {"kind": "tls_certificate", "subject": "CN=shop.example", "not_after": "2026-05-01T00:00:00Z"}, "version": "c1a2c3d4e5f60718",
		"revision": 5, "etag": "\"5-1a2b3c4d\"", "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z", "updated_by": "ada"}`
	goldenFinding = `{"severity": "error", "code": "missing_reference", "type": "routes", "name": "shop", "pointer": "/body/virtual_hosts/0/routes/0/route/cluster",
		"to": {"type": "clusters", "name": "backnd"}, "detail": "routes/shop names clusters/backnd, which does not exist: is clusters/backend meant?"}`
	goldenWritten = `{"revision": 7, "changed": 1, "committed_at": "2026-01-04T03:04:05Z", "resources": [{"type": "clusters", "name": "backend", "revision": 7, "version": "d1a2c3d4e5f60718", "etag": "\"7-1a2b3c4d\""}],
		"warnings": [{"code": "ttl_delta_only", "pointer": "/resources/0/ttl", "detail": "only clients over delta are sent the TTL"}],
		"findings": {"errors": 1, "warnings": 0, "infos": 0, "items": [` + goldenFinding + `]}}`
	goldenPlan = `{"revision": 6, "confirm": [], "limits": [{"what": "resources", "used": 4700, "limit": 5000}, {"what": "fleet_bytes", "used": 9000, "limit": 67108864}], "reach": {"nodes": 3, "reached": 2, "views": [{"nodes": 2, "example": "edge-1"}], "ids": ["edge-1", "edge-2"]}, "token": "plan1.6.c2hvd24", "counts": {"create": 0, "update": 1, "delete": 0, "unchanged": 1},
		"resources": [{"type": "clusters", "name": "backend", "action": "update", "revision": 6, "diff": "--- clusters/backend\n+++ clusters/backend\n@@ -1,2 +1,2 @@\n-connect_timeout: \"1s\"\n+connect_timeout: \"2s\"\n name: backend\n"},
			{"type": "clusters", "name": "other", "action": "unchanged", "revision": 2}],
		"findings": {"errors": 1, "warnings": 0, "infos": 0, "items": [` + goldenFinding + `]}}`
	goldenNode = `{"id": "edge-1", "state": "refusing", "settled": 6, "user_agent": "envoy", "version": "1.40.0", "protocol": "delta ADS", "remote_addr": "10.0.0.1:4711", "connections": 1,
		"first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-04T03:04:05Z", "refusals": [{"type": "listeners", "name": "edge", "version": "e1a2c3d4e5f60718", "revision": 7, "detail": "unknown filter", "action": "kept the last known good version", "action_code": "kept", "at": "2026-01-04T03:04:05Z"}]}`
	goldenRef        = `{"type": "listeners", "name": "edge"}`
	goldenToken      = `{"id": "tok1", "name": "pipeline", "role": "ci", "fleet": "edge", "created_at": "2026-01-02T03:04:05Z", "expires_at": "2026-05-01T00:00:00Z", "made_by": {"kind": "token", "name": "ada"}}`
	goldenCredential = `{"id": "cred1", "nodes": "edge-*", "description": "rack 1", "created_at": "2026-01-02T03:04:05Z", "expires_at": "2026-05-01T00:00:00Z", "made_by": {"kind": "token", "name": "ada"},
		"last_used_at": "2026-01-04T03:00:00Z", "last_used_from": "10.0.0.1"}`
	goldenTenant = `{"id": "11111111-1111-4111-8111-111111111111", "slug": "acme", "name": "Acme", "created_at": "2026-01-02T03:04:05Z"}`
	goldenPage   = `{"items": [` + goldenBackend + `, ` + goldenSecret + `]}`
)

// goldenFleet is the fleet's answer.
func goldenFleet(name string) string {
	return `{"id": "22222222-2222-4222-8222-222222222222", "name": "` + name + `", "description": "at the edge", "revision": 7, "resources": 2, "references": "warn", "node_ids": "shared", "receipt_window": "12h0m0s",
		"forget_nodes_after": "336h0m0s", "static_clusters": ["local"], "private_clusters": ["vault"], "local_ports": [8080], "values": {"BACKEND": "backend.edge.example.com"}, "etag": "\"f8a0c31b5d2e4976\"", "created_at": "2026-01-02T03:04:05Z", "changed_at": "2026-01-04T03:04:05Z"}`
}

// answers are what the API of the golden tests has, of one fleet. /fleet stands for the fleet's path.
var answers = map[string]reply{
	"GET /v1/whoami":                         ok(`{"kind": "tenant", "id": "33333333-3333-4333-8333-333333333333", "name": "ada", "role": "owner", "tenant": "acme", "fleet": "edge"}`),
	"GET /v1/tenants":                        ok(`{"items": [` + goldenTenant + `]}`),
	"POST /v1/tenants":                       created(goldenTenant),
	"GET /v1/tenants/acme/fleets":            ok(`{"items": [` + goldenFleet("edge") + `, ` + goldenFleet("prod") + `]}`),
	"POST /v1/tenants/acme/fleets":           created(goldenFleet("canary")),
	"DELETE /v1/tenants/acme":                {status: http.StatusNoContent},
	"POST /v1/tenants/acme/restore":          ok(goldenTenant),
	"GET /v1/tenants/acme/tokens":            ok(`{"items": [` + goldenToken + `]}`),
	"POST /v1/tenants/acme/tokens":           created(`{"api_token": ` + goldenToken + `, "token": "flc_shown-this-once"}`),
	"DELETE /v1/tenants/acme/tokens/tok1":    {status: http.StatusNoContent},
	"GET /v1/tenants/acme/tokens/tok1/made":  ok(`{"token_count": 2, "staying_token_count": 1, "tokens": [` + goldenToken + `], "credential_count": 3, "credentials": [{"fleet": "edge", "credential": ` + goldenCredential + `}]}`),
	"GET /v1/tenants/acme/audit":             ok(`{"items": [{"at": "2026-01-02T03:04:05Z", "kind": "token.create", "object": "token tok1", "by": {"kind": "token", "name": "ada"}, "address": "10.0.0.9", "request_id": "req-7"}]}`),
	"GET /v1/tenants/acme/fleets/prod":       ok(goldenFleet("prod")),
	"POST /v1/tenants/acme/fleets/prod/plan": ok(goldenPlan), "POST /v1/tenants/acme/fleets/prod/apply": ok(goldenWritten),

	"GET /fleet":                            ok(goldenFleet("edge")),
	"DELETE /fleet":                         {status: http.StatusNoContent},
	"POST /fleet/restore":                   ok(goldenFleet("edge")),
	"GET /fleet/resources":                  ok(goldenPage),
	"GET /fleet/resources/clusters":         ok(`{"items": [` + goldenBackend + `]}`),
	"GET /fleet/resources/clusters/backend": ok(goldenBackend),
	"GET /fleet/resources/secrets/edge-tls": ok(goldenSecret),
	"POST /fleet/apply":                     ok(goldenWritten),
	"POST /fleet/plan":                      ok(goldenPlan),
	"POST /fleet/rollback":                  ok(goldenWritten),
	"GET /fleet/endpoints/shop%2Fa":         ok(goldenEndpoints),
	"POST /fleet/endpoints/shop%2Fa":        ok(goldenEndpointsWritten),
	"POST /fleet/endpoints/shop%2Fb":        ok(`{"set": 0, "removed": 1}`),
	"GET /fleet/findings":                   ok(`{"revision": 7, "errors": 1, "warnings": 0, "infos": 0, "items": [` + goldenFinding + `]}`),
	"GET /fleet/revisions":                  ok(`{"items": [{"revision": 7, "kind": "apply", "created": 0, "updated": 1, "deleted": 0, "changed": 1, "committed_at": "2026-01-04T03:04:05Z", "actor": "ada", "message": "longer timeout", "receipt": "delivered"}]}`),
	"GET /fleet/revisions/7/changes":        ok(`{"from": 6, "to": 7, "items": [{"type": "clusters", "name": "backend", "action": "update", "diff": "--- clusters/backend\n+++ clusters/backend\n@@ -1,2 +1,2 @@\n-connect_timeout: \"1s\"\n+connect_timeout: \"2s\"\n name: backend\n"}]}`),
	"GET /fleet/revisions/7/receipt":        ok(`{"revision": 7, "state": "rejected", "counts": {"acked": 2, "nacked": 1, "pending": 0, "offline": 0, "left": 0, "unaffected": 0, "late": 0, "withheld": 0}, "committed_at": "2026-01-04T03:04:05Z", "first_ack_ms": 11.5, "last_ack_ms": 18.2, "nodes": [{"id": "edge-1", "state": "nacked", "at": "2026-01-04T03:04:05Z", "resource": ` + goldenRef + `, "detail": "unknown filter", "action": "kept the last known good version", "action_code": "kept"}]}`),
	"GET /fleet/nodes":                      ok(`{"items": [` + goldenNode + `, {"id": "edge-2", "state": "offline", "settled": 7, "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-02T03:04:05Z", "refusals": []}]}`),
	"GET /fleet/load":                       ok(goldenLoad),
	"POST /fleet/nodes/edge-1/retry":        ok(`{"node": "edge-1", "state": "refusing", "retried": 1, "resources": [` + goldenRef + `]}`),
	"GET /fleet/nodes/edge-1/why":           ok(goldenWhy),
	"GET /fleet/events":                     ok(`{"items": [{"id": "1", "at": "2026-01-04T03:04:05Z", "kind": "refused", "node": "edge-1", "nodes": 1, "resource": ` + goldenRef + `, "revision": 7, "version": "e1a2c3d4e5f60718", "detail": "unknown filter", "action": "kept the last known good version", "action_code": "kept"}], "position": "p1"}`),
	"GET /fleet/credentials":                ok(`{"items": [` + goldenCredential + `]}`),
	"POST /fleet/credentials":               created(`{"credential": ` + goldenCredential + `, "token": "flf1.shown-this-once"}`),
	"POST /fleet/credentials/cred1/renew":   created(`{"credential": ` + goldenCredential + `, "token": "flf1.shown-this-once"}`),
	"DELETE /fleet/credentials/cred1":       {status: http.StatusNoContent},
}

const goldenWhy = `{"node": "edge-1", "state": "refusing", "settled": 6, "revision": 7, "labels": {"region": "eu"}, "items": [{"because": "locality.region=eu holds",
	"resource": {"type": "clusters", "name": "backend", "variant": "eu", "state": "synced", "revision": 6, "version": "b1a2c3d4e5f60718"},
	"why": {"selector": "locality.region=eu", "priority": 0, "requirements": [{"requirement": "locality.region=eu", "has": "eu", "holds": true}],
		"passed_over": [{"variant": "us", "selector": "locality.region=us", "priority": 0, "matches": false, "requirements": [{"requirement": "locality.region=us", "has": "eu", "holds": false}]}]}}]}`

func created(body string) reply { return reply{status: http.StatusCreated, body: body} }

// TestGoldenAnswersAreTheContract: what the golden tests take for the API's answers openapi.yaml knows.
func TestGoldenAnswersAreTheContract(t *testing.T) {
	t.Parallel()
	spec, err := oapi.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	for at, answer := range answers {
		method, path, _ := strings.Cut(strings.Replace(at, " /fleet", " "+fleetPath, 1), " ")
		op := operationAt(spec, method, path)
		if op == nil {
			t.Errorf("%s: no such operation", at)
			continue
		}
		known := op.Responses.Status(answer.status)
		if known == nil {
			t.Errorf("%s: it does not answer %d", at, answer.status)
			continue
		}
		kind := known.Value.Content.Get("application/json")
		if answer.body == "" && kind == nil {
			continue
		}
		var body any
		if err := json.Unmarshal([]byte(answer.body), &body); err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		if err := kind.Schema.Value.VisitJSON(body, openapi3.MultiErrors(), openapi3.VisitAsResponse()); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
}

var parameterInPath = regexp.MustCompile(`\{[a-z]+\}`)

// operationAt finds the operation of a path; one without parameters goes before others.
func operationAt(spec *openapi3.T, method, path string) (found *openapi3.Operation) {
	least := -1
	for pattern, item := range spec.Paths.Map() {
		form := regexp.MustCompile("^" + parameterInPath.ReplaceAllString(pattern, "[^/]+") + "$")
		op := item.GetOperation(method)
		if n := strings.Count(pattern, "{"); op != nil && form.MatchString(path) && (least < 0 || n < least) {
			found, least = op, n
		}
	}
	return found
}
