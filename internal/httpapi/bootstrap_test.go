package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

func TestBootstrapsOfEveryClient(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, c := range map[string]struct {
		query, holds, notes string
		files               int
	}{
		"envoy":       {"xds=xds.example.com:443&region=eu&label=metadata.canary%3Dtrue", `"edge-1" ENVIRONMENT(FAIRLEAD_NODE_TOKEN) xds.example.com DELTA_GRPC "eu" canary`, "FAIRLEAD_NODE_TOKEN", 1},
		"a file":      {"xds=a:1&xds=b:1&token_file=/etc/fairlead/token", "/etc/fairlead/fairlead_token.yaml", "/etc/fairlead/token rename", 2},
		"sotw":        {"xds=127.0.0.1:1&plaintext=true&sotw=true&token_env=T", `ENVIRONMENT(T) GRPC`, "T", 1},
		"a socket":    {"xds=a:1&admin=/run/envoy/admin.sock", `pipe "/run/envoy/admin.sock" 384`, "FAIRLEAD_NODE_TOKEN", 1},
		"a port":      {"xds=a:1&admin=127.0.0.1:9901", `9901`, "Whoever 127.0.0.1:9901 socket", 1},
		"google-grpc": {"client=google-grpc&xds=a:1&token_file=/t", `google_grpc "/t"`, "newline", 1},
		"grpc":        {"client=grpc&xds=a:1&token_file=/t", `jwt_token_file edge-1`, "GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS newline", 1},
		"two servers": {"client=grpc&xds=a:1&xds=b:1&token_file=/t", `"a:1" "b:1"`, "next one name", 1},
		"a failover":  {"xds=a:1&failover=b:1", `fairlead_xds_failover`, "failover first", 1},
		"relay":       {"client=relay&xds=a:1&relay_listen=127.0.0.1:7", `FAIRLEAD_NODE_TOKEN relay`, "FAIRLEAD_NODE_TOKEN", 1},
	} {
		var got oapi.Bootstrap
		w.do(http.MethodGet, w.at("bootstrap")+"?node_id=edge-1&"+c.query, "").is(200, &got)
		if len(got.Files) != c.files || got.Files[0].Path != nil || len(got.Files) == 2 && (*got.Files[1].Path != "/etc/fairlead/fairlead_token.yaml" || !strings.Contains(got.Files[1].Text, "/etc/fairlead/token")) {
			t.Errorf("%s: %+v", name, got.Files)
		}
		for _, word := range strings.Fields(c.holds) {
			if !strings.Contains(got.Files[0].Text, word) {
				t.Errorf("%s: no %s in\n%s", name, word, got.Files[0].Text)
			}
		}
		for _, word := range strings.Fields(c.notes) {
			if !strings.Contains(strings.Join(got.Notes, " "), word) {
				t.Errorf("%s: no %s in %q", name, word, got.Notes)
			}
		}
	}
	for query, where := range map[string]string{
		"xds=a:1": "?node_id", "node_id=n": "?xds", "node_id=n&xds=nowhere": "?xds", "node_id=n&xds=a:1&client=java": "?client", "node_id=n&xds=a:1&label=" + url.QueryEscape("role=edge"): "?label",
		"node_id=n&xds=a:1&label=" + url.QueryEscape("node.id=m"): "?node_id", "node_id=n&xds=a:1&metadata=x": "?metadata", "node_id=n&xds=a:1&client=relay&sotw=true": "?sotw",
		"node_id=n&xds=a:1&token_file=t": "?token_file", "node_id=n&xds=a:1&relay_listen=127.0.0.1:1": "?relay_listen", "node_id=n&xds=a:1&client=grpc": "?token_file", "node_id=n&xds=a:1&failover=b": "?failover", "node_id=n&xds=a:1&admin=x": "?admin", "node_id=n&xds=a:1&metadata=fairlead%3D1": "?metadata",
	} {
		w.do(http.MethodGet, w.at("bootstrap")+"?"+query, "").isProblem(400, "invalid_request", where)
	}
}

func TestNodesThatASelectorMatchesAreCounted(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.labeled(0, map[string]*fleet.NodeLabels{"a-1": {Region: "eu"}, "a-2": {Region: "us"}, "a-3": {Region: "eu"}, "b-1": {Region: "eu"}})
	var got oapi.NodeList
	for query, want := range map[string]int{
		"?count=true": 5, "?count=true&prefix=a-": 3, "?count=true&selector=locality.region%3Deu": 3, "?count=true&selector=locality.region%3Deu&prefix=a-": 2, "?count=true&state=offline": 0,
	} {
		got = oapi.NodeList{}
		w.do(http.MethodGet, w.at("nodes")+query, "").is(200, &got)
		if got.Matches == nil || *got.Matches != want || got.MatchesCut != nil || got.NextCursor != nil {
			t.Errorf("%s: %+v", query, got)
		}
	}
	seen := 0
	for query := "?count=true&limit=2&prefix=a-"; ; query = "?limit=2&prefix=a-&cursor=" + *got.NextCursor {
		got = oapi.NodeList{}
		w.do(http.MethodGet, w.at("nodes")+query, "").is(200, &got)
		seen += len(got.Items)
		if seen == 2 && (*got.Matches != 3 || got.NextCursor == nil) {
			t.Fatalf("%+v", got)
		}
		if got.NextCursor == nil {
			break
		}
	}
	if seen != 3 || got.Matches != nil {
		t.Errorf("%d seen, %+v", seen, got)
	}
}
