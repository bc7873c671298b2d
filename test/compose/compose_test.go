package compose

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
		"keys": nil, "certs": nil, "postgres": {"certs"}, "migrate": {"postgres"}, "api": {"keys", "migrate"},
		"xds-1": {"keys", "migrate"}, "xds-2": {"keys", "migrate"}, "bootstrap": {"certs"}, "envoy": {"bootstrap", "xds-1", "xds-2"},
		"operator-token": {"migrate"}, "cli": {"api"}, "owner": {"api"},
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

// Nothing crosses the network in the clear, and nobody asks for it.
func TestComposeHasTLSEverywhere(t *testing.T) {
	t.Parallel()
	databases := 0
	for name, s := range project(t).Services {
		for _, word := range s.Command {
			if strings.Contains(word, "plaintext") {
				t.Errorf("%s asks for %s", name, word)
			}
		}
		for variable, value := range s.Environment {
			if strings.HasSuffix(variable, "DATABASE_URL") {
				databases++
				if !strings.HasSuffix(*value, "?sslmode=verify-full&sslrootcert=/keys/ca.crt") {
					t.Errorf("%s: %s", name, *value)
				}
			}
			if variable == "FAIRLEAD_URL" && !strings.HasPrefix(*value, "https://") {
				t.Errorf("%s: %s=%s", name, variable, *value)
			}
		}
	}
	if databases != 5 {
		t.Errorf("%d services have a database", databases)
	}
	hba, err := os.ReadFile(filepath.Join(root, "deploy", "postgres", "pg_hba.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(hba)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" && (f[0] != "local" || f[len(f)-1] != "peer") && (f[0] != "hostssl" || f[len(f)-1] != "scram-sha-256") {
			t.Errorf("pg_hba.conf lets in: %s", line)
		}
	}
}

// TestT27_ComposeKeepsKeysApart: who runs a service reads its own files alone: no two that serve share a user or a volume,
// but for the two xDS servers.
func TestT27_ComposeKeepsKeysApart(t *testing.T) {
	t.Parallel()
	p := project(t)
	of := map[string][]string{} // volume -> who mounts it
	users := map[string][]string{}
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeVolume {
				of[v.Source] = append(of[v.Source], name)
				if writes := map[string]bool{"keys": true, "certs": true, "bootstrap": true, "operator-token": true, "postgres": v.Source == "database"}[name]; v.ReadOnly == writes {
					t.Errorf("%s mounts %s read-only: %t", name, v.Source, v.ReadOnly)
				}
			}
		}
		users[s.User] = append(users[s.User], name)
		if s.User == "0:0" && (s.NetworkMode != "none" || len(s.Ports) > 0) {
			t.Errorf("%s is root and has a network", name)
		}
	}
	for _, m := range []map[string][]string{of, users} {
		for _, names := range m {
			slices.Sort(names)
		}
	}
	if diff := cmp.Diff(map[string][]string{
		"database": {"postgres"}, "authority": {"certs"}, "api": {"api", "certs", "keys"}, "xds": {"certs", "keys", "xds-1", "xds-2"},
		"postgres": {"certs", "postgres"}, "owner": {"certs", "migrate", "owner"}, "operator": {"certs", "cli", "operator-token"}, "proxy": {"bootstrap", "certs", "envoy"},
	}, of); diff != "" {
		t.Errorf("volumes and who mounts them (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{
		"0:0": {"certs", "keys"}, "": {"postgres"}, "65532:65532": {"api"}, "65533:65533": {"xds-1", "xds-2"}, "65529:65529": {"migrate", "owner"},
		"65531:65531": {"cli", "operator-token"}, "65530:65530": {"bootstrap", "envoy"},
	}, users); diff != "" {
		t.Errorf("users and what runs as them (-want +got):\n%s", diff)
	}
}

func TestComposeBoundsEveryContainer(t *testing.T) {
	t.Parallel()
	for name, s := range project(t).Services {
		if s.MemLimit == 0 || s.PidsLimit == 0 || s.Ulimits["nofile"] == nil {
			t.Errorf("%s: memory %d, processes %d, files %v: each needs a limit", name, s.MemLimit, s.PidsLimit, s.Ulimits["nofile"])
		}
		if !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s keeps %v of its rights, %v", name, s.CapDrop, s.SecurityOpt)
		}
		if !s.ReadOnly && name != "postgres" {
			t.Errorf("%s may write into its image", name)
		}
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

// What make writes is all that compose wants: passwords, and images with the digests that the registry told.
func TestComposeEnv(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0a", 32)
	for name, c := range map[string]struct{ docker, skopeo, want string }{
		"docker":      {"echo " + digest, "exit 1", "@" + digest},
		"skopeo":      {"exit 1", "echo " + digest, "@" + digest},
		"nobody":      {"exit 1", "exit 1", ""},
		"no digest":   {"echo 'latest; rm -rf /'", "exit 1", ""},
		"half of one": {"echo sha256:0a", "exit 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := composeEnv(t, c.docker, c.skopeo)
			for name := range passwords() {
				if len(env[name]) != 48 || strings.Trim(env[name], "0123456789abcdef") != "" {
					t.Errorf("%s is %q, want 24 bytes in hex", name, env[name])
				}
			}
			p, err := load(t, env)
			if err != nil {
				t.Fatal(err)
			}
			for image, got := range map[string]string{
				"docker.io/library/postgres:18": p.Services["postgres"].Image, "docker.io/envoyproxy/envoy:v1.40.0": p.Services["envoy"].Image,
				"docker.io/library/golang:1.26-bookworm": *p.Services["api"].Build.Args["GO_IMAGE"],
			} {
				if got != image+c.want {
					t.Errorf("%s, want %s", got, image+c.want)
				}
			}
		})
	}
}

// composeEnv runs make with other programs that ask the registry, and returns what it wrote.
func composeEnv(t *testing.T, docker, skopeo string) types.Mapping {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	for name, script := range map[string]string{"docker": docker, "skopeo": skopeo} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	makefile, err := filepath.Abs(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var before []byte
	for range 2 { // the second time must change nothing
		cmd := exec.Command("make", "-C", dir, "-f", makefile, "compose-env")
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make compose-env: %v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dir, ".env"))
		if err != nil || before != nil && string(text) != string(before) {
			t.Fatalf("%s, and before %s (%v)", text, before, err)
		}
		before = text
	}
	if info, err := os.Stat(filepath.Join(dir, ".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	env := types.Mapping{}
	for line := range strings.Lines(string(before)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		env[name] = value
	}
	return env
}

// An image is the one of the Dockerfile where nobody names another.
func TestComposeAndDockerfileBuildWithOneImage(t *testing.T) {
	t.Parallel()
	want := *project(t).Services["api"].Build.Args["GO_IMAGE"]
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	if line := "ARG GO_IMAGE=" + want; !slices.Contains(strings.Split(string(text), "\n"), line) {
		t.Errorf("the Dockerfile has no line %s", line)
	}
}
