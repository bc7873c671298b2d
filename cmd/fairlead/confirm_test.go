package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeletingMostIsConfirmed(t *testing.T) {
	t.Parallel()
	w := live(t)
	all := strings.Join([]string{shop("a"), shop("b"), shop("c"), shop("d")}, "---\n")
	w.on("edge", all, "apply", "-f", "-").is(t, exitOK)
	const why = "3 of the fleet's 4 clusters would be deleted"
	gone := []string{"delete", "clusters", "a", "b", "c"}

	alone := func(r result) {
		t.Helper()
		if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "fairlead: nothing was done: "+why+": add --yes if that is meant\nrequest id ") {
			t.Errorf("%+v", r)
		}
	}
	alone(w.on("edge", "", gone...))
	if r := w.on("edge", "", append(gone, "--json")...); r.code != exitUsage || !strings.Contains(r.out, `"code": "confirmation_required"`) || !strings.Contains(r.out, `"token": "plan-`) {
		t.Errorf("%+v", r)
	}
	if r := w.on("edge", shop("d"), "diff", "-f", "-", "--prune", "--all"); r.code != exitDiffers || !strings.HasSuffix(r.err, "to confirm: "+why+"\n") {
		t.Errorf("%+v", r)
	}
	w.asks = true
	alone(w.on("edge", "", gone...)) // the input is at its end
	w.on("edge", "y\n", gone...).want(t, exitFailed, "", "to confirm: "+why+"\nType yes if that is meant: fairlead: nothing was done\n")
	w.on("edge", "yes\n", gone...).want(t, exitOK, "revision 2: 3 resources changed\n", "to confirm: "+why+"\nType yes if that is meant: ")

	w.asks = false
	w.on("edge", all, "apply", "-f", "-").is(t, exitOK)
	w.on("edge", "", "rollback", "2", "--yes").want(t, exitOK, "revision 4: 3 resources changed\n", "to confirm: "+why+"\n")
	w.on("edge", all, "apply", "-f", "-").is(t, exitOK)
	w.on("edge", shop("d"), "apply", "-f", "-", "--prune", "--all", "--yes").want(t, exitOK, "revision 6: 3 resources changed\n",
		"prune: clusters/a\nprune: clusters/b\nprune: clusters/c\nto confirm: "+why+"\n")
}

// TestCtrlCAtAQuestion: a terminal that is read cannot be called off, and yet the first Ctrl-C ends the command.
func TestCtrlCAtAQuestion(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("DELETE", "", reply{
		status: http.StatusPreconditionRequired, header: map[string]string{"Content-Type": "application/problem+json"},
		body: `{"title": "Precondition Required", "status": 428, "code": "confirmation_required", "token": "plan-x", "confirm": [{"code": "live_nodes", "detail": "2 nodes are connected"}]}`,
	})
	ctx, interrupt := context.WithCancel(t.Context())
	keyboard, keys := io.Pipe()
	var out, errs strings.Builder
	status, said := -1, ""
	sh := &shell{in: &typing{keyboard, interrupt}, out: &out, err: &errs, dir: w.dir, now: w.now, pause: w.pause, asks: true}
	sh.leave = func(code int) {
		status, said = code, errs.String()
		keys.Close() // the process would be gone
	}
	run(ctx, sh, []string{"fleet", "delete", "edge", "--json", "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme"})
	if status != exitInterrupted || said != "to confirm: 2 nodes are connected\nType yes if that is meant: \nfairlead: interrupted\n" || !strings.HasPrefix(out.String(), "{\n  \"error\": {\n    \"detail\": \"interrupted\"") {
		t.Errorf("%d %q %q", status, said, out.String())
	}
	if d := cmp.Diff([]string{"DELETE "}, w.requests()); d != "" {
		t.Error(d)
	}
}

// typing is a keyboard at which somebody presses Ctrl-C.
type typing struct {
	io.Reader
	interrupt func()
}

func (k *typing) Read(p []byte) (int, error) {
	k.interrupt()
	return k.Reader.Read(p)
}

func TestDeletingAFleetIsConfirmed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	asked := reply{
		status: http.StatusPreconditionRequired, header: map[string]string{"Content-Type": "application/problem+json"},
		body: `{"type": "about:blank", "title": "Precondition Required", "status": 428, "code": "confirmation_required", "request_id": "req-1", "token": "plan-x",
			"confirm": [{"code": "live_nodes", "count": 2, "detail": "2 nodes are connected"}]}`,
	}
	gone := reply{status: http.StatusNoContent}
	const edgeGone = "fleet edge is deleted; for 30 days \"fairlead fleet restore edge\" brings it back\n"
	w.on("DELETE", "", gone)
	w.run("fleet", "delete", "edge").want(t, exitOK, "", edgeGone)
	w.on("DELETE", "", asked)
	w.run("fleet", "delete", "edge").want(t, exitUsage, "", "fairlead: nothing was done: 2 nodes are connected: add --yes if that is meant\nrequest id req-1\n")
	w.on("DELETE", "", asked, gone)
	w.run("fleet", "delete", "edge", "--yes").want(t, exitOK, "", "to confirm: 2 nodes are connected\n"+edgeGone)
	if d := cmp.Diff([]string{"DELETE ", "DELETE ", "DELETE ", "DELETE ?confirm=plan-x"}, w.requests()); d != "" {
		t.Error(d)
	}
}

// TestFindingsOfTheCommandLine: there is no file whose place could be told.
func TestFindingsOfTheCommandLine(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", shop("a")+"---\n"+namingA, "apply", "-f", "-").is(t, exitOK)
	const gone = "error: listeners/l names clusters/a, which "
	if r := w.on("edge", "", "delete", "clusters", "a"); r.code != exitOK || !strings.HasPrefix(r.err, gone) {
		t.Errorf("%+v", r)
	}
	w.on("edge", shop("a"), "apply", "-f", "-").is(t, exitOK)
	for _, more := range []string{"--dry-run", "--yes"} {
		if r := w.on("edge", "", "rollback", "2", more); r.code != exitOK || !strings.HasPrefix(r.err, gone) {
			t.Errorf("%+v", r)
		}
	}
}

// namingA is a listener that needs the cluster a.
const namingA = `{type: listeners, name: l, body: {name: l, filter_chains: [{filters: [{name: t, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: t, cluster: a}}]}]}}`

func TestRollbackDryRun(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", shop("a"), "apply", "-f", "-").is(t, exitOK)
	w.on("edge", shop("b"), "apply", "-f", "-").is(t, exitOK)
	out := w.on("edge", "", "rollback", "1", "--dry-run").is(t, exitOK)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if lines[0] != "--- clusters/b (revision 2)" || lines[len(lines)-3] != "1 to delete, on revision 2" || lines[len(lines)-2] != "no node has connected to the fleet yet" {
		t.Fatal(out)
	}
	token := lines[len(lines)-1]
	if js := w.on("edge", "", "rollback", "1", "--dry-run", "--json").is(t, exitOK); !strings.Contains(js, `"token": "`+token+`"`) {
		t.Error(js)
	}
	w.on("edge", shop("c"), "apply", "-f", "-").is(t, exitOK)
	if r := w.on("edge", "", "rollback", "2", "--plan", token); r.code != exitFailed || !strings.Contains(r.err, "  /plan: others have written since") {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"rollback", "1"}, {"apply", "-f", "-"}, {"promote", "--from", "edge", "--to", "edge2"}} {
		if r := w.on("edge", shop("d"), append(args, "--plan", "")...); r.code != exitUsage || !strings.Contains(r.err, "--plan: the token is empty") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	w.on("edge", "", "rollback", "1", "clusters", "b", "--plan", token).want(t, exitOK, "revision 4: 1 resource changed\n", "")
	w.on("edge", "", "rollback", "4", "--dry-run").want(t, exitOK, "nothing would change, on revision 4\n", "")
	w.on("edge", "", "rollback", "1", "--dry-run", "--wait").want(t, exitUsage, "", "fairlead: a dry run writes nothing: --wait and --idempotency-key are about a write\n")
}
