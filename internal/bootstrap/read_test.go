package bootstrap_test

import (
	"strings"
	"testing"

	"fairlead/internal/bootstrap"
)

// TestAWayIsReadBack: from each file that is written.
func TestAWayIsReadBack(t *testing.T) {
	t.Parallel()
	full := bootstrap.Config{NodeID: "edge-1", XDSAddresses: []string{"xds.example.com:18000"}, CAFile: "/ca.pem", TokenFile: "/etc/token"}
	for name, c := range map[string]struct {
		client bootstrap.Client
		change change
		want   bootstrap.Way
	}{
		"Envoy":        {bootstrap.ClientEnvoy, nil, bootstrap.Way{SNI: "xds.example.com", TokenSDSFile: "/etc/fairlead_token.yaml"}},
		"another name": {bootstrap.ClientEnvoy, func(c *bootstrap.Config) { c.ServerName = "other" }, bootstrap.Way{SNI: "other", ServerName: "other", TokenSDSFile: "/etc/fairlead_token.yaml"}},
		"a variable":   {bootstrap.ClientEnvoy, func(c *bootstrap.Config) { c.TokenFile, c.TokenEnv = "", "T" }, bootstrap.Way{SNI: "xds.example.com", TokenEnv: "T"}},
		"plaintext":    {bootstrap.ClientEnvoy, func(c *bootstrap.Config) { c.TokenFile, c.CAFile, c.TokenEnv, c.Plaintext = "", "", "T", true }, bootstrap.Way{Plaintext: true, TokenEnv: "T"}},
		"REST":         {bootstrap.ClientEnvoy, func(c *bootstrap.Config) { c.REST = true }, bootstrap.Way{REST: true, SNI: "xds.example.com", TokenSDSFile: "/etc/fairlead_token.yaml"}},
		"google":       {bootstrap.ClientGoogleGRPC, func(c *bootstrap.Config) { c.ServerName = "other" }, bootstrap.Way{SNI: "other", ServerName: "other", TokenFile: "/etc/token"}},
		"relay":        {bootstrap.ClientRelay, nil, bootstrap.Way{SNI: "xds.example.com", TokenSDSFile: "/etc/fairlead_token.yaml"}},
		"gRPC":         {bootstrap.ClientGRPC, nil, bootstrap.Way{TokenFile: "/etc/token"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conf := full
			if c.change != nil {
				c.change(&conf)
			}
			text, err := bootstrap.Write(c.client, conf.For(c.client))
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			want.Client, want.NodeID = c.client, "edge-1"
			if want.ServerName == "" && !want.Plaintext {
				want.ServerName = "xds.example.com"
			}
			if !want.Plaintext {
				want.CAFile = "/ca.pem"
			}
			if want.Generation = "2"; c.client == bootstrap.ClientGRPC {
				want.Generation = ""
			}
			got, err := bootstrap.ReadWay(text)
			if len(got.Addresses) != 1 || got.Addresses[0] != "xds.example.com:18000" {
				t.Errorf("%v", got.Addresses)
			}
			got.Addresses = nil
			if err != nil || !equalWays(got, want) || got.Old() {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func equalWays(a, b bootstrap.Way) bool {
	return a.Client == b.Client && a.NodeID == b.NodeID && a.Generation == b.Generation && a.REST == b.REST && a.Plaintext == b.Plaintext &&
		a.CAFile == b.CAFile && a.SNI == b.SNI && a.ServerName == b.ServerName && a.TokenFile == b.TokenFile && a.TokenSDSFile == b.TokenSDSFile && a.TokenEnv == b.TokenEnv
}

// TestAWayOfAnotherHand: Envoy takes both spellings of a field, and a token may stand in the file.
func TestAWayOfAnotherHand(t *testing.T) {
	t.Parallel()
	text := `{"node": {"id": "n"}, "dynamicResources": {"adsConfig": {"apiType": "GRPC", "grpcServices": [{"envoyGrpc": {"clusterName": "control"}, "initialMetadata": [{"key": "authorization", "value": "Bearer secret"}]}]}},
		"staticResources": {"clusters": [{"name": "control", "loadAssignment": {"endpoints": [{"lbEndpoints": [{"endpoint": {"address": {"socketAddress": {"address": "10.0.0.1", "portValue": 18000}}}}]}]}}]}}`
	w, err := bootstrap.ReadWay([]byte(text))
	if err != nil || w.NodeID != "n" || len(w.Addresses) != 1 || w.Addresses[0] != "10.0.0.1:18000" || !w.Plaintext || w.Token != "secret" || !w.Old() {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestABrokenBootstrapIsRefused without a word of what stands in it.
func TestABrokenBootstrapIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "secret: [", "- secret", "secret", `{"xds_servers": []}`, `{"xds_servers": "secret"}`, `{"dynamic_resources": {"ads_config": {"grpc_services": ["secret"]}}}`, "null"} {
		if w, err := bootstrap.ReadWay([]byte(text)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %+v, %v", text, w, err)
		}
	}
	for text, want := range map[string][3]string{
		`{"resources": [{"generic_secret": {"secret": {"filename": "t"}}}]}`:        {"/etc/t", "", ""},
		`{"resources": [{"generic_secret": {"secret": {"inline_string": "abc"}}}]}`: {"", "abc", ""},
		`{"resources": []}`: {"", "", "error"},
		`[`:                 {"", "", "error"},
	} {
		file, token, err := bootstrap.ReadTokenSDS([]byte(text), "/etc/sds.yaml")
		if file != want[0] || token != want[1] || (err != nil) != (want[2] != "") {
			t.Errorf("%s: %q %q %v", text, file, token, err)
		}
	}
}
