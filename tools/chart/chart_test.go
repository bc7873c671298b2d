package chart

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	chartDir  = root + "/deploy/helm/fairlead"
	namespace = "control"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	must(t, err)
	return c
}

// values reads a file of the chart's folder ci, and puts one value on top: "api.replicas" or "".
func values(t *testing.T, file, path string, value any) map[string]any {
	t.Helper()
	v := map[string]any{}
	if file != "" {
		text, err := os.ReadFile(filepath.Join(chartDir, "ci", file+"-values.yaml"))
		must(t, err)
		must(t, yaml.UnmarshalStrict(text, &v))
	}
	if path == "" {
		return v
	}
	at, words := v, strings.Split(path, ".")
	for _, w := range words[:len(words)-1] {
		next, ok := at[w].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[w] = next
		}
		at = next
	}
	at[words[len(words)-1]] = value
	return v
}

func files(t *testing.T) (names []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(chartDir, "ci", "*-values.yaml"))
	must(t, err)
	for _, f := range all {
		names = append(names, strings.TrimSuffix(filepath.Base(f), "-values.yaml"))
	}
	if len(names) < 3 {
		t.Fatalf("%v: there are more", names)
	}
	return names
}

// render is what "helm template prod" does, and "helm install": the schema is asked too.
func render(t *testing.T, v map[string]any) (map[string]string, error) {
	t.Helper()
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = chartutil.KubeVersion{Version: "v1.34.0", Major: "1", Minor: "34"}
	c := load(t)
	all, err := chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "prod", Namespace: namespace, Revision: 1, IsInstall: true}, caps)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// kinds has a type for each that the chart may have. Strictly decoded, a field that Kubernetes does not know is an error.
var kinds = map[string]func() metav1.Object{
	"v1 ServiceAccount":                       func() metav1.Object { return &corev1.ServiceAccount{} },
	"v1 Service":                              func() metav1.Object { return &corev1.Service{} },
	"apps/v1 Deployment":                      func() metav1.Object { return &appsv1.Deployment{} },
	"batch/v1 Job":                            func() metav1.Object { return &batchv1.Job{} },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() metav1.Object { return &autoscalingv2.HorizontalPodAutoscaler{} },
	"policy/v1 PodDisruptionBudget":           func() metav1.Object { return &policyv1.PodDisruptionBudget{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() metav1.Object { return &networkingv1.NetworkPolicy{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() metav1.Object { return &monitoringv1.ServiceMonitor{} },
	"cert-manager.io/v1 Certificate":          func() metav1.Object { return &certmanagerv1.Certificate{} },
}

// objects decodes what was rendered, by kind and name: "Deployment prod-fairlead-api".
func objects(t *testing.T, v map[string]any) map[string]metav1.Object {
	t.Helper()
	rendered, err := render(t, v)
	must(t, err)
	all := map[string]metav1.Object{}
	for file, text := range rendered {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		docs := utilyaml.NewYAMLReader(newBuffered(text))
		for {
			doc, err := docs.Read()
			if err == io.EOF {
				break
			}
			must(t, err)
			var meta metav1.TypeMeta
			must(t, yaml.Unmarshal(doc, &meta))
			if meta.Kind == "" && len(bytes.TrimSpace(stripComments(doc))) == 0 {
				continue
			}
			make, known := kinds[meta.APIVersion+" "+meta.Kind]
			if !known {
				t.Fatalf("%s has %q, whose type is not known here:\n%s", file, meta.APIVersion+" "+meta.Kind, doc)
			}
			o := make()
			if err := strictly(doc, o); err != nil {
				t.Fatalf("%s: %v\n%s", file, err, doc)
			}
			key := meta.Kind + " " + o.GetName()
			if all[key] != nil {
				t.Errorf("%s is there twice", key)
			}
			all[key] = o
		}
	}
	return all
}

// strictly decodes as the API server does: a field that it does not know, or that is there twice, or written in another case, is an error.
func strictly(doc []byte, into any) error {
	text, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return err
	}
	unknown, err := kjson.UnmarshalStrict(text, into)
	return errors.Join(append(unknown, err)...)
}

func get[T metav1.Object](t *testing.T, all map[string]metav1.Object, key string) (o T) {
	t.Helper()
	o, ok := all[key].(T)
	if !ok {
		t.Fatalf("there is no %s: %v", key, slices.Sorted(maps.Keys(all)))
	}
	return o
}

// pods are all that would run, by kind and name.
func pods(all map[string]metav1.Object) map[string]*corev1.PodTemplateSpec {
	found := map[string]*corev1.PodTemplateSpec{}
	for key, o := range all {
		switch o := o.(type) {
		case *appsv1.Deployment:
			found[key] = &o.Spec.Template
		case *batchv1.Job:
			found[key] = &o.Spec.Template
		}
	}
	return found
}

// TestLint is "helm lint --strict".
func TestLint(t *testing.T) {
	t.Parallel()
	for _, f := range append(files(t), "") {
		for _, m := range lint.All(chartDir, values(t, f, "", nil), namespace, true).Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("%q: %v", f, m)
			}
		}
	}
}

func TestEveryOptionIsTried(t *testing.T) {
	t.Parallel()
	if got := slices.Sorted(maps.Keys(objects(t, values(t, "minimal", "", nil)))); !slices.Equal(got, []string{
		"Deployment prod-fairlead-api", "Deployment prod-fairlead-xds", "Job prod-fairlead-migrate", "PodDisruptionBudget prod-fairlead-api", "PodDisruptionBudget prod-fairlead-xds",
		"Service prod-fairlead-api", "Service prod-fairlead-metrics", "Service prod-fairlead-xds", "ServiceAccount prod-fairlead",
	}) {
		t.Errorf("minimal: %v", got)
	}
	got := map[string]int{}
	for key := range objects(t, values(t, "full", "", nil)) {
		kind, _, _ := strings.Cut(key, " ")
		got[kind]++
	}
	if want := map[string]int{"Deployment": 2, "Job": 1, "PodDisruptionBudget": 2, "Service": 3, "ServiceAccount": 1, "HorizontalPodAutoscaler": 2, "NetworkPolicy": 2, "ServiceMonitor": 1, "Certificate": 2}; !maps.Equal(got, want) {
		t.Errorf("full: %v, want %v", got, want)
	}
}

// TestPodsMayDoNothingButTheirWork: not root, nothing to write to, no rights, no token of Kubernetes, and bounds.
func TestPodsMayDoNothingButTheirWork(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		users := map[int64]string{}
		for key, p := range pods(objects(t, values(t, f, "", nil))) {
			s := p.Spec.SecurityContext
			if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || *s.RunAsUser < 10_000 || *s.FSGroup != *s.RunAsUser || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s %s: %+v", f, key, s)
				continue
			}
			if other := users[*s.RunAsUser]; other != "" {
				t.Errorf("%s: %s and %s run as one user", f, key, other)
			}
			users[*s.RunAsUser] = key
			if p.Spec.AutomountServiceAccountToken == nil || *p.Spec.AutomountServiceAccountToken || p.Spec.HostNetwork || p.Spec.HostPID {
				t.Errorf("%s %s has a token of Kubernetes, or the node's network or processes", f, key)
			}
			for _, c := range p.Spec.Containers {
				s := c.SecurityContext
				if s == nil || !*s.ReadOnlyRootFilesystem || !*s.RunAsNonRoot || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
					t.Errorf("%s %s: %+v", f, key, s)
				}
				r := c.Resources
				if r.Requests.Cpu().IsZero() || r.Requests.Memory().IsZero() || r.Limits.Memory().IsZero() {
					t.Errorf("%s %s: %+v", f, key, r)
				}
			}
			for _, v := range p.Spec.Volumes {
				if v.Secret == nil || *v.Secret.DefaultMode != 0o400 {
					t.Errorf("%s %s: volume %s is no Secret that its reader alone may read", f, key, v.Name)
				}
			}
		}
	}
}

// TestT27_KeysAreApart: no pod but those of the xDS servers has their key, and none has the owner's password but the migrations.
func TestT27_KeysAreApart(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		for key, p := range pods(objects(t, values(t, f, "", nil))) {
			text, err := yaml.Marshal(p)
			must(t, err)
			_, name, _ := strings.Cut(key, " ")
			for secret, of := range map[string]string{"key: seal.key": "-xds", "key: version.key": "-api", "key: seal.pub": "-api", "key: owner": "-migrate"} {
				if has := strings.Contains(string(text), secret); has != strings.HasSuffix(name, of) {
					t.Errorf("%s: %s has %s: %t", f, name, secret, has)
				}
			}
			if strings.Contains(string(text), ":hunter2@") || regexp.MustCompile(`postgres://[^ @]*:[^ @]*@`).Match(text) {
				t.Errorf("%s: %s has a password in its URL:\n%s", f, name, text)
			}
		}
	}
}

// TestNamesLeadSomewhere: selectors find pods, ports and volumes are there, and everything that scales is.
func TestNamesLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		all := objects(t, values(t, f, "", nil))
		running := pods(all)
		selects := func(key string, s labels.Selector, want int) (found []*corev1.PodTemplateSpec) {
			for _, p := range running {
				if s.Matches(labels.Set(p.Labels)) {
					found = append(found, p)
				}
			}
			if len(found) != want {
				t.Errorf("%s: %s selects %d kinds of pods, want %d", f, key, len(found), want)
			}
			return found
		}
		for key, o := range all {
			switch o := o.(type) {
			case *appsv1.Deployment:
				s, err := metav1.LabelSelectorAsSelector(o.Spec.Selector)
				must(t, err)
				selects(key, s, 1)
				for _, c := range o.Spec.Template.Spec.TopologySpreadConstraints {
					s, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
					must(t, err)
					selects(key+", which is spread,", s, 1)
				}
			case *policyv1.PodDisruptionBudget:
				s, err := metav1.LabelSelectorAsSelector(o.Spec.Selector)
				must(t, err)
				selects(key, s, 1)
			case *networkingv1.NetworkPolicy:
				s, err := metav1.LabelSelectorAsSelector(&o.Spec.PodSelector)
				must(t, err)
				for _, p := range selects(key, s, 1) {
					for _, rule := range o.Spec.Ingress {
						for _, port := range rule.Ports {
							if !hasPort(p, port.Port.StrVal) {
								t.Errorf("%s: %s lets in %s, which the pod has not", f, key, port.Port)
							}
						}
					}
				}
			case *corev1.Service:
				want := 1
				if strings.HasSuffix(o.Name, "-metrics") {
					want = len(running) // of the migrations too, who have no such port
				}
				for _, p := range selects(key, labels.SelectorFromSet(o.Spec.Selector), want) {
					for _, port := range o.Spec.Ports {
						if !hasPort(p, port.TargetPort.StrVal) && want == 1 {
							t.Errorf("%s: %s leads to %s, which the pod has not", f, key, port.TargetPort.StrVal)
						}
					}
				}
			case *autoscalingv2.HorizontalPodAutoscaler:
				d := get[*appsv1.Deployment](t, all, o.Spec.ScaleTargetRef.Kind+" "+o.Spec.ScaleTargetRef.Name)
				if d.Spec.Replicas != nil {
					t.Errorf("%s: an upgrade sets the replicas of %s, which %s scales", f, d.Name, key)
				}
			case *certmanagerv1.Certificate:
				if used := get[*appsv1.Deployment](t, all, "Deployment "+o.Name); !slices.ContainsFunc(used.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Secret.SecretName == o.Spec.SecretName }) {
					t.Errorf("%s: nobody uses %s", f, key)
				}
			case *monitoringv1.ServiceMonitor:
				s, err := metav1.LabelSelectorAsSelector(&o.Spec.Selector)
				must(t, err)
				service := get[*corev1.Service](t, all, "Service prod-fairlead-metrics")
				if !s.Matches(labels.Set(service.Labels)) || o.Spec.Endpoints[0].Port != service.Spec.Ports[0].Name {
					t.Errorf("%s: %s does not find its Service", f, key)
				}
			}
		}
		for key, p := range running {
			checkVolumes(t, f+": "+key, p)
		}
	}
}

func hasPort(p *corev1.PodTemplateSpec, name string) bool {
	return slices.ContainsFunc(p.Spec.Containers[0].Ports, func(c corev1.ContainerPort) bool { return c.Name == name })
}

// checkVolumes: what is mounted is there, what is there is mounted, and every file that an argument names is in a folder that is mounted.
func checkVolumes(t *testing.T, what string, p *corev1.PodTemplateSpec) {
	t.Helper()
	c := p.Spec.Containers[0]
	mounts := map[string]string{}
	for _, m := range c.VolumeMounts {
		mounts[m.Name] = m.MountPath
	}
	for _, v := range p.Spec.Volumes {
		if mounts[v.Name] == "" {
			t.Errorf("%s: %s is mounted nowhere", what, v.Name)
		}
	}
	if len(mounts) != len(p.Spec.Volumes) {
		t.Errorf("%s: mounts %v of %d volumes", what, mounts, len(p.Spec.Volumes))
	}
	text := strings.Join(c.Args, " ")
	for _, e := range c.Env {
		text += " " + e.Value
	}
	for _, path := range regexp.MustCompile(`/etc/fairlead/[\w./-]+`).FindAllString(text, -1) {
		if !slices.Contains(slices.Collect(maps.Values(mounts)), filepath.Dir(path)) {
			t.Errorf("%s: %s is in no folder that is mounted: %v", what, path, mounts)
		}
		for _, v := range p.Spec.Volumes {
			if items := v.Secret.Items; mounts[v.Name] == filepath.Dir(path) && len(items) > 0 && !slices.ContainsFunc(items, func(k corev1.KeyToPath) bool { return k.Path == filepath.Base(path) }) {
				t.Errorf("%s: %s is no file of %s: %v", what, path, v.Secret.SecretName, items)
			}
		}
	}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe != nil && (!hasPort(p, probe.HTTPGet.Port.StrVal) || !slices.Contains([]string{"/healthz", "/readyz"}, probe.HTTPGet.Path)) {
			t.Errorf("%s: asks for %+v", what, probe.HTTPGet)
		}
	}
	if len(c.Ports) > 0 && (c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz") {
		t.Errorf("%s: is restarted by %s, and asked for readiness by %s", what, c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path)
	}
}

// TestThePodsListenWhereTheyAreAsked: the addresses among the arguments are the ports that the pod tells.
func TestThePodsListenWhereTheyAreAsked(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		for key, p := range pods(objects(t, values(t, f, "", nil))) {
			c := p.Spec.Containers[0]
			var told, given []string
			for _, port := range c.Ports {
				told = append(told, port.String())
			}
			listens := regexp.MustCompile(`^--[a-z-]*listen=0\.0\.0\.0:(\d+)$`)
			for _, a := range c.Args {
				if m := listens.FindStringSubmatch(a); m != nil {
					given = append(given, m[1])
				}
			}
			if len(told) != len(given) {
				t.Errorf("%s %s: listens on %v, and tells of %v", f, key, given, told)
			}
			for _, port := range c.Ports {
				if !slices.Contains(given, strings.TrimSpace(intText(port.ContainerPort))) {
					t.Errorf("%s %s: tells of %s, and listens on %v", f, key, intText(port.ContainerPort), given)
				}
			}
		}
	}
}

// TestTheProgramsKnowWhatTheyAreGiven builds them, and reads their help.
func TestTheProgramsKnowWhatTheyAreGiven(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s", "-o", bin+"/", "./cmd/api", "./cmd/xds")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range files(t) {
		for key, p := range pods(objects(t, values(t, f, "", nil))) {
			c := p.Spec.Containers[0]
			help, err := exec.Command(filepath.Join(bin, c.Command[0]), append(c.Command[1:], "--help")...).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v --help: %v\n%s", key, c.Command, err, help)
				continue
			}
			var words []string
			for _, a := range c.Args {
				flag, _, _ := strings.Cut(a, "=")
				words = append(words, flag)
			}
			for _, e := range c.Env {
				if e.Name != "GOMEMLIMIT" && e.Name != "PGPASSWORD" { // Go's, and Postgres's
					words = append(words, "$"+e.Name)
				}
			}
			for _, w := range words {
				if !regexp.MustCompile(`(?m)(^|[^\w-])` + regexp.QuoteMeta(w) + `([^\w-]|$)`).Match(help) {
					t.Errorf("%s %s: %v does not know %s:\n%s", f, key, c.Command, w, help)
				}
			}
			if len(words) == 0 {
				t.Errorf("%s %s is given nothing", f, key)
			}
		}
	}
}

func TestTheDatabasesURL(t *testing.T) {
	t.Parallel()
	env := func(v map[string]any, part, name string) corev1.EnvVar {
		t.Helper()
		for key, p := range pods(objects(t, v)) {
			for _, e := range p.Spec.Containers[0].Env {
				if strings.HasSuffix(key, "-"+part) && e.Name == name {
					return e
				}
			}
		}
		return corev1.EnvVar{}
	}
	for _, c := range []struct{ file, path, value, part, name, want string }{
		{"minimal", "", "", "api", "FAIRLEAD_DATABASE_URL", "postgres://fairlead_app@db.example.com:5432/fairlead?sslmode=verify-full"},
		{"minimal", "", "", "xds", "FAIRLEAD_DATABASE_URL", "postgres://fairlead_node@db.example.com:5432/fairlead?sslmode=verify-full"},
		{"minimal", "", "", "migrate", "FAIRLEAD_OWNER_DATABASE_URL", "postgres://postgres@db.example.com:5432/fairlead?sslmode=verify-full"},
		{"minimal", "database.host", "db1,db2", "api", "FAIRLEAD_DATABASE_URL", "postgres://fairlead_app@db1:5432,db2:5432/fairlead?sslmode=verify-full"},
		{"full", "", "", "api", "FAIRLEAD_DATABASE_URL", "postgres://fairlead_app@pooler.example.com:6432/fairlead?sslmode=verify-full&sslrootcert=/etc/fairlead/database/ca.crt&connect_timeout=2"},
		{"full", "", "", "xds", "FAIRLEAD_LISTEN_DATABASE_URL", "postgres://fairlead_node@db.example.com:5432/fairlead?sslmode=verify-full&sslrootcert=/etc/fairlead/database/ca.crt&connect_timeout=2"},
		{"full", "", "", "xds", "FAIRLEAD_READ_DATABASE_URL", "postgres://fairlead_node@standby1.example.com:5433,standby2.example.com:5433/fairlead?sslmode=verify-full&sslrootcert=/etc/fairlead/database/ca.crt&connect_timeout=2"},
		{"minimal", "", "", "xds", "FAIRLEAD_READ_DATABASE_URL", ""},
		{"full", "", "", "migrate", "FAIRLEAD_OWNER_DATABASE_URL", "postgres://postgres@db.example.com:5432/fairlead?sslmode=verify-full&sslrootcert=/etc/fairlead/database/ca.crt&connect_timeout=2"},
	} {
		var value any = c.value
		if got := env(values(t, c.file, c.path, value), c.part, c.name); got.Value != c.want {
			t.Errorf("%s %s %s: %+v, want %s", c.file, c.part, c.name, got, c.want)
		}
	}
	for _, c := range [][2]string{{"api", "FAIRLEAD_DATABASE_URL"}, {"xds", "FAIRLEAD_LISTEN_DATABASE_URL"}, {"xds", "FAIRLEAD_READ_DATABASE_URL"}, {"migrate", "FAIRLEAD_OWNER_DATABASE_URL"}} {
		part, name := c[0], c[1]
		if got := env(values(t, "urls", "", nil), part, name); got.Value != "" || got.ValueFrom == nil || got.ValueFrom.SecretKeyRef.Name != "fairlead-urls" {
			t.Errorf("urls %s %s: %+v", part, name, got)
		}
	}
}

// TestRefused: what is not set, or misspelt, is named, with what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, path string
		value      any
		want       string
	}{
		{"minimal", "database.host", "", "database.host is not set: name the host of a Postgres"},
		{"minimal", "tls.apiSecret", "", "tls.apiSecret is not set: name a Secret"},
		{"minimal", "tls.xdsSecret", "", "tls.xdsSecret is not set: name a Secret"},
		{"full", "tls.certManager.issuerRef.name", "", "tls.certManager.issuerRef.name is not set"},
		{"full", "api.auditWebhook.keySecret.name", "", "api.auditWebhook.keySecret.name is not set"},
		{"minimal", "api.replica", 3, "replica"},
		{"minimal", "xds.replicas", "three", "replicas"},
		{"minimal", "databse", map[string]any{}, "databse"},
		{"minimal", "database.sslmode", "prefer", "sslmode"},
		{"minimal", "topologySpread.whenUnsatisfiable", "Never", "whenUnsatisfiable"},
	} {
		if _, err := render(t, values(t, c.file, c.path, c.value)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
}

// TestTheImage: a digest counts more than a tag, and the release more than nothing.
func TestTheImage(t *testing.T) {
	t.Parallel()
	version := load(t).Metadata.AppVersion
	for want, set := range map[string]map[string]any{
		"fairlead:" + version: {}, "fairlead:1.2.3": {"tag": "1.2.3"}, "images.example.com/fairlead@sha256:0a": {"tag": "1.2.3", "digest": "sha256:0a", "repository": "images.example.com/fairlead"},
	} {
		for key, p := range pods(objects(t, values(t, "minimal", "image", set))) {
			if got := p.Spec.Containers[0].Image; got != want {
				t.Errorf("%s runs %s, want %s", key, got, want)
			}
		}
	}
}

// TestTheMigrationsGoFirst: "helm upgrade" runs them, alone, before it changes anything; and with nothing that is made after them.
func TestTheMigrationsGoFirst(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		v := values(t, f, "", nil)
		j := get[*batchv1.Job](t, objects(t, v), "Job prod-fairlead-migrate")
		if j.Spec.Template.Spec.ServiceAccountName != "default" || *j.Spec.BackoffLimit == 0 {
			t.Errorf("%s: %+v, account %s", f, j.ObjectMeta, j.Spec.Template.Spec.ServiceAccountName)
		}
		rendered, err := render(t, v)
		must(t, err)
		maps.DeleteFunc(rendered, func(name, _ string) bool { return filepath.Ext(name) != ".yaml" }) // NOTES.txt
		hooks, manifests, err := releaseutil.SortManifests(rendered, chartutil.DefaultVersionSet, releaseutil.InstallOrder)
		must(t, err)
		if len(hooks) != 1 || hooks[0].Kind != "Job" || !slices.Equal(hooks[0].Events, []release.HookEvent{release.HookPreInstall, release.HookPreUpgrade}) {
			t.Fatalf("%s: hooks: %+v", f, hooks)
		}
		// An upgrade begins without the Job of the last one, and leaves one that failed for who looks for why.
		if got := hooks[0].DeletePolicies; !slices.Equal(got, []release.HookDeletePolicy{release.HookBeforeHookCreation, release.HookSucceeded}) {
			t.Errorf("%s: the Job is deleted: %v", f, got)
		}
		var kinds []string
		for _, m := range manifests {
			kinds = append(kinds, m.Head.Kind)
		}
		if !slices.Contains(kinds, "Deployment") || slices.Contains(kinds, "Job") {
			t.Errorf("%s: after the hook come %v", f, kinds)
		}
		for _, made := range manifests { // what comes later cannot be needed before
			if name := made.Head.Metadata.Name; name != "" && regexp.MustCompile(`(?m)(secretName|serviceAccountName|name): `+regexp.QuoteMeta(name)+`$`).MatchString(hooks[0].Manifest) {
				t.Errorf("%s: the Job needs %s %s, which comes after it", f, made.Head.Kind, name)
			}
		}
	}
	if all := objects(t, values(t, "minimal", "migrations.enabled", false)); all["Job prod-fairlead-migrate"] != nil {
		t.Error("migrations that are off are there")
	}
}
