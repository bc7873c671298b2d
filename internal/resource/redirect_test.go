package resource

import (
	"strings"
	"testing"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
)

const manager = `"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "s"`

func listenerOf(filter string) string {
	return `{"name": "l", "filter_chains": [{"filters": [{"name": "hcm", "typed_config": {` + filter + `}}]}]}`
}

// TestRedirect: every source that leads to the control plane becomes one of a file, wherever it stands, and no other.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of         fleet.Type
		body       string
		refs, says string
	}{
		"endpoints":       {fleet.Cluster, `{"name": "a", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}}`, "endpoints/a", ""},
		"by service name": {fleet.Cluster, `{"name": "a", "type": "EDS", "eds_cluster_config": {"service_name": "s", "eds_config": {"self": {}}}}`, "endpoints/s", ""},
		"of no use":       {fleet.Cluster, `{"name": "a", "type": "STATIC", "eds_cluster_config": {"eds_config": {"ads": {}}}}`, "", ""},
		"load reports":    {fleet.Cluster, `{"name": "a", "lrs_server": {"self": {}}}`, "", ""},
		"over REST":       {fleet.Cluster, `{"name": "a", "type": "EDS", "eds_cluster_config": {"eds_config": {"api_config_source": {"api_type": "REST"}}}}`, "", ""},
		"from a file":     {fleet.Cluster, `{"name": "a", "type": "EDS", "eds_cluster_config": {"eds_config": {"path_config_source": {"path": "/x"}}}}`, "", ""},
		"a route":         {fleet.Listener, listenerOf(manager + `, "rds": {"route_config_name": "r", "config_source": {"ads": {}}}`), "routes/r", ""},
		"an extension": {fleet.Listener, listenerOf(manager + `, "http_filters": [{"name": "f", "config_discovery": {"config_source": {"ads": {}},
			"type_urls": ["type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"]}}]`), "extensions/f", ""},
		"secrets": {fleet.Listener, `{"name": "l", "filter_chains": [{"transport_socket": {"name": "tls", "typed_config": {
			"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "common_tls_context": {
			"tls_certificate_sds_secret_configs": [{"name": "b", "sds_config": {"ads": {}}}, {"name": "a", "sds_config": {"ads": {}}}],
			"validation_context_sds_secret_config": {"name": "a", "sds_config": {"ads": {}}}}}}}]}`, "secrets/a secrets/b", ""},
		"a secret of the bootstrap": {fleet.Cluster, `{"name": "a", "transport_socket": {"name": "tls", "typed_config": {
			"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": {
			"tls_certificate_sds_secret_configs": [{"name": "b"}]}}}}`, "", ""},
		"in an extension": {fleet.Extension, `{"name": "x", "typed_config": {` + manager + `, "rds": {"route_config_name": "r", "config_source": {"self": {}}}}}`, "routes/r", ""},
		"scoped routes": {fleet.Listener, listenerOf(manager + `, "scoped_routes": {"name": "s", "rds_config_source": {"ads": {}}, "scoped_rds": {"scoped_rds_config_source": {"ads": {}}}}`),
			"", "filter_chains.filters.typed_config.scoped_routes.rds_config_source"},
		"virtual hosts": {fleet.Route, `{"name": "r", "vhds": {"config_source": {"ads": {}}}}`, "", "vhds.config_source"},
		"from within a TypedStruct": {fleet.Listener, `{"name": "l", "filter_chains": [{"filters": [{"name": "hcm", "typed_config": {"@type": "type.googleapis.com/xds.type.v3.TypedStruct",
			"type_url": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
			"value": {"stat_prefix": "s", "rds": {"route_config_name": "r", "config_source": {"ads": {}}}}}}]}]}`, "", "routes/r from within a TypedStruct"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMessage(c.of).Interface()
			if err := protojson.Unmarshal([]byte(c.body), m); err != nil {
				t.Fatal(err)
			}
			refs, err := Redirect(m, func(r fleet.Ref) *core.PathConfigSource {
				return &core.PathConfigSource{Path: "/folder/" + r.Type.Slug() + "/" + r.Name}
			})
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error is %v, want one that says %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text := protojson.Format(m)
			var got []string
			for _, r := range refs {
				got = append(got, r.Type.Slug()+"/"+r.Name)
				if !strings.Contains(text, "/folder/"+r.Type.Slug()+"/"+r.Name) {
					t.Errorf("%v is not named in %s", r, text)
				}
			}
			if strings.Join(got, " ") != c.refs {
				t.Errorf("it subscribes to %v, want %s", got, c.refs)
			}
			if left, _ := Redirect(m, nil); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// TestRedirectKnowsAllFields: what a newer server writes and this build cannot read must not be lost.
func TestRedirectKnowsAllFields(t *testing.T) {
	t.Parallel()
	c := &cluster.Cluster{Name: "a", CircuitBreakers: &cluster.CircuitBreakers{}}
	c.CircuitBreakers.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 9000, protowire.VarintType), 1))
	if _, err := Redirect(c, nil); err == nil || !strings.Contains(err.Error(), "circuit_breakers") {
		t.Errorf("the error is %v", err)
	}
}
