package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

func TestBootstrap(t *testing.T) {
	t.Parallel()
	out := func() string { return filepath.Join(t.TempDir(), "out.yaml") }
	for name, c := range map[string]struct {
		args  string
		code  int
		says  string // words that are printed, or stand in the file of --out
		warns string // words on the other output
		sds   bool   // the file that names the token's is written
	}{
		"with a variable":    {"--node-id n1 --xds xds.example.com:443", exitOK, `"n1" ENVIRONMENT(FAIRLEAD_NODE_TOKEN) xds.example.com DELTA_GRPC`, "", false},
		"plaintext":          {"--node-id n1 --xds 127.0.0.1:18000 --plaintext --token-env T --sotw", exitOK, `ENVIRONMENT(T) GRPC`, "", false},
		"a locality":         {"--node-id n1 --xds a:1 --region r --zone z --sub-zone s", exitOK, `region: "r", zone: "z", sub_zone: "s"`, "", false},
		"metadata":           {`--node-id n1 --xds a:1 --metadata stage=test --metadata on=true --metadata n=5 --metadata v=1.10 --metadata a.b={"c":[1]}`, exitOK, `metadata: {"a.b":{"c":[1]},"fairlead":{"bootstrap":2},"n":5,"on":true,"stage":"test","v":"1.10"}`, "", false},
		"labels":             {`--node-id n1 --xds a:1 --metadata app={"tier":"front"} --label metadata.app.n=5 --label locality.region=eu --label node.cluster=edge`, exitOK, `{"app":{"n":"5","tier":"front"},"fairlead":{"bootstrap":2}} "eu" "edge"`, "", false},
		"labels, grpc":       {`--client grpc --node-id n1 --xds a:1 --plaintext --label metadata."a.example/b"=c`, exitOK, `"a.example/b": "c"`, "", false},
		"a file":             {"--node-id n1 --xds a:1 --token-file /etc/token --out OUT", exitOK, "fairlead_token.yaml", "/etc/token there is no file", true},
		"google-grpc":        {"--client google-grpc --node-id n1 --xds a:1 --token-file /etc/token", exitOK, `google_grpc "/etc/token" DELTA_GRPC`, "/etc/token there is no file", false},
		"google-grpc, SotW":  {"--client google-grpc --node-id n1 --xds a:1 --token-file /etc/token --sotw", exitOK, "api_type: GRPC", "/etc/token there is no file", false},
		"relay":              {"--client relay --node-id n1 --xds a:1 --relay-listen 127.0.0.1:7", exitOK, `relay ENVIRONMENT(FAIRLEAD_NODE_TOKEN) 7`, "", false},
		"relay, file":        {"--client relay --node-id n1 --xds a:1 --xds b:1 --token-file /etc/token --out OUT", exitOK, "18002 fairlead_token.yaml", "/etc/token there is no file", true},
		"grpc, plaintext":    {"--client grpc --node-id n1 --xds 127.0.0.1:18002 --plaintext", exitOK, `insecure "n1" locality`, "", false},
		"grpc, token":        {"--client grpc --node-id n1 --xds a:1 --token-file /etc/token", exitOK, "jwt_token_file /etc/token", "GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS=true newline", false},
		"grpc, two servers":  {"--client grpc --node-id n1 --xds a:1,b:1 --plaintext", exitOK, `"a:1" "b:1"`, "next one name", false},
		"a failover":         {"--node-id n1 --xds a:1 --failover b:1", exitOK, "fairlead_xds_failover xds_failover_support", "failover first", false},
		"a relay's failover": {"--client relay --node-id n1 --xds a:1 --failover b:1", exitUsage, "", "--failover relay", false},
		"metadata, no value": {"--node-id n1 --xds a:1 --metadata stage", exitUsage, "", "--metadata KEY=VALUE", false},
		"a socket":           {"--node-id n1 --xds a:1 --admin /run/envoy/admin.sock", exitOK, `pipe: "/run/envoy/admin.sock", mode: 384`, "", false},
		"an admin port":      {"--node-id n1 --xds a:1 --admin 127.0.0.1:9901", exitOK, `port_value: 9901`, "Whoever 127.0.0.1:9901 socket", false},
		"a relative socket":  {"--node-id n1 --xds a:1 --admin admin.sock", exitUsage, "", "--admin host:port absolute", false},
		"a long socket":      {"--node-id n1 --xds a:1 --admin /" + strings.Repeat("s", 107), exitUsage, "", "--admin 107", false},
		"Fairlead's own":     {"--node-id n1 --xds a:1 --metadata fairlead=x", exitUsage, "", "--metadata fairlead", false},
		"metadata twice":     {"--node-id n1 --xds a:1 --metadata a=b --metadata a=c", exitUsage, "", "--metadata twice", false},
		"a control in it":    {"--node-id n1 --xds a:1 --metadata a=\x7f", exitUsage, "", "--metadata control", false},
		"a bare label":       {"--node-id n1 --xds a:1 --label role=edge", exitUsage, "", "--label metadata.role=edge", false},
		"no label":           {"--node-id n1 --xds a:1 --label metadata.a^=b", exitUsage, "", "--label metadata.a=value", false},
		"a label twice":      {"--node-id n1 --xds a:1 --metadata a=b --label metadata.a.c=d", exitUsage, "", "--label metadata.a.c twice", false},
		"a region twice":     {"--node-id n1 --xds a:1 --region us --label locality.region=eu", exitUsage, "", "--label locality.region us", false},
		"its id as a label":  {"--node-id n1 --xds a:1 --label node.id=n2", exitUsage, "", "--label --node-id", false},
		"its client's name":  {"--node-id n1 --xds a:1 --label client.name=envoy", exitUsage, "", "--label client.name", false},
		"files":              {"--node-id n1 --api files /xds --admin /a.sock --metadata a=b", exitOK, `"/xds/cds.json" "/xds/lds.json" path_config_source "n1" "a":"b" "/a.sock"`, "", false},
		"files, no folder":   {"--node-id n1 --api files", exitUsage, "", "--api files folder", false},
		"files of a server":  {"--node-id n1 --api files /xds --xds a:1", exitUsage, "", "--xds an Envoy that reads files", false},
		"files with a token": {"--node-id n1 --api files /xds --token-env T", exitUsage, "", "--token-env an Envoy that reads files", false},
		"files, SotW":        {"--node-id n1 --api files /xds --sotw", exitUsage, "", "--api files --sotw", false},
		"files for gRPC":     {"--client grpc --node-id n1 --api files /xds", exitUsage, "", "--api files envoy", false},
		"fallback, files":    {"--node-id n1 --api files /xds --fallback-dir /xds", exitUsage, "", "--fallback-dir --api", false},
		"fallback, relay":    {"--client relay --node-id n1 --xds a:1 --fallback-dir /xds", exitUsage, "", "--fallback-dir --client envoy", false},
		"fallback, no time":  {"--node-id n1 --xds a:1 --fallback-dir /xds --fallback-after 0s", exitUsage, "", "--fallback-after", false},
		"fallback, no token": {"--node-id n1 --xds 127.0.0.1:1 --plaintext --fallback-dir /xds", exitUsage, "", "node token FAIRLEAD_NODE_TOKEN", false},
		"a folder alone":     {"--node-id n1 --xds a:1 /xds", exitUsage, "", "/xds --api files", false},
		"no server":          {"--node-id n1", exitUsage, "", "missing --xds", false},
		"a bad address":      {"--node-id n1 --xds nowhere", exitUsage, "", "--xds nowhere", false},
		"no node":            {"--xds a:1", exitUsage, "", "--node-id", false},
		"an unknown client":  {"--client java --node-id n1 --xds a:1", exitUsage, "", "--client envoy google-grpc grpc relay", false},
		"Envoy's out":        {"--node-id n1 --xds a:1 --out /nowhere/envoy.conf", exitUsage, "", "--out .yaml", false},
		"a file and no out":  {"--node-id n1 --xds a:1 --token-file /t", exitUsage, "", "--out", false},
		"two tokens":         {"--node-id n1 --xds a:1 --token-file /t --token-env T", exitUsage, "", "--token-file --token-env", false},
		"CA in plaintext":    {"--node-id n1 --xds a:1 --plaintext --ca-file /ca", exitUsage, "", "--ca-file plaintext", false},
		"a relay's flag":     {"--node-id n1 --xds a:1 --relay-listen 127.0.0.1:7", exitUsage, "", "--relay-listen Envoy", false},
		"relay for all":      {"--client relay --node-id n1 --xds a:1 --relay-listen 0.0.0.0:7", exitUsage, "", "--relay-listen loopback", false},
		"relay, SotW":        {"--client relay --node-id n1 --xds a:1 --sotw", exitUsage, "", "--sotw relay", false},
		"google-grpc, env":   {"--client google-grpc --node-id n1 --xds a:1 --token-env T", exitUsage, "", "--token-env google-grpc", false},
		"google-grpc, none":  {"--client google-grpc --node-id n1 --xds a:1", exitUsage, "", "--token-file must", false},
		"google-grpc, plain": {"--client google-grpc --node-id n1 --xds a:1 --token-file /t --plaintext", exitUsage, "", "--plaintext", false},
		"google-grpc, two":   {"--client google-grpc --node-id n1 --xds a:1 --xds b:1 --token-file /t", exitUsage, "", "--xds one", false},
		"grpc, nothing":      {"--client grpc --node-id n1 --xds a:1", exitUsage, "", "--token-file plaintext relay --open-xds", false},
		"grpc, both":         {"--client grpc --node-id n1 --xds a:1 --plaintext --token-file /t", exitUsage, "", "--token-file clear", false},
		"grpc, env":          {"--client grpc --node-id n1 --xds a:1 --token-env T", exitUsage, "", "--token-env gRPC", false},
		"grpc, server name":  {"--client grpc --node-id n1 --xds a:1 --token-file /t --server-name b", exitUsage, "", "--server-name", false},
		"grpc, admin":        {"--client grpc --node-id n1 --xds a:1 --plaintext --admin 127.0.0.1:1", exitUsage, "", "--admin", false},
		"grpc, SotW":         {"--client grpc --node-id n1 --xds a:1 --plaintext --sotw", exitUsage, "", "--sotw", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := out()
			var printed, warned bytes.Buffer
			args := append([]string{"bootstrap"}, strings.Fields(strings.ReplaceAll(c.args, "OUT", file))...)
			if code := run(t.Context(), &shell{out: &printed, err: &warned}, args); code != c.code {
				t.Errorf("exit status %d, want %d: %s", code, c.code, warned.String())
			}
			text := printed.String()
			if strings.Contains(c.args, "OUT") {
				text += string(readFile(t, file))
			}
			wantWords(t, text, c.says)
			wantWords(t, warned.String(), c.warns)
			_, err := os.Stat(filepath.Join(filepath.Dir(file), "fairlead_token.yaml"))
			if (err == nil) != c.sds {
				t.Errorf("the file that names the token's: %v, want it: %t", err, c.sds)
			}
		})
	}
}

// TestBootstrapLooksAtTheToken: no client says what is wrong with its file.
func TestBootstrapLooksAtTheToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, good, _ := auth.NewNodeToken(time.Time{})
	_, api, _ := auth.NewAPIToken(auth.KindOperator)
	for name, c := range map[string]struct {
		client, text string // "": there is no file
		code         int
		warns        string
	}{
		"good":                  {"envoy", good, exitOK, ""},
		"a newline":             {"envoy", good + "\n", exitOK, "newline 1.40 printf"},
		"a newline, relay":      {"relay", good + "\n", exitOK, "newline 1.40 printf"},
		"a newline, grpc":       {"grpc", good + "\n", exitUsage, "--token-file newline printf"},
		"a newline, google":     {"google-grpc", good + "\n", exitUsage, "--token-file newline printf"},
		"two newlines":          {"envoy", good + "\n\n", exitUsage, "--token-file printf"},
		"of another system":     {"envoy", good + "\r\n", exitUsage, "--token-file printf"},
		"what a command prints": {"envoy", "token: " + good, exitUsage, "--token-file printf"},
		"nothing in it":         {"envoy", " ", exitUsage, "--token-file printf"},
		"an API token":          {"envoy", api, exitOK, "node token (flf1...)"},
		"no file":               {"envoy", "", exitOK, "there is no file printf"},
		"no file, grpc":         {"grpc", "", exitOK, "there is no file printf"},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "_"))
		if c.text != "" {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var printed, warned bytes.Buffer
		out := filepath.Join(t.TempDir(), "b.yaml")
		code := run(t.Context(), &shell{out: &printed, err: &warned}, []string{"bootstrap", "--client", c.client, "--node-id", "n1", "--xds", "a:1", "--token-file", file, "--out", out})
		if code != c.code {
			t.Errorf("%s: exit status %d, want %d: %s", name, code, c.code, warned.String())
		}
		if c.warns == "" && warned.Len() > 0 || c.warns != "" && !strings.Contains(warned.String(), file) {
			t.Errorf("%s: it says %q", name, warned.String())
		}
		wantWords(t, warned.String(), c.warns)
		if strings.Contains(warned.String(), good) {
			t.Errorf("%s: it tells the token: %s", name, warned.String())
		}
		if _, err := os.Stat(out); (err == nil) != (c.code == exitOK) {
			t.Errorf("%s: the file is there: %t", name, err == nil)
		}
	}
}

// TestBootstrapFallsBack: where no server answers the file is that of the folder, if an Envoy can start from it.
func TestBootstrapFallsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token, folder, out := filepath.Join(dir, "token"), filepath.Join(dir, "xds"), filepath.Join(dir, "envoy.yaml")
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, good, _ := auth.NewNodeToken(time.Time{})
	write(token, good+"\n")
	bootstrap := func() (int, string) {
		var printed, warned bytes.Buffer
		code := run(t.Context(), &shell{out: &printed, err: &warned}, []string{
			"bootstrap", "--node-id", "n1", "--region", "eu", "--label", "metadata.a=b", "--xds", "127.0.0.1:1", "--plaintext", "--token-file", token,
			"--fallback-dir", folder, "--fallback-after", "10ms", "--out", out, "--admin", "/a.sock",
		})
		return code, warned.String()
	}
	code, words := bootstrap()
	wantWords(t, words, "127.0.0.1:1 "+filepath.Join(folder, "cds.json")+" sync")
	if _, err := os.Stat(out); code != exitFailed || err == nil {
		t.Errorf("exit status %d, %v", code, err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(folder, "eds", "a.json")
	write(filepath.Join(folder, "cds.json"), `{"resources": [{"eds_cluster_config": {"eds_config": {"path_config_source": {"path": "`+missing+`"}}}}]}`)
	write(filepath.Join(folder, "lds.json"), "{}")
	code, words = bootstrap()
	wantWords(t, words, "127.0.0.1:1 "+missing+" "+filepath.Join(folder, "cds.json")+" sync")
	if _, err := os.Stat(out); code != exitFailed || err == nil {
		t.Errorf("exit status %d, %v", code, err)
	}
	write(filepath.Join(folder, "cds.json"), "{}")
	code, words = bootstrap()
	if code != exitOK {
		t.Fatalf("exit status %d: %s", code, words)
	}
	wantWords(t, words, "no server can be asked 127.0.0.1:1 "+folder)
	text := string(readFile(t, out))
	wantWords(t, text, folder+"/cds.json "+folder+`/lds.json "n1" "eu" "a":"b" /a.sock`)
	if strings.Contains(text, "fairlead_xds") {
		t.Errorf("it asks a server:\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "fairlead_token.yaml")); err == nil {
		t.Error("files need no token, and one is named")
	}
}

// What --label writes is what the same text asks for as a selector.
func TestBootstrapLabelsMatchTheirSelectors(t *testing.T) {
	t.Parallel()
	labels := []string{
		"node.cluster=edge", "locality.region=eu", "locality.zone=eu-1", "locality.sub_zone=rack-3",
		"metadata.canary=true", "metadata.app.tier=front", `metadata.app."a.example/b"="two words"`, `metadata.empty=""`,
	}
	args := []string{"bootstrap", "--node-id", "n1", "--xds", "a:1"}
	for _, l := range labels {
		args = append(args, "--label", l)
	}
	var printed, warned bytes.Buffer
	if code := run(t.Context(), &shell{out: &printed, err: &warned}, args); code != exitOK {
		t.Fatalf("exit status %d: %s", code, warned.String())
	}
	var file struct {
		Node struct {
			ID, Cluster string
			Locality    struct {
				Region, Zone string
				SubZone      string `json:"sub_zone"`
			}
			Metadata json.RawMessage
		}
	}
	if err := yaml.Unmarshal(printed.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	n := file.Node
	node := fleet.Node{ID: n.ID, Cluster: n.Cluster, Region: n.Locality.Region, Zone: n.Locality.Zone, SubZone: n.Locality.SubZone, MetadataJSON: n.Metadata}
	for _, l := range labels {
		s, err := selector.Parse(l)
		if err != nil || !s.Match(node) {
			t.Errorf("%s does not match the node %+v (%v)", l, node, err)
		}
	}
}

// wantWords fails unless every word stands in the text, or there are neither.
func wantWords(t *testing.T, text, words string) {
	t.Helper()
	if words == "" && text != "" {
		t.Errorf("said %q, want nothing", text)
	}
	for _, w := range strings.Fields(words) {
		if !strings.Contains(text, w) {
			t.Errorf("no %s in %q", w, text)
		}
	}
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
