package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/cmd/internal/doctor"
)

// TestDoctorAsksWhatIsGiven: the API alone, and a setting that is missing is told.
func TestDoctorAsksWhatIsGiven(t *testing.T) {
	t.Parallel()
	w := live(t)
	r := w.on("edge", "", "doctor")
	if r.code != exitOK || !strings.Contains(r.out, "ok           api.fleet            acme/edge is at revision 0\n") || !strings.Contains(r.out, "not checked  node.* (") {
		t.Errorf("%+v", r)
	}
	if r := w.on("none", "", "doctor"); r.code != exitFailed || !strings.Contains(r.out, "FAILED       api.fleet") || r.err != "" {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"--token-file", w.tokenFile()}, {"--server", w.url}, {"--bootstrap", "x", "--server", w.url}, {"--context", "none"}} {
		if r := w.bare("", append([]string{"doctor"}, args...)...); r.code != exitUsage || r.out != "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
	r = w.bare("", "doctor", "--database", "postgres://x:must-not-be-seen@127.0.0.1:1/x")
	if r.code != exitFailed || !strings.Contains(r.err, "give the variable FAIRLEAD_DATABASE_URL") {
		t.Errorf("%+v", r)
	}
	r = w.bare("", "doctor", "--database", "postgres://x@127.0.0.1:1/x") // its password may be in PGPASSFILE
	if r.code != exitFailed || strings.Contains(r.err, "warning") {
		t.Errorf("%+v", r)
	}
}

// TestDoctorTellsNoSecret: wherever one stands in what it reads.
func TestDoctorTellsNoSecret(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.file("token", "a-node-token-that-must-not-be-seen")
	w.file("node.yaml", `{"node": {"id": "n"}, "dynamic_resources": {"ads_config": {"grpc_services": [{"envoy_grpc": {"cluster_name": "c"},
		"initial_metadata": [{"key": "authorization", "value": "Bearer must-not-be-seen"}]}]}},
		"static_resources": {"clusters": [{"name": "c", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 1}}}}]}]}}]}}`)
	w.file("grpc.json", `{"node": {"id": "n"}, "xds_servers": [{"server_uri": "127.0.0.1:1", "channel_creds": [{"type": "insecure"}],
		"call_creds": [{"type": "jwt_token_file", "config": {"jwt_token_file": "`+filepath.Join(w.dir, "token")+`"}}]}]}`)
	for _, name := range []string{"node.yaml", "grpc.json"} {
		for _, url := range []string{"postgres://x:must-not-be-seen@127.0.0.1:1/x", "postgres://x:must-not-be-seen@db.example.com/x", "host=127.0.0.1 port=1 password=must-not-be-seen", "postgres://x:must-not-be-seen@%zz"} {
			for _, more := range [][]string{nil, {"--json"}} {
				r := w.run(append([]string{"doctor", "--bootstrap", filepath.Join(w.dir, name), "--database", url, "--listen-database", url}, more...)...) // looks for the words
				if r.code != exitFailed {
					t.Errorf("%+v", r)
				}
			}
		}
	}
	var report doctor.Report
	r := w.bare("", "doctor", "--json", "--bootstrap", filepath.Join(w.dir, "none"))
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || report.Faults != 1 || len(report.Checks) != len(doctor.Checks()) {
		t.Errorf("%v: %+v", err, report)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "none")); err == nil {
		t.Error("a file was made")
	}
}

// TestASupportBundleIsWrittenOnce, for its owner alone; what is there already stays.
func TestASupportBundleIsWrittenOnce(t *testing.T) {
	t.Parallel()
	w := live(t)
	r := w.on("edge", "", "support-bundle", "--json")
	var has struct {
		Path  string   `json:"path"`
		Files []string `json:"files"`
	}
	if err := json.Unmarshal([]byte(r.out), &has); err != nil || r.code != exitOK || len(has.Files) < 10 {
		t.Fatalf("%v: %+v", err, r)
	}
	path := strings.Replace(has.Path, "DIR", w.dir, 1)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(filepath.Base(path), "fairlead-support-") {
		t.Errorf("%s: %v, %v", path, info, err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r := w.on("edge", "", "support-bundle", path); r.code != exitFailed || !strings.Contains(r.err, "file exists") {
		t.Errorf("%+v", r)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("it was written over: %v", err)
	}
	if r := w.bare("", "support-bundle"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}
