package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/replica"
	"fairlead/internal/resource"
	"fairlead/internal/store"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// oldCluster is a cluster as it was taken before keys had to be in Secrets: with a
// password, and with a private key.
func oldCluster(name string) string {
	return `{"name":"` + name + `","typed_extension_protocol_options":{"envoy.filters.network.redis_proxy":{
		"@type":"type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions","auth_password":{"inline_string":"` + canary + `"}}},
		"transport_socket":{"name":"tls","typed_config":{"@type":"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
		"common_tls_context":{"tls_certificates":[{"certificate_chain":{"filename":"/chain.pem"},"private_key":{"inline_bytes":"` + base64.StdEncoding.EncodeToString([]byte(oldKey)) + `"}}]}}}}`
}

const oldKey = "-----BEGIN PRIVATE KEY-----\n" + canary + "\n-----END PRIVATE KEY-----\n"

// writeOld writes clusters past the compiler.
func (w *world) writeOld(names ...string) {
	w.t.Helper()
	var changes []store.ResourceChange
	for _, name := range names {
		c := new(clusterv3.Cluster)
		must(w.t, protojson.Unmarshal([]byte(oldCluster(name)), c))
		body, err := proto.MarshalOptions{Deterministic: true}.Marshal(c)
		must(w.t, err)
		change := store.ResourceChange{
			Type: fleet.Cluster, Name: name, Version: "v-" + name, Body: body, DeriveVersion: resource.DeriveVersion,
			Description: "-----BEGIN PRIVATE KEY-----\nof a description",
		}
		copy(change.DocHash[:], name)
		copy(change.BodyHash[:], name)
		changes = append(changes, change)
	}
	_, err := w.store.Apply(w.t.Context(), w.tenant.ID, w.fleet.ID, store.Write{Kind: "apply", Actor: tester, Changes: changes})
	must(w.t, err)
}

// streams is an xDS server on the world's database, with its logs in the world's.
func (w *world) streams() *xdstest.Line {
	w.t.Helper()
	log := slog.New(slog.NewJSONHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	rec, err := delivery.New(delivery.Config{Server: fleet.NewServerID(), Name: "here", Sink: w.nodes, Logger: log})
	must(w.t, err)
	rep, err := replica.New(replica.Config{Feed: w.nodes, Recorder: rec, Opener: noOpener{}, Poll: 50 * time.Millisecond, Logger: log})
	must(w.t, err)
	srv, err := xds.New(xds.Config{Authenticator: rep, Source: rep, Logger: log})
	must(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = rec.Run(ctx) })
	wg.Go(func() { _ = rep.Run(ctx) })
	w.t.Cleanup(func() { cancel(); wg.Wait() })
	line := xdstest.Serve(w.t, srv.Register, srv.Options()...)
	w.t.Cleanup(srv.Drain)
	return line
}

// noOpener opens nothing.
type noOpener struct{}

func (noOpener) Open(fleet.Key, string, string, []byte) ([]byte, error) {
	return nil, fleet.ErrUnavailable
}

// dumps are the ways in which a proxy may quote what it refuses.
func dumps(c *clusterv3.Cluster) map[string]string {
	options, err := proto.Marshal(c)
	if err != nil {
		panic(err) // it was decoded before
	}
	octal := ""
	for _, b := range []byte(canary) {
		octal += fmt.Sprintf(`\%03o`, b)
	}
	return map[string]string{
		"text":   "goo.gle/debugstr " + prototext.MarshalOptions{}.Format(c) + ": Proto constraint validation failed (no)",
		"json":   protojson.MarshalOptions{}.Format(c),
		"quoted": strconv.Quote(protojson.MarshalOptions{}.Format(c)),
		"yaml":   "auth_password:\n  inline_string: " + canary + "\nprivate_key:\n  inline_string: |\n    " + strings.ReplaceAll(oldKey, "\n", "\n    "),
		"octal":  `auth_password { inline_string: "` + octal + `" }`,
		"base64": base64.StdEncoding.EncodeToString(options),
		"cut":    `private_key { inline_string: "-----BEGIN PRIVATE KEY-----\n` + canary[:20],
	}
}

// TestT42_AnOldKeyIsInNoAnswerNoTableAndNoLog: a row that was written before keys had to be
// in Secrets, and proxies that refuse it and quote it in every way.
func TestT42_AnOldKeyIsInNoAnswerNoTableAndNoLog(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("good")
	line := w.streams()
	var made oapi.CredentialCreated
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "*"}`).is(201, &made)

	quoted := new(clusterv3.Cluster)
	must(t, protojson.Unmarshal([]byte(oldCluster("redis")), quoted))
	clients := map[*xdstest.Client]string{}
	for how, words := range dumps(quoted) {
		for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS} {
			c := xdstest.Open(t, line.Conn(), v, xdstest.Envoy(how+" "+v.String()), xdstest.Token(made.Token))
			clients[c] = words
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Next())
		}
	}
	w.writeOld("redis", "other")
	for c, words := range clients {
		c.Nack(c.Next(), "Error adding/updating cluster(s) redis: no good: "+words+"\nso much of other")
		c.Next() // what follows a refusal goes out when that is written
	}
	w.refusedBy(2, len(clients))

	var told bytes.Buffer
	answer, err := statusv3.NewClientStatusDiscoveryServiceClient(line.Conn()).FetchClientStatus(xdstest.As(t.Context(), made.Token), &statusv3.ClientStatusRequest{})
	must(t, err)
	if len(answer.GetConfig()) != len(clients) {
		t.Errorf("the status is of %d nodes, want %d", len(answer.GetConfig()), len(clients))
	}
	status, err := protojson.Marshal(answer)
	must(t, err)
	wire, err := proto.Marshal(answer)
	must(t, err)
	told.Write(status)
	told.Write(wire)

	get := func(path string) answerText {
		a := w.do(http.MethodGet, path, "").is(200, nil)
		told.Write(a.body)
		return answerText(a.body)
	}
	node := "text delta ADS"
	pages := map[string]answerText{}
	for name, path := range map[string]string{
		"the resource": w.at("resources", "clusters", "redis"), "the list": w.at("resources"), "the list of clusters": w.at("resources", "clusters"),
		"the revisions": w.at("revisions"), "the revision": w.at("revisions", "2"), "the receipt": w.at("revisions", "2", "receipt"),
		"the events": w.at("events") + "?limit=200", "the nodes": w.at("nodes"), "the node": w.at("nodes", node), "the config": w.at("nodes", node, "config"),
	} {
		pages[name] = get(path)
	}
	for _, page := range []string{"the resource", "the list", "the list of clusters", "the receipt", "the events", "the config"} {
		if !strings.Contains(string(pages[page]), "[redacted]") {
			t.Errorf("%s does not say that something is left out: %s", page, pages[page])
		}
	}
	if !strings.Contains(string(pages["the receipt"]), "Proto constraint validation failed (no)") || !strings.Contains(string(status), "[redacted]") || !strings.Contains(w.logs.String(), "response refused") {
		t.Error("words or bodies are missing altogether")
	}

	var shown struct {
		Body json.RawMessage `json:"body"`
	}
	must(t, json.Unmarshal([]byte(pages["the resource"]), &shown))
	p := w.do(http.MethodPut, w.at("resources", "clusters", "redis"), asDocument(string(shown.Body)))
	told.Write(p.body)
	var problem oapi.Problem
	p.is(422, &problem)
	if problem.Errors == nil || len(*problem.Errors) != 2 || (*problem.Errors)[0].Code != "redacted" || !strings.Contains((*problem.Errors)[0].Detail, "write the value itself") {
		t.Errorf("what was blanked is put back: %s", p.body)
	}
	put := w.do(http.MethodPut, w.at("resources", "clusters", "redis"), asDocument(oldCluster("redis")))
	told.Write(put.body)
	if put.status != 422 || !strings.Contains(string(put.body), `"inline_key"`) || !strings.Contains(string(put.body), "sds_config") {
		t.Errorf("the old document is taken: %d %s", put.status, put.body)
	}

	if strings.Contains(told.String(), "of a description") {
		t.Error("a key in a description is shown")
	}
	for where, text := range map[string]string{"the answers": told.String(), "the log": w.logs.String(), "the database": w.dump("public.bodies")} {
		for _, trace := range append(tracesLeft(canary), canary[:20]) {
			if i := strings.Index(text, trace); i >= 0 {
				t.Errorf("%s show the key: %q", where, text[max(0, i-100):i+len(trace)])
			}
		}
	}
	if w.dump() == w.dump("public.bodies") {
		t.Error("the table of bodies has another name")
	}
}

type answerText string

// refusedBy waits until it is recorded that so many nodes refused a revision.
func (w *world) refusedBy(revision, nodes int) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(time.Minute); ; <-tick.C {
		var r oapi.Receipt
		w.do(http.MethodGet, w.at("revisions", strconv.Itoa(revision), "receipt"), "").is(200, &r)
		if r.Counts.Nacked == nodes {
			return
		}
		if time.Now().After(until) {
			w.t.Fatalf("refused by %d nodes, want %d: %s", r.Counts.Nacked, nodes, w.logs)
		}
	}
}

// TestT42_OldWordsAreShownWithoutKeys: what servers recorded before they looked.
// TestT42_ARollbackBringsNoKeyBack: what was written before the rule is told with its field, and
// nothing is changed.
func TestT42_ARollbackBringsNoKeyBack(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.writeOld("old")
	w.do(http.MethodDelete, w.at("resources", "clusters", "old"), "").is(200, nil)
	a := w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`)
	a.isProblem(422, "invalid_resource",
		"/resources/clusters/old/body/typed_extension_protocol_options/envoy.filters.network.redis_proxy/auth_password/inline_string")
	if !strings.Contains(string(a.body), `"inline_key"`) || strings.Contains(string(a.body), canary) {
		t.Errorf("answered %s", a.body)
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "old"), "").isProblem(404, "not_found", "")
}

func TestT42_OldWordsAreShownWithoutKeys(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.settledNode(w.fleet.ID, "n", 1)
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(`{"name": "a", "alt_stat_name": "b"}`)).isWritten(nil)
	var row oapi.Resource
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, &row)
	w.refusingNode(w.fleet.ID, "n", fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: row.Version, Revision: 2, Detail: "words " + oldKey, Action: fleet.ActionNoSuspect})
	for _, path := range []string{w.at("revisions", "2", "receipt"), w.at("events"), w.at("nodes"), w.at("nodes", "n"), w.at("nodes", "n", "config")} {
		if a := w.do(http.MethodGet, path, "").is(200, nil); strings.Contains(string(a.body), canary) || !strings.Contains(string(a.body), "words [redacted]") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

// TestT28_AuditAndHistoryHoldNamesAndCounts: what was written is told by names, never by
// values, whether it was taken or refused.
func TestT28_AuditAndHistoryHoldNamesAndCounts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPut, w.at("resources", "secrets", "s"), asDocument(`{"name": "s", "generic_secret": {"secret": {"inline_string": "`+canary+`"}}}`)).isWritten(nil)
	w.do(http.MethodPut, w.at("resources", "clusters", "redis"), asDocument(oldCluster("redis"))).isProblem(422, "invalid_resource", "/body/transport_socket/typed_config/common_tls_context/tls_certificates/0/private_key/inline_bytes")
	w.do(http.MethodPost, w.at("apply"), `{"message": `+quoted(oldKey)+`, "resources": [{"type": "clusters", "name": "a", "body": {"name": "a"}}]}`).isProblem(422, "invalid_resource", "/message")
	w.writeOld("redis")
	w.do(http.MethodDelete, w.at("resources", "clusters", "redis"), "").is(200, nil)
	w.do(http.MethodDelete, w.at("resources", "secrets", "s"), "").is(200, nil)

	conn := w.db.Connect(t, w.db.Owner)
	var details []map[string]any
	must(t, conn.QueryRow(t.Context(), `SELECT jsonb_agg(detail) FROM audit_events WHERE action LIKE 'resources.%' AND detail ? 'changed'`).Scan(&details))
	if len(details) != 4 {
		t.Errorf("%d audit events of writes, want 4", len(details))
	}
	for _, d := range details {
		for key, value := range d {
			switch key {
			case "changed", "message":
			case "resources":
				for _, r := range value.([]any) {
					if four := r.([]any); len(four) != 4 || four[0] != "put" && four[0] != "delete" {
						t.Errorf("a resource is told as %v", r)
					}
				}
			default:
				t.Errorf("the audit tells %s: %v", key, value)
			}
		}
	}
	all := w.dump("public.bodies")
	for _, trace := range tracesLeft(canary) {
		if i := strings.Index(all, trace); i >= 0 {
			t.Errorf("the key is in a table: %q", all[max(0, i-100):i+len(trace)])
		}
	}
}

// TestT42_NoTextTakesAPrivateKey: beside an apply's message, which is refused as a document is.
func TestT42_NoTextTakesAPrivateKey(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	operator, key := w.operator(), quoted(oldKey)
	for path, c := range map[string]struct{ token, body, at string }{
		w.at("rollback"):                           {w.owner, `{"revision": 1, "message": ` + key + `}`, "/message"},
		w.at("credentials"):                        {w.owner, `{"nodes": "n", "description": ` + key + `}`, "/description"},
		"/v1/tenants/" + w.tenant.Slug + "/fleets": {w.owner, `{"name": "n", "description": ` + key + `}`, "/description"},
		"/v1/tenants/" + w.tenant.Slug + "/tokens": {w.owner, `{"role": "viewer", "name": ` + key + `}`, "/name"},
		"/v1/tenants":                              {operator, `{"slug": "n", "name": ` + key + `}`, "/name"},
		"/v1/operator/tokens":                      {operator, `{"name": ` + key + `}`, "/name"},
	} {
		a := w.do(http.MethodPost, path, c.body, "Authorization", "Bearer "+c.token)
		a.isProblem(400, "invalid_request", c.at)
		if strings.Contains(string(a.body), canary) {
			t.Errorf("%s: the answer shows it: %s", path, a.body)
		}
	}
	if strings.Contains(w.dump(), canary) {
		t.Error("it is stored")
	}
}

// TestT42_AnOldKeyBesideABodyIsBlankedAndNotRolledBack: in a description or a label, of a
// Secret too.
func TestT42_AnOldKeyBesideABodyIsBlankedAndNotRolledBack(t *testing.T) {
	t.Parallel()
	for at, old := range map[string]store.ResourceChange{
		"/resources/clusters/x/description": {Type: fleet.Cluster, Description: oldKey},
		"/resources/clusters/x/labels":      {Type: fleet.Cluster, Labels: map[string]string{"a": oldKey}},
		"/resources/secrets/x/labels":       {Type: fleet.Secret, Labels: map[string]string{oldKey: "a"}, Summary: []byte(`{"kind": "generic_secret", "guarded": []}`)},
	} {
		w := setup(t)
		old.Name, old.Version, old.DocHash, old.BodyHash = "x", "v", [32]byte{1}, [32]byte{2}
		body, err := proto.Marshal(&clusterv3.Cluster{Name: "x"})
		must(t, err)
		old.Body = body
		_, err = w.store.Apply(t.Context(), w.tenant.ID, w.fleet.ID, store.Write{Actor: tester, Changes: []store.ResourceChange{old}})
		must(t, err)
		if a := w.do(http.MethodGet, w.at("resources", old.Type.Slug(), "x"), "").is(200, nil); strings.Contains(string(a.body), canary) || !strings.Contains(string(a.body), "[redacted]") {
			t.Errorf("%s is shown: %s", at, a.body)
		}
		w.do(http.MethodDelete, w.at("resources", old.Type.Slug(), "x"), "").is(200, nil)
		a := w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`)
		a.isProblem(422, "invalid_resource", at)
		if strings.Contains(string(a.body), canary) {
			t.Errorf("%s: the answer shows it: %s", at, a.body)
		}
	}
}
