package e2e

import (
	"slices"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// TestContribIsFound: an Envoy of the ordinary build tells its extensions, and refuses those of contrib as the finding says beforehand.
func TestContribIsFound(t *testing.T) {
	filters := map[string]string{
		"kafka":    "kafka_broker.v3.KafkaBroker",
		"postgres": "postgres_proxy.v3alpha.PostgresProxy",
		"mysql":    "mysql_proxy.v3.MySQLProxy",
	}
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		w.Put(world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")))
		w.Envoy("n1", w.XDS().Address, delta)
		w.AwaitLive("n1")
		for name, typ := range filters {
			r := world.NewResource("listeners", name, sprintf(`{name: %s, address: {socket_address: {address: 127.0.0.1, port_value: %s}}, filter_chains: [{filters: [
				{name: first, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.%s, stat_prefix: s}},
				{name: last, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: t, cluster: a}}]}]}`,
				name, world.FreePort(t)[len("127.0.0.1:"):], typ))
			p, err := w.REST.PutResourceWithBodyWithResponse(t.Context(), w.Tenant, w.Fleet, client.TypeParam(r.Type), r.Name, nil, "application/yaml", strings.NewReader(r.Document()))
			w.Made(p, err)
			isIt := func(f client.Finding) bool { return f.Code == client.NeedsContrib && f.Name == name }
			if !slices.ContainsFunc(p.JSON201.Findings.Items, isIt) {
				t.Errorf("%s: the write says %s", name, world.AsJSON(p.JSON201.Findings))
			}
			if node := w.AwaitRejected(p.JSON201.Revision); !strings.Contains(world.AsJSON(node), "envoy.extensions.filters.network."+typ) {
				t.Errorf("%s: refused as %s", name, world.AsJSON(node))
			}
		}
		code := client.NeedsContrib
		found, err := w.REST.ListFindingsWithResponse(t.Context(), w.Tenant, w.Fleet, &client.ListFindingsParams{Code: &code})
		w.Made(found, err)
		if n := len(found.JSON200.Items); n != len(filters) {
			t.Errorf("%d are found: %s", n, world.AsJSON(found.JSON200.Items))
		}
	})
}
