package envoyversion

import (
	"bytes"
	"slices"

	"fairlead/internal/fleet"
)

// contrib are the packages of Envoy's API that only builds with contrib have. A node's row keeps which of them its build has, by their places
// here: a new one comes to the end, and none goes.
var contrib = [...]string{
	"envoy.extensions.compression.qatzip.compressor.v3alpha",
	"envoy.extensions.compression.qatzstd.compressor.v3alpha",
	"envoy.extensions.config.v3alpha",
	"envoy.extensions.filters.http.checksum.v3alpha",
	"envoy.extensions.filters.http.dynamo.v3",
	"envoy.extensions.filters.http.golang.v3alpha",
	"envoy.extensions.filters.http.language.v3alpha",
	"envoy.extensions.filters.http.peak_ewma.v3alpha",
	"envoy.extensions.filters.http.sxg.v3alpha",
	"envoy.extensions.filters.listener.postgres_inspector.v3alpha",
	"envoy.extensions.filters.network.client_ssl_auth.v3",
	"envoy.extensions.filters.network.generic_proxy.codecs.kafka.v3",
	"envoy.extensions.filters.network.golang.v3alpha",
	"envoy.extensions.filters.network.kafka_broker.v3",
	"envoy.extensions.filters.network.kafka_mesh.v3alpha",
	"envoy.extensions.filters.network.mysql_proxy.v3",
	"envoy.extensions.filters.network.postgres_proxy.v3alpha",
	"envoy.extensions.filters.network.rocketmq_proxy.v3",
	"envoy.extensions.filters.network.sip_proxy.router.v3alpha",
	"envoy.extensions.filters.network.sip_proxy.tra.v3alpha",
	"envoy.extensions.filters.network.sip_proxy.v3alpha",
	"envoy.extensions.load_balancing_policies.peak_ewma.v3alpha",
	"envoy.extensions.matching.input_matchers.hyperscan.v3alpha",
	"envoy.extensions.network.connection_balance.dlb.v3alpha",
	"envoy.extensions.network_filters.peer_metadata",
	"envoy.extensions.private_key_providers.cryptomb.v3alpha",
	"envoy.extensions.private_key_providers.kae.v3alpha",
	"envoy.extensions.private_key_providers.qat.v3alpha",
	"envoy.extensions.regex_engines.hyperscan.v3alpha",
	"envoy.extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client",
	"envoy.extensions.reverse_tunnel_reporters.v3alpha.reporters",
	"envoy.extensions.router.cluster_specifier.golang.v3alpha",
	"envoy.extensions.stat_sinks.kafka.v3",
	"envoy.extensions.stat_sinks.wasm_filter.v3",
	"envoy.extensions.tap_sinks.udp_sink.v3alpha",
	"envoy.extensions.upstreams.http.tcp.golang.v3alpha",
	"envoy.extensions.vcl.v3alpha",
	"envoy.tcp.metadataexchange.config",
	"io.istio.http.peer_metadata",
	"istio.envoy.config.filter.http.alpn.v2alpha1",
	"istio.workload",
	"stats",
}

// contribNames are the extensions of contrib that tell their names and no types.
var contribNames = map[string]string{
	"cryptomb": "envoy.extensions.private_key_providers.cryptomb.v3alpha",
	"kae":      "envoy.extensions.private_key_providers.kae.v3alpha",
	"qat":      "envoy.extensions.private_key_providers.qat.v3alpha",
}

var contribPlaces = func() map[string]int {
	out := make(map[string]int, len(contrib))
	for i, pkg := range contrib {
		out[pkg] = i
	}
	return out
}()

// ContribPackages returns the packages of contrib.
func ContribPackages() []string { return slices.Clone(contrib[:]) }

// ContribOfType is what a build has that knows a type, such as "envoy.extensions.filters.network.kafka_broker.v3.KafkaBroker". It allocates nothing.
func ContribOfType(name []byte) fleet.Contrib {
	dot := bytes.LastIndexByte(name, '.')
	if dot < 0 {
		return 0
	}
	if i, known := contribPlaces[string(name[:dot])]; known {
		return 1 << i
	}
	return 0
}

// ContribOfName is what a build has that lists an extension of this name. It allocates nothing.
func ContribOfName(name []byte) fleet.Contrib {
	if pkg, known := contribNames[string(name)]; known {
		return 1 << contribPlaces[pkg]
	}
	return 0
}

// LacksContrib reports whether a build has told what it has, and that is nothing of a package of contrib.
func LacksContrib(has fleet.Contrib, pkg string) bool {
	i, known := contribPlaces[pkg]
	return known && has&fleet.ContribTold != 0 && has&(1<<i) == 0
}
