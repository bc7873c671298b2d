package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// rollbacks is what a rollback may do, by what it changes: y, or n for 403; of viewer, ci, ci
// with writes_secrets, editor, admin, owner, operator.
var rollbacks = map[string]struct {
	old, now string // resources of an apply
	gone     bool   // old is deleted
	may      string
}{
	"plain content":               {old: element("clusters", "x", cluster("x")), now: element("clusters", "x", clusterWith("x", "2s")), may: "nyyyyyn"},
	"what was deleted":            {old: element("clusters", "x", cluster("x")), gone: true, may: "nyyyyyn"},
	"a secret's older content":    {old: secretDocument(`{"inline_string": "a"}`), now: secretDocument(`{"inline_string": "b"}`), may: "nnyyyyn"},
	"a secret that was deleted":   {old: secretDocument(`{"inline_string": "a"}`), gone: true, may: "nnyyyyn"},
	"to be without a secret":      {old: element("clusters", "x", cluster("x")), now: secretDocument(`{"inline_string": "a"}`), may: "nnyyyyn"},
	"a secret in a file":          {old: secretDocument(`{"filename": "/f"}`), gone: true, may: "nnnnyyn"},
	"a secret in the environment": {old: secretDocument(`{"environment_variable": "E"}`), now: secretDocument(`{"inline_string": "b"}`), may: "nnnnyyn"},
	"a guarded listener":          {old: element("listeners", "x", luaListener("x", "a")), gone: true, may: "nnnnyyn"},
	"older guarded content":       {old: element("listeners", "x", luaListener("x", "a")), now: element("listeners", "x", luaListener("x", "b")), may: "nnnnyyn"},
	"to be without guarded":       {old: element("clusters", "x", cluster("x")), now: element("listeners", "x", luaListener("x", "b")), may: "nyyyyyn"},
	"beside guarded content":      {old: element("clusters", "x", cluster("x")) + "," + element("listeners", "y", luaListener("y", "a")), now: element("clusters", "x", clusterWith("x", "2s")), may: "nyyyyyn"},
}

func secretDocument(source string) string {
	return element("secrets", "x", `{"name": "x", "generic_secret": {"secret": `+source+`}}`)
}

// TestT43_RollbackMatrix: a rollback asks for the rights that an apply of the same content
// asks for.
func TestT43_RollbackMatrix(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator, fleets := w.operator(), 0
	for what, c := range rollbacks {
		changed := func() store.Fleet {
			fleets++
			f := w.newFleet(w.tenant, fmt.Sprintf("f%d", fleets))
			base := "/v1/tenants/" + w.tenant.Slug + "/fleets/" + f.Name
			w.do(http.MethodPost, base+"/apply", applied(c.old)).is(200, nil)
			now := applied(c.now)
			if c.gone {
				var d struct{ Type, Name string }
				must(t, json.Unmarshal([]byte(c.old), &d))
				now = fmt.Sprintf(`{"delete": [{"type": %q, "name": %q}]}`, d.Type, d.Name)
			}
			w.do(http.MethodPost, base+"/apply", now).is(200, nil)
			return f
		}
		stays := changed() // after what is refused
		for i, role := range []auth.Role{auth.RoleViewer, auth.RoleCI, auth.RoleCI, auth.RoleEditor, auth.RoleAdmin, auth.RoleOwner, "operator"} {
			f := stays
			if c.may[i] == 'y' {
				f = changed()
			}
			token := operator
			if role != "operator" {
				k := store.APIToken{Role: role, Name: string(role), WritesSecrets: i == 2}
				if role == auth.RoleCI {
					k.Fleet = &f.ID
				}
				token = w.tokenOf(w.tenant, k)
			}
			a := w.do(http.MethodPost, "/v1/tenants/"+w.tenant.Slug+"/fleets/"+f.Name+"/rollback", `{"revision": 1}`, "Authorization", "Bearer "+token)
			switch want := c.may[i]; {
			case want == 'y' && a.status >= 300:
				t.Errorf("%s as %s: %d %s", what, role, a.status, a.body)
			case want == 'n' && a.status != http.StatusForbidden:
				t.Errorf("%s as %s: %d, want 403: %s", what, role, a.status, a.body)
			}
		}
	}
}

// TestT43_RollbackOfASecretThatIsOlderThanTheRules: nothing is known of its sealed body.
func TestT43_RollbackOfASecretThatIsOlderThanTheRules(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPost, w.at("apply"), applied(secretDocument(`{"inline_string": "a"}`))).is(200, nil)
	w.do(http.MethodDelete, w.at("resources", "secrets", "x"), "").is(200, nil)
	super := w.db.Connect(t, w.db.Owner)
	defer func() { _ = super.Close(context.WithoutCancel(t.Context())) }()
	_, err := super.Exec(t.Context(), `UPDATE resource_history SET summary = summary - 'guarded'`)
	must(t, err)
	editor := "Bearer " + w.token(w.tenant, auth.RoleEditor, nil)
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Authorization", editor).isProblem(403, "guarded", "/resources/secrets/x/body")
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`).is(200, nil)
}

// queued holds the fleet's head until the writers wait for it, each of another server; then
// they go on in order.
func (w *world) queued(start ...func()) {
	w.t.Helper()
	ctx := w.t.Context()
	super := w.db.Connect(w.t, w.db.Owner)
	defer func() { _ = super.Close(context.WithoutCancel(ctx)) }()
	tx, err := super.Begin(ctx)
	must(w.t, err)
	_, err = tx.Exec(ctx, `SELECT FROM fleet_heads WHERE fleet_id = $1 FOR UPDATE`, w.fleet.ID.String())
	must(w.t, err)
	look := w.db.Connect(w.t, w.db.Owner)
	defer func() { _ = look.Close(context.WithoutCancel(ctx)) }()
	for i, f := range start {
		f()
		for n := 0; n <= i; {
			must(w.t, look.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n))
		}
	}
	must(w.t, tx.Commit(ctx))
}

// sent sends a request at once and returns its answer later.
func (w *world) sent(method, path, body string, headers ...string) (start func(), end func() answer) {
	done := make(chan answer, 1)
	return func() { go func() { done <- w.do(method, path, body, headers...) }() }, func() answer { return <-done }
}

// TestT43_GuardedContentIsNotSmuggledByARace: what was unchanged when it was looked at, and is
// changed by another before it is written, is looked at again.
func TestT43_GuardedContentIsNotSmuggledByARace(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "listeners", "l")
	old := asDocument(luaListener("l", "old"))
	w.do(http.MethodPut, path, old).isWritten(nil)
	admin, adminDone := w.sent(http.MethodPut, path, asDocument(luaListener("l", "fixed")))
	editor, editorDone := w.beside().sent(http.MethodPut, path, old, "Authorization", w.writers(w.fleet)[auth.RoleEditor])
	w.queued(admin, editor)
	adminDone().is(200, nil)
	editorDone().isProblem(403, "guarded", "/body"+luaAt)
	if a := w.do(http.MethodGet, path, ""); !bytes.Contains(a.body, []byte("fixed")) {
		t.Errorf("the old code is back: %s", a.body)
	}
}

// TestT43_ARollbackIsOfWhatWasChecked: which resources a rollback changes depends on what there is; another writer moves that between the
// check and the rollback. What was not checked is not brought back, and what others wrote meanwhile stays.
func TestT43_ARollbackIsOfWhatWasChecked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := `{"name": "s", "generic_secret": {"secret": {"inline_string": "x"}}}`
	w.do(http.MethodPost, w.at("apply"), applied(element("secrets", "s", secret), element("clusters", "a", cluster("a")))).is(200, nil)
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "2s"))).isWritten(nil)
	ci := "Bearer " + w.token(w.tenant, auth.RoleCI, &w.fleet.ID)
	owner, ownerDone := w.sent(http.MethodDelete, w.at("resources", "secrets", "s"), "")
	back, backDone := w.beside().sent(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Authorization", ci)
	w.queued(owner, back)
	ownerDone().is(200, nil)
	var out oapi.WriteResult
	backDone().is(200, &out)
	if out.Revision != 4 || out.Changed != 1 {
		t.Errorf("the rollback is %+v", out)
	}
	w.do(http.MethodGet, w.at("resources", "secrets", "s"), "").isProblem(404, "not_found", "")
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Authorization", ci).isProblem(403, "forbidden", "/resources/secrets/s")
	w.put("b")
	other, otherDone := w.sent(http.MethodPut, w.at("resources", "clusters", "c"), asDocument(cluster("c")))
	again, againDone := w.beside().sent(http.MethodPost, w.at("rollback"), `{"revision": 4}`, "Authorization", ci)
	w.queued(other, again)
	otherDone().is(201, nil)
	againDone().is(200, &out)
	if out.Revision != 7 || out.Changed != 1 {
		t.Errorf("the rollback is %+v", out)
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "c"), "").is(200, nil)
}

// A rollback succeeds however often others write meanwhile, also what it rolls back itself, and what they write elsewhere stays. So does its
// plan, and the rollback of what that showed, but for what has changed since.
func TestARollbackSucceedsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	const many = 300
	w := setup(t)
	w.unpaced(2)
	w.do(http.MethodPost, w.at("apply"), chainOf(many, 0)).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), chainOf(many, 1)).is(200, nil)
	written := 0
	writing := func(body func(int) string, during func()) {
		done, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for {
				select {
				case <-done:
					return
				default:
					written++
					w.do(http.MethodPost, w.at("apply"), body(written)).is(200, nil)
				}
			}
		}()
		defer func() {
			close(done)
			<-ended
		}()
		during()
	}
	elsewhere := func(i int) string {
		return applied(element("clusters", fmt.Sprint("other", i), cluster(fmt.Sprint("other", i))))
	}
	var p oapi.Plan
	var out oapi.WriteResult
	writing(elsewhere, func() {
		w.do(http.MethodPost, w.at("rollback")+"/plan", `{"revision": 1}`).is(200, &p)
		if p.Counts.Update != many/4 { // chainOf moves the clusters alone
			t.Errorf("the plan is %+v", p.Counts)
		}
		w.do(http.MethodPost, w.at("rollback"), withMember(`{"revision": 1}`, "confirm", p.Token)).is(200, &out)
	})
	if want := p.Counts.Update + p.Counts.Delete; out.Changed != want {
		t.Errorf("%d changed, want the %d that were planned", out.Changed, want)
	}
	w.do(http.MethodGet, w.at("resources", "clusters", fmt.Sprint("other", written)), "").is(200, nil)

	// Of one plan nothing is made that it did not show; without one it is made, whatever the writer does to the same resource.
	same := func(i int) string {
		return applied(element("clusters", "c00000", clusterWith("c00000", fmt.Sprintf("%ds", 10+i))))
	}
	some := `{"revision": 2, "resources": [{"type": "clusters", "name": "c00000"}, {"type": "clusters", "name": "c00001"}]}`
	writing(same, func() {
		w.do(http.MethodPost, w.at("rollback"), some).is(200, &out)
	})
}

// TestT43_AReplayStaysAReplay: the answer to a repeat is the first one, whatever has become
// of the fleet, and of another request the refusal.
func TestT43_AReplayStaysAReplay(t *testing.T) {
	t.Parallel()
	w := setup(t)
	by := w.writers(w.fleet)
	lua := element("listeners", "l", luaListener("l", "x"))
	w.do(http.MethodPost, w.at("apply"), applied(lua)).is(200, nil)
	body := applied(lua, element("clusters", "a", cluster("a")))
	first := w.do(http.MethodPost, w.at("apply"), body, "Authorization", by[auth.RoleEditor], "Idempotency-Key", "k1").is(200, nil)
	back := w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Authorization", by[auth.RoleEditor], "Idempotency-Key", "k2").is(200, nil)
	w.do(http.MethodDelete, w.at("resources", "listeners", "l"), "").is(200, nil)

	if again := w.do(http.MethodPost, w.at("apply"), body, "Authorization", by[auth.RoleEditor], "Idempotency-Key", "k1").is(200, nil); !bytes.Equal(again.body, first.body) {
		t.Errorf("the repeat of the apply is another: %s, was %s", again.body, first.body)
	}
	if again := w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Authorization", by[auth.RoleEditor], "Idempotency-Key", "k2").is(200, nil); !bytes.Equal(again.body, back.body) {
		t.Errorf("the repeat of the rollback is another: %s, was %s", again.body, back.body)
	}
	w.do(http.MethodPost, w.at("apply"), body, "Authorization", by[auth.RoleEditor], "Idempotency-Key", "k3").isProblem(403, "guarded", "/resources/0/body"+luaAt)
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Authorization", by[auth.RoleEditor], "Idempotency-Key", "k4").isProblem(403, "guarded", "/resources/listeners/l/body"+luaAt)
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Authorization", by[auth.RoleEditor], "Idempotency-Key", "k1").isProblem(422, "idempotency_key_reused", "?Idempotency-Key")
	// A refusal claims nothing: the key is free for the request that is allowed.
	w.do(http.MethodPost, w.at("apply"), applied(lua)).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), body, "Authorization", by[auth.RoleEditor], "Idempotency-Key", "k3").is(200, nil)
}

// TestT43_RollbackAsksWhatAnApplyAsks: an old row that a newer rule refuses is named, and
// nothing of the rollback is made, whoever asks.
func TestT43_RollbackAsksWhatAnApplyAsks(t *testing.T) {
	t.Parallel()
	w := setup(t)
	stuck, err := proto.Marshal(&clusterv3.Cluster{Name: "old", LbConfig: &clusterv3.Cluster_MaglevLbConfig_{
		MaglevLbConfig: &clusterv3.Cluster_MaglevLbConfig{TableSize: wrapperspb.UInt64(4)}}})
	must(t, err)
	for _, variant := range []string{"", "v/1"} {
		change := store.ResourceChange{Type: fleet.Cluster, Name: "old", Variant: variant, Body: stuck, Version: "v", DocHash: [32]byte{1}, BodyHash: [32]byte{2}}
		if variant != "" {
			change.Selector = "node.id=n"
		}
		_, err = w.store.Apply(t.Context(), w.tenant.ID, w.fleet.ID, store.Write{Actor: tester, Changes: []store.ResourceChange{change}})
		must(t, err)
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [`+element("clusters", "new", cluster("new"))+`], "delete": [{"type": "clusters", "name": "old"}, {"type": "clusters", "name": "old", "variant": "v/1"}]}`).is(200, nil)
	a := w.do(http.MethodPost, w.at("rollback"), `{"revision": 2}`)
	a.isProblem(422, "invalid_resource", "/resources/clusters/old/body/maglev_lb_config/table_size")
	a.isProblem(422, "invalid_resource", "/resources/clusters/old/variants/v~11/body/maglev_lb_config/table_size")
	w.do(http.MethodGet, w.at("resources", "clusters", "new"), "").is(200, nil)
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 9}`).isProblem(404, "not_found", "")
}
