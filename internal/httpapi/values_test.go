package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// toValue is a cluster with an address that is the fleet's value HOST.
const toValue = `{"name": "c", "type": "STRICT_DNS", "connect_timeout": "${fleet.values.WAIT}", "load_assignment": {"cluster_name": "c", "endpoints": [{"lb_endpoints": [
  {"endpoint": {"address": {"socket_address": {"address": "${fleet.values.HOST}", "port_value": "${fleet.values.PORT}"}}}}]}]}}`

func (w *world) setValues(values string) (f oapi.Fleet) {
	w.t.Helper()
	w.do(http.MethodPatch, w.at(), `{"values": `+values+`}`).is(200, &f)
	return f
}

// TestFleetValues: those that are given change, an empty one goes, the others stay.
func TestFleetValues(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var f oapi.Fleet
	w.do(http.MethodGet, w.at(), "").is(200, &f)
	if f.Values == nil || len(f.Values) > 0 {
		t.Errorf("by default %v", f.Values)
	}
	w.setValues(`{"HOST": "a.example", "PORT": "80"}`)
	w.do(http.MethodPatch, w.at(), `{"receipt_window": "90m"}`).is(200, nil)
	f = w.setValues(`{"PORT": "", "WAIT": "1s", "GONE": ""}`)
	if d := cmp.Diff(oapi.FleetValues{"HOST": "a.example", "WAIT": "1s"}, f.Values); d != "" {
		t.Error(d)
	}
	f = oapi.Fleet{}
	w.do(http.MethodPost, "/v1/tenants/"+w.tenant.Slug+"/fleets", `{"name": "new", "values": {"A": "b"}}`).is(201, &f)
	if d := cmp.Diff(oapi.FleetValues{"A": "b"}, f.Values); d != "" {
		t.Error(d)
	}
	for body, pointer := range map[string]string{
		`{"values": {"a-b": "x"}}`: "/values/a-b", `{"values": {"1": "x"}}`: "/values/1", `{"values": {"": "x"}}`: "/values/",
		`{"values": {"A": "` + strings.Repeat("x", 1025) + `"}}`: "/values/A", `{"values": {"A": 1}}`: "/values/A", `{"values": {"A": "a\u0000"}}`: "/values/A",
	} {
		w.do(http.MethodPatch, w.at(), body).isProblem(400, "invalid_request", pointer)
	}
	many := func(from, to int) string {
		var parts []string
		for i := from; i < to; i++ {
			parts = append(parts, fmt.Sprintf(`"V%d": "x"`, i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	w.setValues(many(0, 98))
	p := w.do(http.MethodPatch, w.at(), `{"values": `+many(97, 99)+`}`).isProblem(400, "invalid_request", "/values")
	if d := (*p.Errors)[0].Detail; !strings.Contains(d, "at most 100 values: these would be 101") {
		t.Error(d)
	}
}

// TestWhatIsWrittenWithValues follows a resource through all that writes and shows it.
func TestWhatIsWrittenWithValues(t *testing.T) {
	t.Parallel()
	w := setup(t)
	put := func() answer { return w.do(http.MethodPut, w.at("resources", "clusters", "c"), asDocument(toValue)) }
	p := put().isProblem(422, "invalid_resource", "/body/connect_timeout")
	if d := (*p.Errors)[0]; d.Code != "unknown_value" || !strings.Contains(d.Detail, "the fleet that this is written to has no value WAIT: set it there") || len(*p.Errors) != 3 {
		t.Errorf("%+v", *p.Errors)
	}
	w.setValues(`{"HOST": "a.example", "PORT": "80", "WAIT": "2s"}`)
	put().isWritten(nil) // 1

	var r oapi.Resource
	w.do(http.MethodGet, w.at("resources", "clusters", "c"), "").is(200, &r)
	for _, want := range []string{`"connect_timeout":"${fleet.values.WAIT}"`, `"address":"${fleet.values.HOST}"`, `"port_value":"${fleet.values.PORT}"`} {
		if !strings.Contains(string(*r.Body), want) {
			t.Errorf("%s is not in %s", want, *r.Body)
		}
	}
	if d := cmp.Diff(&map[string]string{"HOST": "a.example", "PORT": "80", "WAIT": "2s"}, r.Values); d != "" {
		t.Error(d)
	}
	rows, _, err := w.store.Resources(t.Context(), w.tenant.ID, w.fleet.ID, store.Filter{})
	must(t, err)
	if body := string(rows[0].Body); !strings.Contains(body, "a.example") || strings.Contains(body, "fleet.values") {
		t.Errorf("the message is %q", body)
	}

	// What was read can be written: it is the same.
	var written oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "clusters", "c"), string(w.do(http.MethodGet, w.at("resources", "clusters", "c"), "").body)).isWritten(&written)
	if written.Changed != 0 {
		t.Errorf("what was read is another resource: %+v", written)
	}

	// A value changes: nothing is written, and it is told.
	w.setValues(`{"HOST": "b.example"}`)
	if got := found(w.findings("")); !cmp.Equal(got, []string{"warning value_changed clusters/c /body"}) {
		t.Errorf("%q", got)
	}
	plan := w.plan(applyOf(named("clusters", "c", toValue)))
	if d := deref(plan.Resources[0].Diff); plan.Counts.Update != 1 || !strings.Contains(d, "-  HOST: a.example\n+  HOST: b.example\n") {
		t.Errorf("%+v\n%s", plan.Counts, d)
	}
	if plan.Findings == nil || plan.Findings.Warnings != 0 {
		t.Errorf("of what is written with the values of now: %+v", plan.Findings)
	}
	w.setValues(`{"HOST": "c.example"}`)
	w.do(http.MethodPost, w.at("apply"), withMember(applyOf(named("clusters", "c", toValue)), "plan", plan.Token)).isProblem(412, "precondition_failed", "/plan")
	w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "c", toValue))).is(200, nil) // 2
	if got := found(w.findings("")); len(got) > 0 {
		t.Errorf("written again: %q", got)
	}

	// A rollback brings back what was, and says that it is of another value.
	back := w.planRollback(`{"revision": 1}`)
	if d := deref(back.Resources[0].Diff); !strings.Contains(d, "-  HOST: c.example\n+  HOST: a.example\n") || back.Findings.Warnings != 1 {
		t.Errorf("%+v\n%s", back.Findings, d)
	}
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`).is(200, nil) // 3
	r = oapi.Resource{}
	w.do(http.MethodGet, w.at("resources", "clusters", "c"), "").is(200, &r)
	if (*r.Values)["HOST"] != "a.example" || !strings.Contains(string(*r.Body), "${fleet.values.HOST}") {
		t.Errorf("rolled back: %v, %s", r.Values, *r.Body)
	}
	w.setValues(`{"HOST": ""}`)
	list := w.findings("?severity=warning")
	if len(list.Items) != 1 || !strings.Contains(list.Items[0].Detail, "no value HOST any more") {
		t.Errorf("%+v", list.Items)
	}
	r = oapi.Resource{}
	w.do(http.MethodGet, w.at("resources", "clusters", "c")+"?revision=2", "").is(200, &r)
	if (*r.Values)["HOST"] != "c.example" {
		t.Errorf("as of revision 2: %v", r.Values)
	}
}

// What a node holds is shown as it holds it.
func TestANodeHoldsNoPlaceholder(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.setValues(`{"HOST": "a.example", "PORT": "80", "WAIT": "2s"}`)
	w.do(http.MethodPut, w.at("resources", "clusters", "c"), asDocument(toValue)).isWritten(nil)
	w.settledNode(w.fleet.ID, "n", fleet.Revision(1))
	var conf oapi.NodeConfig
	w.do(http.MethodGet, w.at("nodes", "n", "config")+"?bodies=true", "").is(200, &conf)
	if body := string(*conf.Items[0].Body); !strings.Contains(body, `"a.example"`) || strings.Contains(body, "fleet.values") {
		t.Errorf("%s", body)
	}
}

// What is kept beside a body counts: placeholders may be longer than what stands in their place.
func TestPlaceholdersCount(t *testing.T) {
	t.Parallel()
	w := setup(t)
	name := strings.Repeat("N", 64)
	w.setValues(`{"` + name + `": "x"}`)
	used := func(text string) int64 {
		w.do(http.MethodPut, w.at("resources", "clusters", "c"), asDocument(`{"name": "c", "alt_stat_name": "`+strings.Repeat(text, 100)+`"}`)).isWritten(nil)
		u, err := w.store.FleetUsage(t.Context(), w.tenant.ID, w.fleet.ID)
		must(t, err)
		return u.Bytes
	}
	if plain, filled := used("x"), used("${fleet.values."+name+"}"); filled < plain+100*64 {
		t.Errorf("%d bytes with placeholders, %d without", filled, plain)
	}
}
