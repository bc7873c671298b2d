package podman

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// needed are the programs that the test runs, with what installs them on Debian.
var needed = map[string]string{
	"podman": "apt-get install podman netavark aardvark-dns", "buildah": "apt-get install buildah", "runc": "apt-get install runc",
	"iptables": "apt-get install iptables", "debootstrap": "apt-get install debootstrap", "go": "Go 1.26", "python3": "apt-get install python3 python3-pip",
}

// images are those that the compose file and the Dockerfile name: their stand-ins get the same names.
var images = []string{"docker.io/library/golang:1.26-bookworm", "docker.io/library/postgres:18", "docker.io/envoyproxy/envoy:v1.40.0"}

// engine does with podman what docker compose does with the file, as far as the file needs it. Its images, volumes and
// networks are its own.
type engine struct {
	*testing.T
	root    string // the repository
	cache   string // of images
	prefix  string // of all names
	env     []string
	project *types.Project
	up      map[string]bool // services that are started, or have ended well
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newEngine has nothing left of an earlier run. It needs all programs, or those that are named.
func newEngine(t *testing.T, programs ...string) *engine {
	t.Helper()
	for program, from := range needed {
		if len(programs) > 0 && !slices.Contains(programs, program) {
			continue
		}
		if _, err := exec.LookPath(program); err != nil {
			t.Errorf("%s is missing: %s", program, from)
		}
	}
	if os.Geteuid() != 0 {
		t.Error("a storage of images of its own can only be made by root")
	}
	if t.Failed() {
		t.FailNow()
	}
	root, err := filepath.Abs("../../..")
	must(t, err)
	cache := os.Getenv("FAIRLEAD_CACHE_DIR")
	if cache == "" {
		cache = filepath.Join(root, ".cache")
	}
	cache = filepath.Join(cache, "compose")
	must(t, os.MkdirAll(cache, 0o700))
	for name, text := range map[string]string{
		// runc and cgroupfs also work inside of a container.
		"containers.conf": "[engine]\ncgroup_manager = \"cgroupfs\"\nruntime = \"runc\"\nevents_logger = \"file\"\n" +
			"[network]\nnetwork_backend = \"netavark\"\nnetwork_config_dir = \"" + cache + "/networks\"\n",
		"storage.conf": "[storage]\ndriver = \"vfs\"\ngraphroot = \"" + cache + "/storage\"\nrunroot = \"" + cache + "/run\"\n",
	} {
		must(t, os.WriteFile(filepath.Join(cache, name), []byte(text), 0o600))
	}
	e := &engine{T: t, root: root, cache: cache, prefix: "fairlead-test", up: map[string]bool{}}
	e.env = append(os.Environ(), "CONTAINERS_CONF="+cache+"/containers.conf", "CONTAINERS_STORAGE_CONF="+cache+"/storage.conf")
	e.clean()
	t.Cleanup(e.clean)
	return e
}

// clean removes what this or an earlier run has left.
func (e *engine) clean() {
	remove := func(what string, list []string, args ...string) {
		cmd := exec.Command("podman", list...)
		cmd.Env = e.env
		out, _ := cmd.Output() // of nothing there is nothing
		for name := range strings.FieldsSeq(string(out)) {
			if strings.HasPrefix(strings.TrimPrefix(name, "localhost/"), e.prefix) {
				rm := exec.Command("podman", append(args, name)...)
				rm.Env = e.env
				if text, err := rm.CombinedOutput(); err != nil {
					e.Errorf("remove the %s %s: %v\n%s", what, name, err, text)
				}
			}
		}
	}
	remove("container", []string{"ps", "--all", "--format", "{{.Names}}"}, "rm", "--force", "--time", "2")
	remove("volume", []string{"volume", "ls", "--format", "{{.Name}}"}, "volume", "rm", "--force")
	remove("image", []string{"image", "ls", "--filter", "reference=localhost/" + e.prefix + "-*", "--format", "{{.Repository}}:{{.Tag}}"}, "image", "rm", "--force")
	remove("network", []string{"network", "ls", "--format", "{{.Name}}"}, "network", "rm", "--force")
}

// try runs a program to its end and returns what it printed.
func (e *engine) try(in, program string, args ...string) (out, errs string, _ error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.Context()), 20*time.Minute)
	defer cancel()
	var o, x bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the test's own words
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = e.root, e.env, strings.NewReader(in), &o, &x
	err := cmd.Run()
	return o.String(), x.String(), err
}

// program is a try that has to end well.
func (e *engine) program(in, program string, args ...string) string {
	e.Helper()
	begun := time.Now()
	out, errs, err := e.try(in, program, args...)
	if err != nil {
		e.Fatalf("%s %q: %v\n%s%s", program, args, err, out, errs)
	}
	e.Logf("%5.1f s  %s %s: %s", time.Since(begun).Seconds(), filepath.Base(program), args[0], strings.TrimSpace(errs+out))
	return out
}

func goEnv(e *engine, what string) string {
	e.Helper()
	return strings.TrimSpace(e.program("", "go", "env", what))
}

// image runs deploy/image in a tree, with the modules of this machine and a build cache.
func (e *engine) image(tree, version, name, cache string, flags ...string) {
	e.Helper()
	e.program("", filepath.Join(tree, "deploy", "image"), append([]string{version, name, "--isolation", "chroot", "--volume", goEnv(e, "GOMODCACHE") + ":/go/pkg/mod", "--volume", cache + ":/root/.cache/go-build"}, flags...)...)
}

// build makes the image of the Dockerfile, of a version, as the compose file calls it.
func (e *engine) build(version string) {
	e.Helper()
	e.image(e.root, version, "fairlead:local", goEnv(e, "GOCACHE"), "--volume", "/etc/ssl/certs/ca-certificates.crt:/etc/ssl/certs/ca-certificates.crt:ro")
}

// load reads the compose file with what is in .env.
func (e *engine) load(env map[string]string) {
	e.Helper()
	p, err := loader.LoadWithContext(e.Context(), types.ConfigDetails{
		WorkingDir: e.root, ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(e.root, "docker-compose.yml")}}, Environment: env,
	}, func(o *loader.Options) { o.Profiles = []string{"*"} })
	must(e.T, err)
	e.project = p
}

func (e *engine) container(service string) string { return e.prefix + "-" + service }

// start starts services as `up --wait` does: after what they depend on, as that has to be.
func (e *engine) start(services ...string) {
	e.Helper()
	for _, name := range services {
		if e.up[name] {
			continue
		}
		s := e.project.Services[name]
		for _, dep := range slices.Sorted(maps.Keys(s.DependsOn)) {
			e.start(dep)
		}
		once := s.Restart == "no"
		args := append([]string{"run", "--name", e.container(name)}, e.flags(s)...)
		if !once {
			args = append(args, "--detach")
		}
		e.program("", "podman", append(append(args, s.Image), s.Command...)...)
		if !once {
			e.healthy(name)
		}
		e.up[name] = true
	}
}

// flags are podman's for what the file says of a service.
func (e *engine) flags(s types.ServiceConfig) (out []string) {
	add := func(flag, value string) {
		if value != "" {
			out = append(out, flag, value)
		}
	}
	add("--user", s.User)
	add("--hostname", s.Hostname)
	add("--memory", fmt.Sprint(int64(s.MemLimit)))
	add("--pids-limit", fmt.Sprint(s.PidsLimit))
	add("--ulimit", fmt.Sprintf("nofile=%d:%d", s.Ulimits["nofile"].Single, s.Ulimits["nofile"].Single))
	add("--ulimit", "nproc=1000:1000") // podman would give what this process may not
	if s.ReadOnly {
		out = append(out, "--read-only", "--read-only-tmpfs=false")
	}
	for flag, values := range map[string][]string{"--cap-drop": s.CapDrop, "--cap-add": s.CapAdd, "--security-opt": s.SecurityOpt, "--tmpfs": s.Tmpfs} {
		for _, v := range values {
			add(flag, strings.TrimSuffix(v, ":true"))
		}
	}
	for name, value := range s.Environment {
		add("--env", name+"="+*value)
	}
	for _, v := range s.Volumes {
		from, how := v.Source, ""
		if v.Type == types.VolumeTypeVolume {
			from = e.prefix + "-" + v.Source
		}
		if v.ReadOnly {
			how = ":ro"
		}
		add("--volume", from+":"+v.Target+how)
	}
	if s.NetworkMode != "" {
		add("--network", s.NetworkMode)
	} else {
		add("--network", e.prefix)
		aliases := []string{s.Name}
		if n := s.Networks["default"]; n != nil {
			aliases = append(aliases, n.Aliases...)
		}
		for _, alias := range aliases {
			add("--network-alias", alias)
		}
	}
	for _, p := range s.Ports {
		add("--publish", fmt.Sprintf("%s::%d", p.HostIP, p.Target)) // any free port of the machine
	}
	if len(s.Entrypoint) > 0 {
		add("--entrypoint", s.Entrypoint[0])
	}
	return out
}

// healthy waits until the service's own check is content.
func (e *engine) healthy(name string) {
	e.Helper()
	h := e.project.Services[name].HealthCheck
	if h == nil {
		return
	}
	var last string
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); { // each question takes podman half a second
		out, errs, err := e.try("", "podman", append([]string{"exec", e.container(name)}, h.Test[1:]...)...)
		if err == nil {
			return
		}
		last = out + errs
	}
	logs, more, _ := e.try("", "podman", "logs", "--tail", "20", e.container(name))
	e.Fatalf("%s does not become healthy: %s\n%s%s", name, last, logs, more)
}

// once is `docker compose run --rm -T`.
func (e *engine) once(in, name string, args ...string) string {
	e.Helper()
	out, errs, err := e.tryOnce(in, name, args...)
	if err != nil {
		e.Fatalf("%s %q: %v\n%s%s", name, args, err, out, errs)
	}
	e.Logf("%s %s: %s", name, strings.Join(args, " "), strings.TrimSpace(errs))
	return strings.TrimSpace(out)
}

func (e *engine) tryOnce(in, name string, args ...string) (out, errs string, _ error) {
	s := e.project.Services[name]
	if len(args) == 0 {
		args = s.Command
	}
	return e.try(in, "podman", append(append([]string{"run", "--rm", "--interactive"}, append(e.flags(s), s.Image)...), args...)...)
}

// port is where the machine reaches a port of a service.
func (e *engine) port(name string, port int) string {
	e.Helper()
	return strings.TrimSpace(e.program("", "podman", "port", e.container(name), fmt.Sprint(port)))
}
