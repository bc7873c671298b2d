package internal_test

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the prefix of our own packages. It has no dot, like the standard library's
// names, so it is looked for first.
const module = "fairlead/"

const (
	protobuf     = "google.golang.org/protobuf"
	pgv          = "github.com/envoyproxy/protoc-gen-validate"
	grpc         = "google.golang.org/grpc"
	controlPlane = "github.com/envoyproxy/go-control-plane/envoy"
	contrib      = "github.com/envoyproxy/go-control-plane/contrib"
	pgx          = "github.com/jackc/pgx/v5"
	puddle       = "github.com/jackc/puddle/v2" // whose errors pgx's pool returns
	migrate      = "github.com/golang-migrate/migrate/v4"
	xsync        = "golang.org/x/sync"
	xtime        = "golang.org/x/time"
	uuid         = "github.com/google/uuid"
	xhttp2       = "golang.org/x/net/http2"
	yaml         = "sigs.k8s.io/yaml"
	idna         = "golang.org/x/net/idna"
	yamlTree     = "go.yaml.in/yaml/v3"
	kinOpenAPI   = "github.com/getkin/kin-openapi"
	oapiRuntime  = "github.com/oapi-codegen/runtime"
	oapiNetHTTP  = "github.com/oapi-codegen/nethttp-middleware"
	containers   = "github.com/testcontainers/testcontainers-go"
	goleak       = "go.uber.org/goleak"
	prometheus   = "github.com/prometheus/client_golang/prometheus"
	chi          = "github.com/go-chi/chi/v5"
	clientGo     = "k8s.io/client-go"
	kubeAPI      = "k8s.io/api"
	kubeMeta     = "k8s.io/apimachinery"
	otel         = "go.opentelemetry.io/otel"
	otlp         = "go.opentelemetry.io/proto/otlp"
	klog         = "k8s.io/klog/v2" // what client-go logs with
	logr         = "github.com/go-logr/logr"
	everything   = "*"
)

// layers is the architecture. A package may import the packages on its line, the
// standard library, and nothing else; the test below reads every import. A library
// stands for all its packages, a package of ours for itself alone. Two arms, httpapi to
// store and replica to xds, share the pure packages and meet in cmd alone.
var layers = map[string][]string{
	// Pure.
	"internal/fleet":        {uuid},
	"internal/auth":         {"internal/fleet"},
	"internal/seal":         {"internal/fleet"},
	"internal/audit":        {"internal/fleet"},
	"internal/forward":      {"internal/fleet", "internal/audit"},
	"internal/selector":     {"internal/fleet"},
	"internal/docdiff":      {"internal/fleet", "internal/jsonpointer"},
	"internal/compute":      {"internal/fleet"},
	"internal/pattern":      {},
	"internal/jsonpointer":  {},
	"internal/envoyversion": {"internal/fleet"},
	"internal/redact":       {"internal/envoytypes", protobuf},
	"internal/resource":     {"internal/fleet", "internal/jsonpointer", "internal/redact", "internal/selector", "internal/pattern", "internal/envoytypes", protobuf, controlPlane, yaml, yamlTree, idna},
	"internal/schema":       {"internal/envoytypes", protobuf, pgv},
	"internal/envoyconfig":  {"internal/fleet", "internal/jsonpointer", "internal/resource"},
	"internal/findings":     {"internal/fleet", "internal/envoyversion", "internal/resource", "internal/selector", protobuf},
	"internal/refusal":      {"internal/fleet"},
	"internal/snapshot":     {"internal/fleet", "internal/refusal", protobuf},
	"internal/planner":      {"internal/fleet", "internal/planner/repair", "internal/refusal", "internal/snapshot", protobuf},
	"internal/delivery":     {"internal/fleet", "internal/lifecycle", "internal/metrics", "internal/refusal", "internal/traces", xsync},
	"internal/load":         {"internal/fleet"},
	"internal/envoytypes":   {controlPlane, contrib},
	"internal/bootstrap":    {"internal/fleet", "internal/selector", yaml},
	"internal/reference":    {kinOpenAPI},
	"migrations":            {},
	"web":                   {},
	"web/pack":              {},
	"internal/lifecycle":    {xsync},
	"internal/metrics":      {"internal/fleet", "internal/lifecycle", "internal/load", prometheus},

	"internal/planner/repair": {"internal/fleet", "internal/snapshot"},

	"internal/traces": {"internal/fleet", "internal/lifecycle", "internal/metrics", otel, grpc},

	"internal/traces/tracestest":   {otlp, protobuf},
	"internal/metrics/metricstest": {"internal/metrics"},

	"internal/door": {xtime},

	// The arm of the API.
	"internal/store":           {"internal/fleet", "internal/audit", "internal/auth", "internal/lifecycle", "internal/metrics", "internal/traces", "migrations", pgx, puddle, migrate, xsync},
	"internal/store/storetest": {"internal/fleet", "internal/store", "internal/localpg", "internal/childproc", "migrations", pgx, containers},
	"internal/httpapi": {
		"internal/fleet", "internal/audit", "internal/auth", "internal/bootstrap", "internal/compute", "internal/docdiff", "internal/envoyconfig", "internal/envoyversion", "internal/findings", "internal/jsonpointer", "internal/redact", "internal/reference", "internal/resource", "internal/schema", "internal/seal", "internal/selector", "internal/snapshot", "internal/delivery",
		"internal/store", "internal/lifecycle", "internal/door", "internal/metrics", "internal/traces", "internal/httpapi/access", "internal/httpapi/live", "internal/httpapi/oapi", "internal/httpapi/read", "internal/httpapi/write", chi, kinOpenAPI, oapiRuntime, oapiNetHTTP, yaml,
	},
	"internal/endpoints":      {"internal/fleet", "internal/lifecycle", "internal/resource", "internal/store", xsync},
	"internal/httpapi/access": {"internal/fleet", "internal/auth", "internal/store", xsync, xtime},
	"internal/httpapi/read":   {"internal/fleet", "internal/compute", "internal/findings", "internal/httpapi/oapi", "internal/resource", "internal/store"},
	"internal/httpapi/write":  {"internal/fleet", "internal/auth", "internal/httpapi/oapi", "internal/resource", "internal/store"},
	"internal/httpapi/live":   {"internal/fleet", "internal/httpapi/oapi", "internal/store"},
	"internal/httpapi/oapi":   {kinOpenAPI, oapiRuntime, chi},

	// The arm of the streams.
	"internal/xds": {
		"internal/fleet", "internal/auth", "internal/envoyversion", "internal/lifecycle", "internal/load", "internal/door", "internal/metrics", "internal/pattern", "internal/planner", "internal/redact", "internal/refusal", "internal/snapshot", "internal/traces", grpc, protobuf, controlPlane, xsync, xtime,
		"google.golang.org/genproto/googleapis/rpc",
	},
	"internal/xds/xdstest": {
		"internal/fleet", "internal/auth", "internal/refusal", "internal/snapshot", "internal/xds", grpc, protobuf, controlPlane,
		"google.golang.org/genproto/googleapis/rpc", xhttp2,
	},
	"internal/xds/conformance": {"internal/fleet", "internal/xds", "internal/xds/xdstest", grpc, controlPlane},
	"internal/replica":         {"internal/fleet", "internal/auth", "internal/refusal", "internal/seal", "internal/selector", "internal/snapshot", "internal/xds", "internal/delivery", "internal/lifecycle", "internal/metrics", "internal/traces", xsync},

	// Programs beside ours.
	"internal/childproc":  {},
	"internal/filelock":   {},
	"internal/fetch":      {"internal/filelock"},
	"internal/localpg":    {"internal/fleet", "internal/childproc", "internal/fetch", "internal/filelock"},
	"internal/localenvoy": {"internal/fleet", "internal/childproc", "internal/envoyversion", "internal/fetch"},

	// A client of Kubernetes.
	"internal/kubernetes":          {clientGo, kubeAPI, kubeMeta, klog, logr},
	"internal/kubernetes/kubetest": {kubeAPI, kubeMeta, yaml},

	// A client of the xDS servers.
	"internal/filesync": {"internal/fleet", "internal/filelock", "internal/resource", grpc, protobuf, controlPlane, "google.golang.org/genproto/googleapis/rpc"},

	// Clients of the API.
	"clients/go":         {oapiRuntime},
	"clients/go/example": {"clients/go"},

	// Where all comes together.
	"cmd/api":          {everything},
	"cmd/xds":          {everything},
	"cmd/fairlead":     {everything},
	"cmd/probe":        {},
	"cmd/internal/run": {everything},
	"cmd/internal/dev": {everything},

	"cmd/internal/doctor": {everything},
	"cmd/internal/manual": {"github.com/alecthomas/kong"},

	// Tests of the whole product, from outside.
	"test/world": {
		"internal/fleet", "internal/bootstrap", "internal/store/storetest", "internal/childproc", "internal/fetch", "internal/filelock", "internal/localpg", "internal/localenvoy", "clients/go", "internal/seal",
		grpc, protobuf, controlPlane, goleak,
	},
	"test/pinned":         {"pgregory.net/rapid"},
	"test/previous":       {},
	"test/e2e":            {},
	"test/grpc":           {},
	"test/journey":        {},
	"test/clients":        {},
	"test/contract":       {},
	"test/deploy":         {},
	"test/compose":        {},
	"test/compose/podman": {},
	"test/alerts":         {},
	"test/chaos":          {},
	"test/mutants":        {xsync},

	"test/guardreport": {"internal/resource"},
}

// The two arms. A package that imports of both belongs into cmd.
var (
	apiArm    = []string{"internal/httpapi", "internal/store", "internal/endpoints"}
	streamArm = []string{"internal/xds", "internal/replica"}
)

func TestLayers(t *testing.T) {
	t.Parallel()
	arms := map[string][2]string{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
		if d.IsDir() {
			return skipped(name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		imports, err := importsOf(name, src)
		if err != nil {
			return err
		}
		for _, v := range violations(name, imports) {
			t.Error(v)
		}
		note(arms, path.Dir(name), imports)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg, both := range arms {
		if both[0] != "" && both[1] != "" && !strings.HasPrefix(pkg, "cmd/") {
			t.Errorf("%s imports both %s and %s: the arms meet in cmd alone", pkg, both[0], both[1])
		}
	}
}

// skipped leaves out what is no package of this module.
func skipped(dir string) error {
	base := path.Base(dir)
	if strings.HasPrefix(base, ".") && base != ".." || slices.Contains([]string{"tools", "bin", "node_modules", "testdata", "bench", "goclient"}, base) {
		return filepath.SkipDir
	}
	return nil
}

// importsOf returns nothing for a file that is never part of a build.
func importsOf(name string, src []byte) ([]string, error) {
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "package ") {
			break
		}
		if x, err := constraint.Parse(strings.TrimSpace(line)); err == nil && x.String() == "ignore" {
			return nil, nil
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, im := range f.Imports {
		p, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			return nil, err
		}
		imports = append(imports, p)
	}
	return imports, nil
}

// violations says what the file name imports and may not.
func violations(name string, imports []string) []string {
	pkg := path.Dir(name)
	allowed, ok := layers[pkg]
	if !ok {
		return []string{name + ": package " + pkg + " is not in the layer table; decide where it belongs"}
	}
	var found []string
	for _, imp := range imports {
		if !permitted(imp, allowed) {
			found = append(found, name+" imports "+imp+", which "+pkg+" may not")
		}
	}
	return found
}

func permitted(imp string, allowed []string) bool {
	own, isOwn := strings.CutPrefix(imp, module)
	first, _, _ := strings.Cut(imp, "/")
	if !isOwn && !strings.Contains(first, ".") {
		return true // the standard library
	}
	for _, a := range allowed {
		switch {
		case a == everything:
			return true
		case isOwn:
			if own == a {
				return true
			}
		case imp == a || strings.HasPrefix(imp, a+"/"):
			return true
		}
	}
	return false
}

func note(arms map[string][2]string, pkg string, imports []string) {
	both := arms[pkg]
	for _, imp := range imports {
		own := strings.TrimPrefix(imp, module)
		if slices.Contains(apiArm, own) {
			both[0] = own
		}
		if slices.Contains(streamArm, own) {
			both[1] = own
		}
	}
	arms[pkg] = both
}

// The check itself can fail: each of these files breaks one rule.
func TestLayersCatchWhatIsForbidden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, imports, want string }{
		"our own, without a dot": {"internal/xds/bad.go", `import "fairlead/internal/store"`, "internal/store, which internal/xds may not"},
		"the other way":          {"internal/httpapi/bad.go", `import "fairlead/internal/replica"`, "internal/replica"},
		"a library":              {"internal/httpapi/bad.go", `import "google.golang.org/grpc/status"`, "grpc/status"},
		"a driver":               {"internal/xds/bad.go", `import "github.com/jackc/pgx/v5/pgxpool"`, "pgxpool"},
		"a part of a package":    {"internal/replica/bad.go", `import "fairlead/internal/xds/xdstest"`, "xdstest"},
		"a similar name":         {"internal/snapshot/bad.go", `import "google.golang.org/protobufx"`, "protobufx"},
		"pure":                   {"internal/fleet/bad.go", `import "golang.org/x/sync/errgroup"`, "errgroup"},
		"under another name":     {"internal/xds/bad.go", `import ( "fmt"; st "fairlead/internal/store" )`, "internal/store"},
		"tests, from inside":     {"test/world/bad.go", `import "fairlead/internal/xds"`, "internal/xds, which test/world may not"},
		"not in the table":       {"internal/util/bad.go", ``, "package internal/util is not in the layer table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			imports, err := importsOf(c.file, []byte("package bad\n"+c.imports+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := violations(c.file, imports); len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("got %q, want one that says %q", got, c.want)
			}
		})
	}
	arms := map[string][2]string{}
	note(arms, "internal/x", []string{"fairlead/internal/store", "fairlead/internal/xds"})
	if arms["internal/x"] != [2]string{"internal/store", "internal/xds"} {
		t.Errorf("both arms are not noticed: %v", arms)
	}
}

func TestLayersLetPassWhatIsAllowed(t *testing.T) {
	t.Parallel()
	src := "//go:build !linux\n\npackage xds\nimport (\n\"go/ast\"\n\"fairlead/internal/snapshot\"\n\"google.golang.org/grpc/mem\"\n)\n"
	imports, err := importsOf("internal/xds/good.go", []byte(src))
	if err != nil || len(imports) != 3 {
		t.Fatalf("imports %v, %v", imports, err)
	}
	if got := violations("internal/xds/good.go", imports); len(got) > 0 {
		t.Error(got)
	}
	if imports, err = importsOf("internal/xds/gen.go", []byte("//go:build ignore\n\npackage main\nimport \"fairlead/internal/store\"\n")); err != nil || len(imports) > 0 {
		t.Errorf("a program for go generate: %v, %v", imports, err)
	}
}

// TestPointersAreEscapedInOnePlace: the escapes of JSON Pointers stand in internal/jsonpointer alone.
func TestPointersAreEscapedInOnePlace(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
		if d.IsDir() {
			return skipped(name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(src), `"~1"`) {
			return err
		}
		if found++; path.Dir(name) != "internal/jsonpointer" {
			t.Errorf("%s escapes JSON Pointers by itself: use internal/jsonpointer", name)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d files: %v", found, err)
	}
}
