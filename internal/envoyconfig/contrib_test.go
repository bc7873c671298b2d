package envoyconfig_test

import (
	"testing"
)

// TestContribIsImported: what only builds with contrib know is taken over as all else is.
func TestContribIsImported(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]string{
		"Kafka":    `kafka_broker.v3.KafkaBroker, stat_prefix: k, id_based_broker_address_rewrite_spec: {rules: [{id: 1, host: kafka.local, port: 19092}]}`,
		"Postgres": `postgres_proxy.v3alpha.PostgresProxy, stat_prefix: p, enable_sql_parsing: false, upstream_ssl: REQUIRE`,
		"MySQL":    `mysql_proxy.v3.MySQLProxy, stat_prefix: m`,
		"Go":       `golang.v3alpha.Config, library_id: l, library_path: /lib/filter.so, plugin_name: p, plugin_config: {"@type": type.googleapis.com/xds.type.v3.TypedStruct, value: {a: 1}}`,
	} {
		r := read(t, `
resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  address: {socket_address: {address: 0.0.0.0, port_value: 19092}}
  filter_chains:
  - filters:
    - name: first
      typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.`+filter+`}
    - name: last
      typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: t, cluster: backend}
`)
		if len(r.Documents) != 1 || len(r.Left) != 0 {
			t.Errorf("%s: %d documents, %+v", name, len(r.Documents), r.Left)
		}
	}
}
