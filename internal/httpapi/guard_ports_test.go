package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/resource"
)

// TestT22_EachRuleIsNeeded gives one rule after the other to everybody who writes: each time something of the corpus that
// was refused to the role ci is taken.
func TestT22_EachRuleIsNeeded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ci := w.writers(w.fleet)[auth.RoleCI]
	cases := guardCases(t)
	for _, rule := range resource.Rules() {
		var err error
		taken := func(c guardCase) bool {
			w.api.guard = write.DefaultGuard()
			w.do(http.MethodPost, w.at("plan"), applied(c.document()), "Authorization", ci).isProblem(403, "guarded", "")
			w.api.guard, err = write.ParseGuard([]string{string(rule) + "=ci"})
			must(t, err)
			return w.do(http.MethodPost, w.at("plan"), applied(c.document()), "Authorization", ci).status == http.StatusOK
		}
		if !slices.ContainsFunc(cases, func(c guardCase) bool { return c.Rule == rule && taken(c) }) {
			t.Errorf("without the rule %s all is refused as before", rule)
		}
	}
}

// TestT22_LocalPorts: what the fleet's local_ports names of the proxies' own machine is data for everybody who writes,
// in each form of an address and on each way in; all else of that machine is not.
func TestT22_LocalPorts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	by := w.writers(w.fleet)
	at := func(host string, port int) string {
		return fmt.Sprintf(`{"type": "endpoints", "name": "x", "body": {"cluster_name": "x", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": %q, "port_value": %d}}}}]}]}}`, host, port)
	}
	const pointer = "/resources/0/body/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/address"
	put := func(role auth.Role, doc string) answer {
		return w.do(http.MethodPost, w.at("apply"), applied(doc), "Authorization", by[role])
	}
	p := put(auth.RoleCI, at("127.0.0.1", 8080)).isProblem(403, "guarded", pointer)
	if !strings.HasSuffix(deref(p.Errors)[0].Detail, "or an admin to add 8080 to the fleet's local_ports") {
		t.Errorf("%+v", p.Errors)
	}
	for _, role := range []auth.Role{auth.RoleCI, auth.RoleEditor} {
		w.do(http.MethodPatch, w.at(), `{"local_ports": [8080]}`, "Authorization", by[role]).isProblem(403, "forbidden", "")
	}
	var f oapi.Fleet
	w.do(http.MethodPatch, w.at(), `{"local_ports": [9000, 8080, 9000]}`, "Authorization", by[auth.RoleAdmin]).is(200, &f)
	if !slices.Equal(f.LocalPorts, []int32{8080, 9000}) {
		t.Errorf("%v", f.LocalPorts)
	}
	for _, host := range []string{"127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1"} {
		put(auth.RoleCI, at(host, 8080)).is(200, nil)
		put(auth.RoleEditor, at(host, 8081)).isProblem(403, "guarded", pointer)
		put(auth.RoleEditor, at(host, resource.AdminPort)).isProblem(403, "guarded", pointer)
	}
	put(auth.RoleCI, at("169.254.169.254", 8080)).isProblem(403, "guarded", pointer)

	// A port that is open does not hide one that is not.
	var many strings.Builder
	for port := range 200 {
		fmt.Fprintf(&many, `{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": %d}}}},`, 8080+port/100)
	}
	put(auth.RoleCI, `{"type": "endpoints", "name": "x", "body": {"cluster_name": "x", "endpoints": [{"lb_endpoints": [`+strings.TrimSuffix(many.String(), ",")+`]}]}}`).isProblem(403, "guarded", "")

	// What is asked for its health at another port.
	other := strings.Replace(at("127.0.0.1", 8080), `"endpoint": {`, `"endpoint": {"health_check_config": {"port_value": 9901}, `, 1)
	put(auth.RoleCI, other).isProblem(403, "guarded", "/resources/0/body/endpoints/0/lb_endpoints/0/endpoint/health_check_config/port_value")

	// Placeholders are judged as filled.
	w.do(http.MethodPatch, w.at(), `{"values": {"HOST": "127.0.0.1"}}`).is(200, nil)
	put(auth.RoleCI, at("${fleet.values.HOST}", 8080)).is(200, nil)
	put(auth.RoleCI, at("${fleet.values.HOST}", 8081)).isProblem(403, "guarded", "")

	// A closed port is closed; what is stored stays, and may be sent again.
	stored := at("127.0.0.1", 9000)
	put(auth.RoleCI, stored).is(200, nil)
	var before oapi.WriteResult
	put(auth.RoleAdmin, at("10.0.0.1", 9000)).is(200, &before)
	w.do(http.MethodPatch, w.at(), `{"local_ports": []}`).is(200, nil)
	w.do(http.MethodPost, w.at("rollback"), fmt.Sprintf(`{"revision": %d}`, before.Revision-1), "Authorization", by[auth.RoleCI]).isProblem(403, "guarded", "")
	put(auth.RoleAdmin, stored).is(200, nil)
	put(auth.RoleCI, stored).is(200, nil)
	put(auth.RoleCI, strings.Replace(stored, "9000", "9001", 1)).isProblem(403, "guarded", pointer)

	// The admin interface is opened by its number alone, and where admins may not write it, not at all.
	w.do(http.MethodPatch, w.at(), `{"local_ports": [8080, 9901]}`).is(200, nil)
	put(auth.RoleCI, at("127.0.0.1", resource.AdminPort)).is(200, nil)
	var err error
	w.api.guard, err = write.ParseGuard([]string{"loopback=owner"})
	must(t, err)
	put(auth.RoleAdmin, at("127.0.0.1", 8080)).isProblem(403, "guarded", pointer)

	for bad, where := range map[string]string{`{"local_ports": [0]}`: "/local_ports/0", `{"local_ports": [1, 65536]}`: "/local_ports/1", `{"local_ports": ["8080"]}`: "/local_ports/0"} {
		p := w.do(http.MethodPatch, w.at(), bad)
		if p.status != http.StatusBadRequest || !strings.Contains(string(p.body), where) {
			t.Errorf("%s: %d %s", bad, p.status, p.body)
		}
	}
}
