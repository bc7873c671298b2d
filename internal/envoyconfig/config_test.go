package envoyconfig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/envoyconfig"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// shown writes a result as text: the documents, then what is not in them.
func shown(t *testing.T, r envoyconfig.Result) string {
	t.Helper()
	var b bytes.Buffer
	for _, d := range r.Documents {
		fmt.Fprintf(&b, "%s/%s\n", d.Type.Slug(), d.Name)
		var body bytes.Buffer
		if err := json.Indent(&body, d.Body, "", "  "); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", body.Bytes())
	}
	for _, l := range r.Left {
		word := "left out"
		if l.Stays {
			word = "note"
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", word, l.What, l.Why)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (GOLDEN=1 writes it):\n%s", path, diff)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, golden string
		o          envoyconfig.Options
	}{
		{"bootstrap.yaml", "bootstrap.txt", envoyconfig.Options{}},
		{"bootstrap.yaml", "bootstrap-lifted.txt", envoyconfig.Options{RDS: true, EDS: true}},
		{"dump.json", "dump.txt", envoyconfig.Options{RDS: true}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			t.Parallel()
			in, err := os.ReadFile(filepath.Join("testdata", c.in))
			if err != nil {
				t.Fatal(err)
			}
			r, err := envoyconfig.Read(in, c.o)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, c.golden, shown(t, r))
		})
	}
}

// TestAPrivateKeyBecomesASecret: the API takes none in a listener. What stands beside it becomes one too: Envoy takes no
// certificates of its own beside those that it asks for.
func TestAPrivateKeyBecomesASecret(t *testing.T) {
	t.Parallel()
	in := `{"static_resources": {"listeners": [{"name": "l", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [], "transport_socket": {"name": "tls",
		"typed_config": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "common_tls_context": {"tls_certificates": [
			{"certificate_chain": {"filename": "/c"}, "private_key": {"filename": "/k"}}, {"certificate_chain": {"filename": "/d"}, "private_key": {"inline_string": %q}}]}}}}]}]}}`
	r, err := envoyconfig.Read(fmt.Appendf(nil, in, "a-private-key"), envoyconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := shown(t, r)
	if len(r.Documents) != 3 || r.Documents[1].Name != "l-tls" || !strings.Contains(string(r.Documents[1].Body), `"/k"`) || !strings.Contains(string(r.Documents[2].Body), "a-private-key") {
		t.Fatal(text)
	}
	const ads = `"sds_config":{"ads":{},"resource_api_version":"V3"}}`
	if l := string(r.Documents[0].Body); strings.Contains(l, "a-private-key") || !strings.Contains(l, `"tls_certificate_sds_secret_configs":[{"name":"l-tls",`+ads+`,{"name":"l-tls-2",`+ads+`]`) || strings.Contains(l, "tls_certificates") {
		t.Error(text)
	}
	// of a dump the key is not to be had: the listener asks for a secret that is to be written
	r, err = envoyconfig.Read(fmt.Appendf(nil, in, "[redacted]"), envoyconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Documents) != 2 || !strings.Contains(shown(t, r), `left out: secrets/l-tls-2: a dump does not hold what is secret: write it with "fairlead secret"`) {
		t.Error(shown(t, r))
	}
	// no key stands in the clear: nothing moves
	r, err = envoyconfig.Read([]byte(strings.Replace(in, `{"inline_string": %q}`, `{"filename": "/l"}`, 1)), envoyconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Documents) != 1 || !strings.Contains(string(r.Documents[0].Body), `"/l"`) {
		t.Error(shown(t, r))
	}
}

// told is what is said of an input, and which documents it becomes.
func told(t *testing.T, in string, o envoyconfig.Options) (documents, left string) {
	t.Helper()
	r, err := envoyconfig.Read([]byte(in), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Documents {
		documents += d.Type.Slug() + "/" + d.Name + " "
	}
	text := shown(t, envoyconfig.Result{Left: r.Left})
	return strings.TrimSpace(documents), text
}

func TestWhatIsLeftOutIsNamed(t *testing.T) {
	t.Parallel()
	const url = `"@type": "type.googleapis.com/envoy.`
	for name, c := range map[string]struct {
		in              string
		o               envoyconfig.Options
		documents, left string
	}{
		"what is no resource": {
			in:        "\ufeff" + `{"static_resources": {"clusters": [{` + url + `config.listener.v3.Listener", "name": "a"}, {"name": "b"}, {"name": "b"}, {"name": "c"}, {"name": "c", "connect_timeout": "2s"}, {}, 7], "colours": []}}`,
			documents: "clusters/b clusters/c",
			left: `left out: clusters: 1 of them are no objects
left out: clusters: line 1: /static_resources/clusters/5: one of them has no name
left out: clusters/a: it is not a envoy.config.cluster.v3.Cluster
left out: clusters/c: line 1: /static_resources/clusters/4: it is there twice, with different content: the first was taken
left out: static_resources.colours: line 1: /static_resources/colours: there is no such part of a bootstrap
`,
		},
		"a way to the control plane over REST": {
			in:        `{"dynamic_resources": {"lds_config": {"api_config_source": {"api_type": "REST", "cluster_names": ["cp"]}}}, "static_resources": {"clusters": [{"name": "cp"}, {"name": "a"}]}}`,
			documents: "clusters/a",
			left: `note: clusters/cp: it is the proxy's way to its control plane, which "fairlead bootstrap" writes anew
note: dynamic_resources: "fairlead bootstrap" writes it for Fairlead's xDS servers
`,
		},
		"a way to the control plane that is named elsewhere": {
			in: `{"dynamic_resources": {"ads_config": {"grpc_services": {"envoy_grpc": {"cluster_name": "cp"}}}, "lds_config": {"api_config_source": {"cluster_names": ["fairlead_xds"]}}},
				"static_resources": {"clusters": [{"name": "cp"}, {"name": "fairlead_xds"}, {"name": "a", "health_checks": [{"timeout": "1s", "interval": "1s", "unhealthy_threshold": 1, "healthy_threshold": 1, "tcp_health_check": {}}]}],
				"listeners": [{"name": "l", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "access_log": [{"name": "g", "typed_config": {` + url + `extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig",
				"common_config": {"log_name": "l", "grpc_service": {"envoy_grpc": {"cluster_name": "cp"}}}}}]}]}}`,
			documents: "clusters/a clusters/cp listeners/l",
			left: `note: clusters/cp: line 2: /static_resources/clusters/0: it was the way to the control plane, and was taken over as other resources name it
note: clusters/fairlead_xds: it is the proxy's way to its control plane, which "fairlead bootstrap" writes anew
note: dynamic_resources: "fairlead bootstrap" writes it for Fairlead's xDS servers
`,
		},
		"clusters of sources of their own": {
			in: `{"dynamic_resources": {"lds_config": {"api_config_source": {"api_type": "REST", "cluster_names": ["cp"]}}},
				"static_resources": {"clusters": [{"name": "cp"},
				{"name": "of-a", "type": "EDS", "eds_cluster_config": {"eds_config": {"api_config_source": {"api_type": "REST", "cluster_names": ["cp"], "refresh_delay": "1s"}}}},
				{"name": "of-b", "type": "EDS", "eds_cluster_config": {"eds_config": {"apiConfigSource": {"api_type": "GRPC", "grpcServices": {"envoyGrpc": {"clusterName": "other"}}}}}},
				{"name": "of-c", "type": "EDS", "eds_cluster_config": {"eds_config": {"api_config_source": {"api_type": "REST", "cluster_names": "fairlead_xds", "refresh_delay": "1s"}}}},
				{"name": "other"}]}}`,
			documents: "clusters/of-a clusters/of-b clusters/of-c",
			left: `left out: clusters/cp: line 2: /static_resources/clusters/0: a source of configuration (api_config_source) asks it, and Envoy takes such a cluster from its bootstrap alone: add it to what "fairlead bootstrap" writes, and list it by "fairlead fleet --static-clusters"
note: clusters/of-a: its eds_config has a source of its own (api_config_source), which the proxies go on asking
note: clusters/of-b: its eds_config has a source of its own (api_config_source), which the proxies go on asking
note: clusters/of-c: its eds_config has a source of its own (api_config_source), which the proxies go on asking
left out: clusters/other: line 6: /static_resources/clusters/4: a source of configuration (api_config_source) asks it, and Envoy takes such a cluster from its bootstrap alone: add it to what "fairlead bootstrap" writes, and list it by "fairlead fleet --static-clusters"
note: dynamic_resources: "fairlead bootstrap" writes it for Fairlead's xDS servers
`,
		},
		"clusters of parts that stay in the bootstrap": {
			in: `{"static_resources": {"clusters": [{"name": "statsd"}, {"name": "b"}, {"name": "cp"}]}, "dynamic_resources": {"ads_config": {"grpc_services": [{"envoy_grpc": {"cluster_name": "cp"}}]}},
				"stats_sinks": [{"name": "s", "typed_config": {` + url + `config.metrics.v3.StatsdSink", "tcp_cluster_name": "statsd"}}], "stats_flush_interval": "5s"}`,
			documents: "clusters/b clusters/statsd",
			left: `note: clusters/cp: it is the proxy's way to its control plane, which "fairlead bootstrap" writes anew
note: dynamic_resources: "fairlead bootstrap" writes it for Fairlead's xDS servers
left out: stats_flush_interval: a control plane does not serve it: it belongs into the proxies' bootstrap; add it to what "fairlead bootstrap" writes
left out: stats_sinks: a control plane does not serve it: it belongs into the proxies' bootstrap; add it to what "fairlead bootstrap" writes, with the clusters that it names, which are taken over too: statsd
`,
		},
		"listeners without a name": {
			in: `{"static_resources": {"listeners": [{"address": {"socket_address": {"address": "::", "port_value": 443}}}, {"address": {"socket_address": {"protocol": "UDP", "address": "::", "port_value": 443}}, "udp_listener_config": {}},
				{"address": {"pipe": {"path": "/run/a"}}}, {"address": {"pipe": {"path": "/run/b"}}}, {"name": "", "address": {"pipe": {"path": "/run/a"}}, "freebind": true},
				{"name": "listener_::_443", "address": {"socket_address": {"address": "::1", "port_value": 443}}}, {"address": {"socket_address": {"address": "::2", "named_port": "http"}}}, {"internal_listener": {}}]}}`,
			documents: "listeners/listener_/run/a listeners/listener_/run/a-2 listeners/listener_/run/b listeners/listener_::2_http listeners/listener_::_443 listeners/listener_::_443-2 listeners/listener_::_443-3 listeners/listener_unnamed",
			left: `note: listeners/listener_/run/a: it had no name; this one was made of its address
note: listeners/listener_/run/a-2: it had no name; this one was made of its address
note: listeners/listener_/run/b: it had no name; this one was made of its address
note: listeners/listener_::2_http: it had no name; this one was made of its address
note: listeners/listener_::_443-2: it had no name; this one was made of its address
note: listeners/listener_::_443-3: it had no name; this one was made of its address
note: listeners/listener_unnamed: it had no name; this one was made of its address
`,
		},
		"endpoints of one name": {
			o: envoyconfig.Options{EDS: true},
			in: `{"static_resources": {"clusters": [{"name": "a", "load_assignment": {"cluster_name": "x"}}, {"name": "b", "load_assignment": {"cluster_name": "x", "policy": {}}}, {"name": "c", "load_assignment": {}},
				{"name": "d", "type": "LOGICAL_DNS", "load_assignment": {"cluster_name": "d", "endpoints": [{"lb_endpoints": [{}]}]}}, {"name": "e", "cluster_type": {"name": "envoy.clusters.strict_dns"}, "load_assignment": {"cluster_name": "e"}}]}}`,
			documents: "clusters/a clusters/b clusters/c clusters/d clusters/e endpoints/c endpoints/x endpoints/x-2",
		},
		"what warms": {
			in: `{"configs": [{` + url + `admin.v3.ListenersConfigDump", "dynamic_listeners": [{"name": "w", "warming_state": {"listener": {"name": "w", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}}}}]},
				{` + url + `admin.v3.ClustersConfigDump", "dynamic_warming_clusters": [{"cluster": {"name": "c"}}]},
				{` + url + `admin.v3.SecretsConfigDump", "dynamic_active_secrets": [{"secret": {"name": "ca", "validation_context": {"trusted_ca": {"filename": "/ca"}}}}],
					"dynamic_warming_secrets": [{"secret": {"name": "gone", "generic_secret": {"secret": {"inline_bytes": "W3JlZGFjdGVkXQ=="}}}}]}]}`,
			documents: "clusters/c listeners/w secrets/ca",
			left: "note: secrets/ca: line 3: /configs/2/dynamic_active_secrets/0/secret/validation_context/trusted_ca: the proxies read this from their own file /ca, which nobody here checks: \"fairlead secret\" makes a secret of it\n" +
				"left out: secrets/gone: a dump does not hold what is secret: write it with \"fairlead secret\"\n",
		},
		"a key in bytes, of a cluster": {
			in: `{"static_resources": {"clusters": [{"name": "a", "transport_socket": {"name": "tls", "typed_config": {` + url + `extensions.transport_sockets.tls.v3.UpstreamTlsContext",
				"common_tls_context": {"tls_certificates": [{"certificate_chain": {"filename": "/c"}, "private_key": {"inline_bytes": "YS1wcml2YXRlLWtleQ=="}}]}}}}]}}`,
			documents: "clusters/a secrets/a-tls",
			left: "note: clusters/a: its certificate with the private key became secrets/a-tls\n" +
				"note: secrets/a-tls: line 2: /static_resources/clusters/0/transport_socket/typed_config/common_tls_context/tls_certificates/0/certificate_chain: the proxies read this from their own file /c, which nobody here checks: \"fairlead secret\" makes a secret of it\n",
		},
		"a bootstrap beside what the dump tells better": {
			in: `{"configs": [{` + url + `admin.v3.BootstrapConfigDump", "bootstrap": {"static_resources": {"clusters": [{"name": "a"}, {"name": "gone"}]}}},
				{` + url + `admin.v3.ClustersConfigDump", "static_clusters": [{"cluster": {"name": "a", "connect_timeout": "1s"}}]}]}`,
			documents: "clusters/a",
		},
		"names that are no texts": {
			in: "static_resources:\n  clusters:\n  - {name: y}\n  - {name: 5}\n  - {name: [a]}\n  listeners:\n  - {name: on, address: {socket_address: {address: 0.0.0.0, port_value: 1}}}\n" +
				"  - {name: \"\", address: {socket_address: {address: 0.0.0.0, port_value: 2}}}\n",
			documents: "listeners/listener_0.0.0.0_2",
			left: `left out: clusters: line 3: /static_resources/clusters/0/name: the name must be a text: in YAML y, n, yes, no, on and off are true and false, and a text in quotes
left out: clusters: line 4: /static_resources/clusters/1/name: the name must be a text: write it in quotes
left out: clusters: line 5: /static_resources/clusters/2/name: the name must be a text
left out: listeners: line 7: /static_resources/listeners/0/name: the name must be a text: in YAML y, n, yes, no, on and off are true and false, and a text in quotes
note: listeners/listener_0.0.0.0_2: it had no name; this one was made of its address
`,
		},
		"endpoints that a dump shows of clusters that have their own": {
			o: envoyconfig.Options{EDS: true},
			in: `{"configs": [{` + url + `admin.v3.ClustersConfigDump", "dynamic_active_clusters": [
					{"cluster": {"name": "static", "load_assignment": {"cluster_name": "static", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 1}}}}]}]}}},
					{"cluster": {"name": "dns", "type": "STRICT_DNS", "load_assignment": {"cluster_name": "dns", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "a.example", "port_value": 1}}}}]}]}}},
					{"cluster": {"name": "eds", "type": "EDS", "eds_cluster_config": {"service_name": "shared", "eds_config": {"ads": {}}}}},
					{"cluster": {"name": "shared", "type": "LOGICAL_DNS", "load_assignment": {"cluster_name": "shared", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "b.example", "port_value": 1}}}}]}]}}}]},
				{` + url + `admin.v3.EndpointsConfigDump", "dynamic_endpoint_configs": [{"endpoint_config": {"cluster_name": "static", "policy": {"overprovisioning_factor": 140}}},
					{"endpoint_config": {"cluster_name": "dns"}}, {"endpoint_config": {"cluster_name": "shared"}}, {"endpoint_config": {"cluster_name": "other"}}]}]}`,
			documents: "clusters/dns clusters/eds clusters/shared clusters/static endpoints/other endpoints/shared endpoints/static",
		},
		"a dump above 4 MiB": {
			in:        "\ufeff" + strings.Repeat(" ", 4<<20) + `{"static_resources": {"clusters": [{"name": "a"}]}}`,
			documents: "clusters/a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, left := told(t, c.in, c.o)
			if documents != c.documents || left != c.left {
				t.Errorf("documents %s, want %s\n%s", documents, c.documents, cmp.Diff(c.left, left))
			}
		})
	}
}

// TestManyOfOneName: listeners whose routes have one name get names of their own.
func TestManyOfOneName(t *testing.T) {
	t.Parallel()
	const many = 300
	var b strings.Builder
	for i := range many {
		fmt.Fprintf(&b, `, {"name": "l%[1]d", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [{"name": "h", "typed_config": {
			"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "x", "route_config": {"name": "local", "virtual_hosts": [{"name": "v%[1]d", "domains": ["*"]}]}}}]}]}`, i)
	}
	r, err := envoyconfig.Read([]byte(`{"static_resources": {"listeners": [`+b.String()[2:]+`]}}`), envoyconfig.Options{RDS: true})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range r.Documents {
		if d.Type == fleet.Route {
			names[d.Name] = true
		}
	}
	if len(r.Documents) != 2*many || len(names) != many || !names["local"] || !names[fmt.Sprint("local-", many)] {
		t.Errorf("%d documents, %d routes", len(r.Documents), len(names))
	}
}

func TestWhatIsNoConfiguration(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "[]", "a: 1", `{"version_info": "1"}`, `{"resources": null}`, "{", "\x00", "null"} {
		r, err := envoyconfig.Read([]byte(in), envoyconfig.Options{})
		if err == nil || !errors.Is(err, envoyconfig.ErrForm) && !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%q: %+v, %v", in, r, err)
		}
	}
}

// FuzzRead: what is read the API takes, whatever the input. "make fuzz FUZZ=FuzzRead" bounds what Go spends on making an input
// smaller: with these of some kB it is all the time there is, and eight inputs are tried in 20 s, and not 20,000.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"bootstrap.yaml", "dump.json"} {
		in, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in, true, true)
	}
	f.Add([]byte(`{"static_resources":{"clusters":[{"name":"a"},1,{"name":"a","type":7},{}],"secrets":[{"name":"s","generic_secret":{}}],"listeners":7}}`), false, true)
	for _, c := range corpus {
		f.Add([]byte(small(c)), true, true)
	}
	compiler := resource.NewCompiler(resource.Config{VersionKey: make([]byte, 32)})
	f.Fuzz(func(t *testing.T, in []byte, rds, eds bool) {
		r, err := envoyconfig.Read(in, envoyconfig.Options{RDS: rds, EDS: eds})
		if err != nil {
			return
		}
		seen := map[fleet.Ref]bool{}
		for _, d := range r.Documents {
			ref := fleet.Ref{Type: d.Type, Name: d.Name}
			if seen[ref] {
				t.Errorf("%s/%s is there twice", d.Type.Slug(), d.Name)
			}
			seen[ref] = true
			if _, err := compiler.Compile(fleet.Key{}, resource.Document{Type: d.Type, Name: d.Name, Body: d.Body}); err != nil {
				t.Errorf("%s/%s: %v", d.Type.Slug(), d.Name, err)
			}
		}
	})
}

// TestStaticSecretsAreServed: whatever field names a secret of the bootstrap, it asks for it over ADS once it is no
// secret of the bootstrap any more.
func TestStaticSecretsAreServed(t *testing.T) {
	t.Parallel()
	const url = `"@type": "type.googleapis.com/envoy.extensions.`
	for field, filter := range map[string]string{
		"credential":         `{"name": "cred", "typed_config": {` + url + `filters.http.credential_injector.v3.CredentialInjector", "credential": {"name": "cred", "typed_config": {` + url + `http.injected_credentials.generic.v3.Generic", "credential": {"name": "cred"}}}}}`,
		"client_secret":      `{"name": "o", "typed_config": {` + url + `filters.http.credential_injector.v3.CredentialInjector", "credential": {"name": "o", "typed_config": {` + url + `http.injected_credentials.oauth2.v3.OAuth2", "token_endpoint": {"uri": "https://o/t", "cluster": "c", "timeout": "1s"}, "client_credentials": {"client_id": "a", "client_secret": {"name": "cred"}}}}}}`,
		"its own source":     `{"name": "f", "typed_config": {` + url + `filters.http.credential_injector.v3.CredentialInjector", "credential": {"name": "f", "typed_config": {` + url + `http.injected_credentials.generic.v3.Generic", "credential": {"name": "cred", "sds_config": {"path_config_source": {"path": "/s"}}}}}}}`,
		"secret_configs/any": `{"name": "f", "typed_config": {` + url + `filters.http.lua.v3.Lua"}}`,
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			log := ""
			if field == "secret_configs/any" {
				log = `"access_log": [{"name": "a", "typed_config": {` + url + `access_loggers.stream.v3.StdoutAccessLog", "log_format": {"text_format_source": {"inline_string": "a"}, "formatters": [{"name": "s", "typed_config": {` + url + `formatter.generic_secret.v3.GenericSecret", "secret_configs": {"any": {"name": "cred"}}}}]}}}],`
			}
			r, err := envoyconfig.Read([]byte(`{"static_resources": {"secrets": [{"name": "cred", "generic_secret": {"secret": {"inline_string": "x"}}}], "listeners": [{"name": "l", "address": {"socket_address": {"address": "127.0.0.1", "port_value": 1}}, "filter_chains": [{"filters": [{"name": "h",
				"typed_config": {`+url+`filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "x", `+log+` "rds": {"route_config_name": "r", "config_source": {"ads": {}}}, "http_filters": [`+filter+`]}}]}]}]}}`), envoyconfig.Options{})
			if err != nil || len(r.Documents) != 2 {
				t.Fatal(err, shown(t, r))
			}
			l := string(r.Documents[0].Body)
			if served := strings.Contains(l, `{"name":"cred","sds_config":{"ads":{}`); served != (field != "its own source") {
				t.Error(l)
			}
			if strings.Contains(l, `{"name":"cred"}`) {
				t.Error("a secret of the bootstrap is still named:", l)
			}
		})
	}
}

// TestResourcesOfAFile: each type of a DiscoveryResponse becomes its document; what is none is told with its place.
func TestResourcesOfAFile(t *testing.T) {
	t.Parallel()
	documents, left := told(t, `version_info: "7"
nonce: n
canary: no
control_plane: {identifier: x}
colours: []
resources:
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, address: {socket_address: {address: 0.0.0.0, port_value: 81}}}
- {"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: r}
- {"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment, clusterName: e, endpoints: {lb_endpoints: {endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}}}
- {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret, name: s, generic_secret: {secret: {inline_string: x}}}
- {"@type": type.googleapis.com/envoy.service.runtime.v3.Runtime, name: rt, layer: {a: 1}}
- "@type": type.googleapis.com/envoy.service.discovery.v3.Resource
  ttl: 30s
  resource: {"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig, name: x, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
- {"@type": type.googleapis.com/envoy.api.v2.Cluster, name: old}
- {name: none}
- text
`, envoyconfig.Options{})
	if documents != "endpoints/e extensions/x listeners/listener_0.0.0.0_81 routes/r runtimes/rt secrets/s" {
		t.Error(documents)
	}
	want := `left out: colours: line 5: /colours: a DiscoveryResponse has no such field
note: listeners/listener_0.0.0.0_81: it had no name; this one was made of its address
left out: resources: 1 of them are no objects
left out: resources/5: line 13: /resources/5/ttl: the document has it not: write ttl beside its body, or take the file as it is by "fairlead apply"
left out: resources/6: line 15: /resources/6/@type: this is not one of the messages of v3 that xDS serves by name: write one such as type.googleapis.com/envoy.config.cluster.v3.Cluster
left out: resources/7: line 16: /resources/7: "@type" is missing: it names the message, such as type.googleapis.com/envoy.config.cluster.v3.Cluster
`
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
}

// TestManyFaults: of one resource twenty are told; the others are counted.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	for many, last := range map[int]string{
		21: "line 1: /static_resources/clusters/0/x20: Cluster has no such field",
		22: "2 more things in it are wrong",
	} {
		var fields strings.Builder
		for i := range many {
			fmt.Fprintf(&fields, `, "x%02d": 1`, i)
		}
		r, err := envoyconfig.Read([]byte(`{"static_resources": {"clusters": [{"name": "a"`+fields.String()+`}]}}`), envoyconfig.Options{})
		if err != nil || len(r.Left) != 21 || !slices.ContainsFunc(r.Left, func(l envoyconfig.Left) bool { return l.Why == last }) {
			t.Errorf("%d: %v, %+v", many, err, r.Left)
		}
	}
}

// TestFieldsInTwoSpellings: one of them would be lost.
func TestFieldsInTwoSpellings(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"static_resources": {"clusters": []}, "staticResources": {"clusters": [{"name": "a"}]}}`: "/staticResources: this is the same field as static_resources: write it once",
		`{"dynamicResources": {"cds_config": {}, "cdsConfig": {}}}`:                                "/dynamicResources/cdsConfig: this is the same field as cds_config: write it once",
		`{"configs": [], "resources": [], "versionInfo": "1", "version_info": "1"}`:                "/versionInfo: this is the same field as version_info: write it once",
	} {
		if _, err := envoyconfig.Read([]byte(in), envoyconfig.Options{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", in, err)
		}
	}
	const filter = `"filter_chains": [{"filters": [{"name": "h", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "x", "route_config": {"name": "r"}, "routeConfig": {"name": "q"}}}]}]`
	documents, left := told(t, `{"static_resources": {"listeners": [{"name": "a", `+filter+`}]}}`, envoyconfig.Options{RDS: true})
	if documents != "" || left != "left out: listeners/a: line 1: /static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config: this is the same field as routeConfig\n" {
		t.Error(documents, left)
	}
}

// TestWhereWhatWasTakenOutStands: what is wrong with routes and endpoints is told at their place, with --rds and --eds too.
func TestWhereWhatWasTakenOutStands(t *testing.T) {
	t.Parallel()
	documents, left := told(t, `static_resources:
  listeners:
  - name: l
    address: {socket_address: {address: 0.0.0.0, port_value: 81}}
    filter_chains:
      filters:
        name: h
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: x
          routeConfig:
            name: r
            virtual_hosts:
            - {name: v, domains: ["*"], require_ssl: all}
  clusters:
  - name: c
    type: static
    http2_protocol_options: {}
    load_assignment:
      endpoints:
      - {lb_endpoints: {endpoint: {}, heath_status: healthy}}
watchdog: {}
admin: {access_log_path: /dev/null}
dynamic_resources: {lds_config: {path: /etc/lds.yaml}, cds_config: {pathConfigSource: {path: /etc/cds.yaml, watchedDirectory: {path: /etc}}}}
`, envoyconfig.Options{RDS: true, EDS: true})
	if documents != "clusters/c listeners/l" {
		t.Error(documents)
	}
	want := `note: admin: it is the proxy's own: "fairlead bootstrap" takes it by --admin
note: admin.access_log_path: line 23: /admin/access_log_path: Envoy's API has deprecated this field: write access_log
note: clusters/c: line 18: /static_resources/clusters/0/http2_protocol_options: Envoy's API has deprecated this field: write typed_extension_protocol_options, with envoy.extensions.upstreams.http.v3.HttpProtocolOptions
note: dynamic_resources: "fairlead bootstrap" writes it for Fairlead's xDS servers
note: dynamic_resources.cds_config: line 24: /dynamic_resources/cds_config: its resources are in the file /etc/cds.yaml: import that as well
note: dynamic_resources.lds_config: line 24: /dynamic_resources/lds_config: its resources are in the file /etc/lds.yaml: import that as well
left out: endpoints/c: line 21: /static_resources/clusters/0/load_assignment/endpoints/0/lb_endpoints/0/heath_status: LbEndpoint has no such field: is health_status meant?
left out: routes/r: line 14: /static_resources/listeners/0/filter_chains/0/filters/0/typed_config/routeConfig/virtual_hosts/0/require_ssl: VirtualHost has no such field: is require_tls meant?
left out: watchdog: a control plane does not serve it: it belongs into the proxies' bootstrap; add it to what "fairlead bootstrap" writes
note: watchdog: line 22: /watchdog: Envoy's API has deprecated this field: write watchdogs
`
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
}

// TestWhatNoBootstrapHas: Envoy refuses a file with it, so that it goes into no other one.
func TestWhatNoBootstrapHas(t *testing.T) {
	t.Parallel()
	for key, words := range map[string]string{
		"x-anchors": "Bootstrap has no such field. ", "watchdogss": "Bootstrap has no such field: is watchdogs meant?", "listeners": "Bootstrap has no such field",
		"watchdogs": "", "statsSinks": "", "flags_path": "", "runtime": "", // that was once
	} {
		_, left := told(t, key+": {}\nstatic_resources: {clusters: [{name: c}]}\n", envoyconfig.Options{})
		if no := strings.Contains(left, "has no such field"); no != (words != "") || !strings.Contains(left, "left out: "+key+": "+words) {
			t.Errorf("%s: %s", key, left)
		}
	}
}

// TestADumpKeepsWhatMetadataSays: what a proxy found out about an endpoint stands in the endpoint, and not in what its owner wrote beside it.
func TestADumpKeepsWhatMetadataSays(t *testing.T) {
	t.Parallel()
	in := `{"configs":[{"@type":"type.googleapis.com/envoy.admin.v3.EndpointsConfigDump","dynamic_endpoint_configs":[{"endpoint_config":{
		"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","cluster_name":"a","endpoints":[{"lb_endpoints":[{
		"endpoint":{"address":{"socket_address":{"address":"10.0.0.1","port_value":80}}},"health_status":"HEALTHY",
		"metadata":{"filter_metadata":{"envoy.lb":{"health_status":"HEALTHY","load_balancing_weight":0}}}}]}]}}]}]}`
	r, err := envoyconfig.Read([]byte(in), envoyconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := shown(t, r)
	if len(r.Documents) != 1 {
		t.Fatal(text)
	}
	if body := string(r.Documents[0].Body); !strings.Contains(body, "health_status") || !strings.Contains(body, "load_balancing_weight") {
		t.Errorf("the metadata lost what it said, and nobody is told:\n%s", text)
	}
}

// TestPartsOfWhatIsLeftOut: what was made of parts of a resource is left out with it, unless another resource that is taken over has the same part, or the
// part stands in the text by itself.
func TestPartsOfWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	both := envoyconfig.Options{RDS: true, EDS: true}
	const url = `"@type": "type.googleapis.com/envoy.`
	listener := func(name, more, routes string) string {
		return `{"name": "` + name + `", ` + more + ` "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [{"name": "h", "typed_config": {` + url +
			`extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "x", "route_config": ` + routes + `}}]}]}`
	}
	cluster := func(name, more, endpoints string) string {
		return `{"name": "` + name + `", ` + more + ` "load_assignment": ` + endpoints + `}`
	}
	const wrong, routes = `"x": 1,`, `{"name": "r", "virtual_hosts": [{"name": "v", "domains": ["*"]}]}`
	for name, c := range map[string]struct {
		in              string
		o               envoyconfig.Options
		documents, left string
	}{
		"routes and endpoints": {
			in:        `{"static_resources": {"listeners": [` + "\n" + listener("l", wrong, routes) + ",\n" + listener("m", "", `{"virtual_hosts": []}`) + `], "clusters": [` + "\n" + cluster("c", wrong, `{}`) + ",\n" + cluster("d", "", `{}`) + `]}}`,
			o:         both,
			documents: "clusters/d endpoints/d listeners/m routes/m",
			left: `left out: clusters/c: line 4: /static_resources/clusters/0/x: Cluster has no such field
left out: endpoints/c: line 4: /static_resources/clusters/0/load_assignment: it is a part of clusters/c, which is left out
left out: listeners/l: line 2: /static_resources/listeners/0/x: Listener has no such field
left out: routes/r: line 2: /static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config: it is a part of listeners/l, which is left out
`,
		},
		"of several": {
			in: `{"static_resources": {"listeners": [` + listener("l", wrong, routes) + "," + listener("m", wrong, routes) + `], "clusters": [` +
				cluster("c", wrong, `{"cluster_name": "e"}`) + "," + cluster("d", "", `{"cluster_name": "e"}`) + `]}}`,
			o:         both,
			documents: "clusters/d endpoints/e",
			left: `left out: clusters/c: line 1: /static_resources/clusters/0/x: Cluster has no such field
left out: listeners/l: line 1: /static_resources/listeners/0/x: Listener has no such field
left out: listeners/m: line 1: /static_resources/listeners/1/x: Listener has no such field
left out: routes/r: line 1: /static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config: it is a part of listeners/l and of 1 more, which are left out
`,
		},
		"routes that are wrong themselves": {
			in: `{"static_resources": {"listeners": [` + listener("l", wrong, `{"name": "r", "y": 1}`) + `]}}`,
			o:  both,
			left: `left out: listeners/l: line 1: /static_resources/listeners/0/x: Listener has no such field
left out: routes/r: line 1: /static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config/y: RouteConfiguration has no such field
`,
		},
		"routes that came over xDS too": {
			in: `{"configs": [{` + url + `admin.v3.ListenersConfigDump", "static_listeners": [{"listener": ` + listener("l", wrong, routes) + `}]},
				{` + url + `admin.v3.RoutesConfigDump", "dynamic_route_configs": [{"route_config": ` + routes + `}]}]}`,
			o:         both,
			documents: "routes/r",
			left:      "left out: listeners/l: line 1: /configs/0/static_listeners/0/listener/x: Listener has no such field\n",
		},
		"a cluster that is there again, and cannot be read then": {
			in:        `{"static_resources": {"clusters": [` + cluster("c", "", `{}`) + "," + cluster("c", `"lb_policy": "RANDOM", "lbPolicy": "RANDOM",`, `{}`) + `]}}`,
			o:         both,
			documents: "clusters/c endpoints/c",
			left:      "left out: clusters/c: line 1: /static_resources/clusters/1/lb_policy: this is the same field as lbPolicy\n",
		},
		"a certificate with its key": {
			in: `{"static_resources": {"clusters": [{"name": "c", "x": 1, "transport_socket": {"name": "tls", "typed_config": {` + url + `extensions.transport_sockets.tls.v3.UpstreamTlsContext",` +
				`"common_tls_context": {"tls_certificates": [{"certificate_chain": {"filename": "/c"}, "private_key": {"inline_string": "k"}}]}}}}]}}`,
			left: `note: clusters/c: its certificate with the private key became secrets/c-tls
left out: clusters/c: line 1: /static_resources/clusters/0/x: Cluster has no such field
note: secrets/c-tls: line 1: /static_resources/clusters/0/transport_socket/typed_config/common_tls_context/tls_certificates/0/certificate_chain: the proxies read this from their own file /c, which nobody here checks: "fairlead secret" makes a secret of it
left out: secrets/c-tls: line 1: /static_resources/clusters/0/transport_socket/typed_config/common_tls_context/tls_certificates/0: it is a part of clusters/c, which is left out
`,
		},
		"endpoints that a dump shows of a cluster that has names": {
			in: `{"configs": [{` + url + `admin.v3.ClustersConfigDump", "dynamic_active_clusters": [{"cluster": {"name": "dns", "type": "STRICT_DNS", "lb_policy": "RANDOM", "lbPolicy": "RANDOM"}},
					{"cluster": {"name": "eds", "type": "EDS", "lb_policy": "RANDOM", "lbPolicy": "RANDOM"}}]},
				{` + url + `admin.v3.EndpointsConfigDump", "dynamic_endpoint_configs": [{"endpoint_config": {"cluster_name": "dns"}}, {"endpoint_config": {"cluster_name": "eds"}}]}]}`,
			documents: "endpoints/eds", // which came over xDS, for whichever cluster
			left: `left out: clusters/dns: line 1: /configs/0/dynamic_active_clusters/0/cluster/lb_policy: this is the same field as lbPolicy
left out: clusters/eds: line 2: /configs/0/dynamic_active_clusters/1/cluster/lb_policy: this is the same field as lbPolicy
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, left := told(t, c.in, c.o)
			if documents != c.documents || left != c.left {
				t.Errorf("documents %s, want %s\n%s", documents, c.documents, cmp.Diff(c.left, left))
			}
		})
	}
}
