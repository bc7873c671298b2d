package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// contained says of every place that starts a goroutine how a panic there is kept from
// ending the process (T36): the key is the file, the function and what starts it; the value
// is the function, of the same package, that contains it with package lifecycle, or, after
// "none: ", why nothing has to.
var contained = map[string]string{
	// The servers.
	"internal/lifecycle/lifecycle.go Run group.Go":             "Run",
	"internal/replica/replica.go Run owners.Go":                "owner.run",
	"internal/replica/lane.go begin time.AfterFunc":            "none: it moves a place, or cancels a context",
	"internal/delivery/run.go Run g.Go 1":                      "Recorder.Run",
	"internal/delivery/run.go Run g.Go 2":                      "Recorder.Run",
	"internal/delivery/run.go report g.Go":                     "Recorder.flush",
	"internal/delivery/run.go leave g.Go":                      "Recorder.flush",
	"internal/endpoints/builder.go begin builds.Go":            "Builder.fleet",
	"internal/xds/stream.go run go st.read":                    "stream.read",
	"internal/xds/alarm.go fireIn time.AfterFunc":              "none: it sends on a channel, or not",
	"internal/xds/queue.go Accept go q.fill":                   "none: it calls the listener, and sends what that gives on a channel",
	"internal/xds/talk.go talks go func":                       "talk.run",
	"internal/xds/talk.go newTalk time.AfterFunc":              "none: it cancels a context",
	"internal/xds/talk.go SendMsg time.AfterFunc":              "none: it cancels a context",
	"internal/xds/sessions.go enter ss.all.Go":                 "session.run",
	"internal/xds/sessions.go begin time.AfterFunc":            "none: it cancels a context, or sets a timer",
	"internal/compute/pool.go watchNetwork go func":            "none: it does nothing",
	"internal/compute/pool.go Brief time.AfterFunc":            "none: it counts, and closes a channel",
	"internal/httpapi/access/shares.go Enter time.AfterFunc":   "none: it gives a place in a semaphore back",
	"internal/xds/session.go waits time.AfterFunc":             "none: it sends on a channel that has room",
	"internal/xds/web.go ServeREST context.AfterFunc":          "none: methods of the standard library's",
	"internal/xds/conn.go Read time.AfterFunc":                 "none: it looks at the clock and closes a connection",
	"internal/xds/arrivals.go next time.AfterFunc":             "none: it takes an element out of a channel",
	"internal/xds/arrivals.go waits time.AfterFunc":            "none: it looks at the clock and calls the collector",
	"cmd/internal/run/collector.go grows time.AfterFunc":       "none: it reads figures of the runtime and sets GOGC",
	"internal/xds/flood.go waitForCalls time.AfterFunc":        "none: it sets a flag and signals",
	"internal/door/door.go enter time.AfterFunc":               "none: it looks at the clock and closes a connection",
	"internal/door/log.go holds time.AfterFunc":                "none: it counts, and writes lines of the log",
	"internal/door/log.go due time.AfterFunc":                  "none: it counts, and writes lines of the log",
	"internal/xds/server.go New context.AfterFunc":             "none: it closes a channel, once",
	"cmd/internal/run/api.go serve context.AfterFunc":          "API.serve",
	"cmd/internal/run/api_cells.go openOne all.Go":             "API.openCell",
	"cmd/internal/run/cells_apart.go checkAll all.Go":          "apart.checkCell",
	"internal/httpapi/cells.go Standing all.Go":                "cell.standing",
	"internal/httpapi/cells_find.go askAll all.Go":             "Cells.askAll",
	"cmd/internal/run/xds.go serve g.Go 1":                     "none: the standard library's server, which contains its handlers",
	"cmd/internal/run/xds.go serve g.Go 2":                     "none: grpc's server, whose handlers are contained",
	"cmd/internal/run/xds.go serveGRPC context.AfterFunc":      "server.serveGRPC",
	"cmd/internal/run/xds.go serveGRPC time.AfterFunc":         "none: a method of grpc's",
	"cmd/internal/run/xds_cells.go state asked.Go":             "xdsCell.alive",
	"cmd/internal/run/health.go Health context.AfterFunc":      "none: a method of the standard library's",
	"cmd/internal/run/debug.go serveDebug context.AfterFunc":   "none: a method of the standard library's",
	"cmd/internal/run/meanwhile.go Meanwhile g.Go 1":           "none: the standard library's server, which contains its handlers",
	"cmd/internal/run/meanwhile.go Meanwhile g.Go 2":           "none: nothing is served yet; what cannot start may end",
	"internal/forward/syslog.go Send context.AfterFunc":        "none: it sets a deadline",
	"internal/store/standby.go read time.AfterFunc":            "none: it cancels a context",
	"internal/store/migrate.go withMigrator context.AfterFunc": "none: it sends on a channel, before anything is served",
	// Programs of one user, and tests.
	"cmd/fairlead/main.go main context.AfterFunc":     "none: it stops a signal's channel",
	"cmd/fairlead/main.go leaves context.AfterFunc":   "none: it ends the process",
	"internal/filesync/session.go run reader.Go":      "none: fairlead sync serves nobody else, and its folder is whole at every moment",
	"cmd/fairlead/discover.go watch watching.Go":      "none: fairlead discover serves nobody else, and what it has put stays",
	"internal/kubernetes/source.go Run watching.Go":   "none: fairlead discover serves nobody else, and what it has put stays",
	"cmd/internal/dev/demo.go demo g.Go":              "none: fairlead dev serves nobody else",
	"cmd/internal/dev/demo.go stand g.Go 1":           "none: fairlead dev serves nobody else",
	"cmd/internal/dev/demo.go stand g.Go 2":           "none: fairlead dev serves nobody else",
	"cmd/internal/dev/demo.go run context.AfterFunc":  "none: fairlead dev serves nobody else",
	"internal/childproc/process.go Start p.wg.Go":     "none: fairlead dev serves nobody else",
	"internal/localpg/server.go Stop wg.Go":           "none: fairlead dev serves nobody else",
	"internal/xds/xdstest/client.go stream go c.read": "none: tests",
	"internal/xds/xdstest/world.go Serve go func":     "none: tests",
	"internal/xds/conformance/polls.go - go func":     "none: tests",
	"internal/xds/xdstest/poller.go web go func":      "none: tests",
	"internal/xds/xdstest/raw.go NewRaw go r.read":    "none: tests",
	"internal/xds/xdstest/raw.go End time.AfterFunc":  "none: tests",
	"internal/xds/xdstest/raw.go Gone time.AfterFunc": "none: tests",
	"test/mutants/main.go each g.Go":                  "none: tests",
	"test/world/tap.go NewTap go func":                "none: tests",
	"test/world/call.go serve go c.requests":          "none: tests",
	"test/world/call.go serve go func":                "none: tests",
	"test/world/call.go responses held.Go":            "none: tests",
	"test/world/wire.go Accept go w.read":             "none: tests",

	"internal/store/storetest/pooler.go Keep go func":     "none: tests",
	"internal/store/storetest/time.go Within counting.Go": "none: tests",
}

// starts returns what in a file starts a goroutine, in order, by the enclosing function.
func starts(name string, f *ast.File) []string {
	var found []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		where := "-"
		if ok {
			where = fn.Name.Name
		}
		note := func(what string) { found = append(found, fmt.Sprintf("%s %s %s", name, where, what)) }
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				note("go " + text(n.Call.Fun))
			case *ast.SelectorExpr: // called here, or handed on
				if n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc" {
					note(text(n))
				}
			}
			return true
		})
	}
	return numbered(found)
}

// numbered tells equal places apart.
func numbered(found []string) []string {
	count, seen := map[string]int{}, map[string]int{}
	for _, x := range found {
		count[x]++
	}
	out := make([]string, len(found))
	for i, x := range found {
		if out[i] = x; count[x] > 1 {
			seen[x]++
			out[i] = fmt.Sprint(x, " ", seen[x])
		}
	}
	return out
}

func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.FuncLit:
		return "func"
	}
	return "?"
}

// containing returns the functions and methods of a file that call package lifecycle's
// Contain, Contained or PersistThrough.
func containing(f *ast.File) []string {
	var found []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			t := fn.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			name = text(t) + "." + name
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				switch strings.TrimPrefix(text(call.Fun), "lifecycle.") {
				case "Contain", "Contained", "PersistThrough":
					found = append(found, name)
				}
			}
			return true
		})
	}
	return found
}

// Nobody starts a goroutine without saying what a panic there does.
func TestT36_EveryGoroutineIsContained(t *testing.T) {
	t.Parallel()
	found, contains := map[string]bool{}, map[string]bool{}
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
		f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			return err
		}
		for _, x := range starts(name, f) {
			found[x] = true
		}
		for _, x := range containing(f) {
			contains[path.Dir(name)+" "+x] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range slices.Sorted(maps.Keys(found)) {
		switch by, ok := contained[x]; {
		case !ok:
			t.Errorf("%q starts a goroutine: write down in this file what contains a panic there", x)
		case !strings.HasPrefix(by, "none: ") && !contains[path.Dir(strings.Fields(x)[0])+" "+by]:
			t.Errorf("%q should be contained by %s, which contains nothing", x, by)
		}
	}
	for x := range contained {
		if !found[x] {
			t.Errorf("%q is not there any more", x)
		}
	}
}

// The check itself can fail.
func TestT36_GoroutinesAreFound(t *testing.T) {
	t.Parallel()
	src := `package p
import "fairlead/internal/lifecycle"
func a() { go b(); var g errgroup.Group; g.Go(b); g.Go(b); time.AfterFunc(1, b); start := wg.Go; start(b) }
func (x *T) b() { lifecycle.Contain(nil, "", nil) }
var c = context.AfterFunc(nil, nil)
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"p.go a go b", "p.go a g.Go 1", "p.go a g.Go 2", "p.go a time.AfterFunc", "p.go a wg.Go", "p.go - context.AfterFunc"}
	if got := starts("p.go", f); !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	if got := containing(f); !slices.Equal(got, []string{"T.b"}) {
		t.Errorf("containers %q", got)
	}
}
