package deploy

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fairlead/internal/bootstrap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// root is the repository.
const root = "../.."

// passwords is what compose-env writes.
func passwords() types.Mapping {
	return types.Mapping{"POSTGRES_PASSWORD": "a1", "FAIRLEAD_APP_PASSWORD": "b2", "FAIRLEAD_NODE_PASSWORD": "c3"}
}

func load(t *testing.T, env types.Mapping) (*types.Project, error) {
	t.Helper()
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "docker-compose.yml")}},
		Environment: env,
	}, func(o *loader.Options) { o.Profiles = []string{"*"} })
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := load(t, passwords())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestComposeServices(t *testing.T) {
	t.Parallel()
	p := project(t)
	want := map[string][]string{ // service -> what it waits for
		"postgres": nil, "migrate": {"postgres"}, "api": {"migrate"}, "xds-1": {"migrate"}, "xds-2": {"migrate"},
		"envoy": {"xds-1", "xds-2"}, "keys": nil, "operator-token": {"migrate"},
	}
	got := map[string][]string{}
	for name, s := range p.Services {
		deps := s.GetDependencies()
		slices.Sort(deps)
		got[name] = deps
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("services and what they wait for (-want +got):\n%s", diff)
	}
	for _, name := range []string{"postgres", "api", "xds-1", "xds-2"} {
		if h := p.Services[name].HealthCheck; h == nil || len(h.Test) == 0 {
			t.Errorf("%s has no health check", name)
		}
	}
	for _, name := range []string{"xds-1", "xds-2"} {
		if a := p.Services[name].Networks["default"].Aliases; !slices.Contains(a, "xds") {
			t.Errorf("%s is not behind the name xds: %v", name, a)
		}
	}
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes port %s beyond this machine", name, port.Published)
			}
		}
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				if _, err := os.Stat(v.Source); err != nil {
					t.Errorf("%s mounts %s: %v", name, v.Source, err)
				}
			}
		}
	}
}

// The programs refuse a database on another host without TLS: where the compose file has
// one, it says so by name.
func TestComposeAsksForAPlaintextDatabaseByName(t *testing.T) {
	t.Parallel()
	asked := 0
	for name, s := range project(t).Services {
		for variable, value := range s.Environment {
			if !strings.HasSuffix(variable, "DATABASE_URL") {
				continue
			}
			asked++
			if checked := strings.Contains(*value, "sslmode=verify-full"); checked == slices.Contains(s.Command, "--allow-plaintext-database") {
				t.Errorf("%s: %s, with %q", name, *value, s.Command)
			}
		}
	}
	if asked != 5 {
		t.Errorf("%d services have a database", asked)
	}
}

func TestComposeHasNoDefaultPassword(t *testing.T) {
	t.Parallel()
	for name := range passwords() {
		env := passwords()
		delete(env, name)
		if _, err := load(t, env); err == nil || !strings.Contains(err.Error(), "make compose-env") {
			t.Errorf("without %s: %v, want an error that says what to do", name, err)
		}
	}
}

// The passwords that make writes are all that compose wants.
func TestComposeEnv(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makefile, err := filepath.Abs(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time must change nothing
		if out, err := exec.Command("make", "-C", dir, "-f", makefile, "compose-env").CombinedOutput(); err != nil {
			t.Fatalf("make compose-env: %v\n%s", err, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	env := types.Mapping{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if len(value) != 48 || strings.Trim(value, "0123456789abcdef") != "" {
			t.Errorf("%s is %q, want 24 bytes in hex", name, value)
		}
		env[name] = value
	}
	if _, err := load(t, env); err != nil {
		t.Error(err)
	}
}

// The demo Envoy's file is what the generator writes.
func TestComposeEnvoyBootstrap(t *testing.T) {
	t.Parallel()
	want, err := bootstrap.Envoy(bootstrap.Config{
		NodeID: "envoy-1", NodeCluster: "demo", XDSAddresses: []string{"xds:18000"}, Delta: true, Plaintext: true,
		TokenEnv: bootstrap.DefaultTokenEnv,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "deploy", "envoy.yaml")
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
