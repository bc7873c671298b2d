package auth_test

import (
	"os"
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

type caller struct {
	name string
	p    auth.Principal
}

func callers(own *fleet.ID, t fleet.TenantID) []caller {
	return []caller{
		{"viewer", auth.Principal{Tenant: t, Role: auth.RoleViewer}},
		{"ci", auth.Principal{Tenant: t, Role: auth.RoleCI, Fleet: own}},
		{"ci with secrets", auth.Principal{Tenant: t, Role: auth.RoleCI, Fleet: own, WritesSecrets: true}},
		{"editor", auth.Principal{Tenant: t, Role: auth.RoleEditor}},
		{"admin", auth.Principal{Tenant: t, Role: auth.RoleAdmin}},
		{"owner", auth.Principal{Tenant: t, Role: auth.RoleOwner}},
		{"operator", auth.Principal{Operator: true}},
	}
}

// readTable returns action -> one letter per caller.
func readTable(t *testing.T) map[auth.Action][]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/roles.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := map[auth.Action][]string{}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		table[auth.Action(cells[0])] = cells[1:]
	}
	return table
}

func TestRoleMatrix(t *testing.T) {
	t.Parallel()
	own, other, tenant := fleet.NewID(), fleet.NewID(), fleet.NewTenantID()
	table := readTable(t)
	if len(table) != len(auth.Actions()) {
		t.Errorf("testdata/roles.txt has %d actions, the code has %d", len(table), len(auth.Actions()))
	}
	for _, a := range auth.Actions() {
		row, ok := table[a]
		if !ok || len(row) != 7 {
			t.Errorf("action %q has no full row in testdata/roles.txt", a)
			continue
		}
		for i, c := range callers(&own, tenant) {
			got := "-"
			switch {
			case c.p.May(a) && c.p.May(a, own) && c.p.May(a, other):
				got = "y"
			case !c.p.May(a) && c.p.May(a, own) && !c.p.May(a, other) && !c.p.May(a, own, other):
				got = "f"
			case c.p.May(a) || c.p.May(a, own) || c.p.May(a, other):
				got = "mixed"
			}
			if got != row[i] {
				t.Errorf("%s, %q: the code says %s, the table %s", c.name, a, got, row[i])
			}
		}
	}
}

func TestFleetBoundPrincipals(t *testing.T) {
	t.Parallel()
	own, other := fleet.NewID(), fleet.NewID()
	admin := auth.Principal{Tenant: fleet.NewTenantID(), Role: auth.RoleAdmin, Fleet: &own}
	if !admin.May(auth.WriteConfig, own) || admin.May(auth.WriteConfig, other) || admin.May(auth.ManageTokens) {
		t.Error("a principal with a fleet must act in that fleet alone")
	}
	ci := auth.Principal{Tenant: fleet.NewTenantID(), Role: auth.RoleCI, WritesSecrets: true}
	for _, a := range auth.Actions() {
		if ci.May(a) || ci.May(a, own) {
			t.Errorf("ci without a fleet may %q", a)
		}
		if zero := (auth.Principal{}); zero.May(a) || zero.May(a, own) {
			t.Errorf("the zero principal may %q", a)
		}
		if odd := (auth.Principal{Role: "root"}); odd.May(a) {
			t.Errorf("an unknown role may %q", a)
		}
	}
}

func TestSees(t *testing.T) {
	t.Parallel()
	a, b := fleet.NewTenantID(), fleet.NewTenantID()
	p := auth.Principal{Tenant: a, Role: auth.RoleOwner}
	if !p.Sees(a) || p.Sees(b) || !(auth.Principal{Operator: true}).Sees(b) {
		t.Error("a principal must see its own tenant alone, the operator all")
	}
	if (auth.Principal{}).Sees(fleet.TenantID{}) {
		t.Error("the zero principal sees the zero tenant")
	}
}

// Nobody mints or revokes above their own role.
func TestT43_MayGrantAndRevoke(t *testing.T) {
	t.Parallel()
	own := fleet.NewID()
	want := map[string]string{
		"viewer": "", "ci": "", "ci with secrets": "", "editor": "",
		"admin": "viewer ci editor admin", "owner": "viewer ci editor admin owner", "operator": "viewer ci editor admin owner",
	}
	for _, c := range callers(&own, fleet.NewTenantID()) {
		for what, may := range map[string]func(auth.Role) bool{"grant": c.p.MayGrant, "revoke": c.p.MayRevoke} {
			var got []string
			for _, r := range auth.Roles() {
				if may(r) {
					got = append(got, string(r))
				}
			}
			if s := strings.Join(got, " "); s != want[c.name] {
				t.Errorf("%s may %s %q, want %q", c.name, what, s, want[c.name])
			}
			if may("root") {
				t.Errorf("%s may %s an unknown role", c.name, what)
			}
		}
	}
}

func TestParseRole(t *testing.T) {
	t.Parallel()
	for _, r := range auth.Roles() {
		if got, err := auth.ParseRole(string(r)); got != r || err != nil {
			t.Errorf("ParseRole(%q) = %q, %v", r, got, err)
		}
		if want := map[bool]auth.Kind{true: auth.KindCI, false: auth.KindAPI}[r == auth.RoleCI]; r.TokenKind() != want {
			t.Errorf("%s has tokens of kind %s", r, r.TokenKind())
		}
	}
	if _, err := auth.ParseRole("Owner"); !is(err, fleet.ErrInvalid) {
		t.Errorf("ParseRole(Owner) = %v", err)
	}
}
