package httpapi

import (
	"net/http"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

func TestForbiddenSaysWhoMay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		who    auth.Principal
		action auth.Action
		want   string
	}{
		{auth.Principal{Role: auth.RoleEditor}, auth.ManageFleets, "the token has the role editor, and this takes admin or owner"},
		{auth.Principal{Role: auth.RoleViewer}, auth.WriteConfig, "the token has the role viewer, and this takes ci, editor, admin or owner"},
		{auth.Principal{Role: auth.RoleAdmin}, auth.DeleteTenant, "the token has the role admin, and this takes owner"},
		{auth.Principal{Role: auth.RoleOwner}, auth.ManageTenants, "this takes an operator's token"},
		{auth.Principal{Role: auth.RoleAdmin, Fleet: &fleet.ID{1}}, auth.ManageTokens, "the token is bound to one fleet, and this is about more than that fleet"},
		{auth.Principal{Operator: true}, auth.ReadConfig, "an operator's token is for tenants and their tokens: this takes a token of the tenant, of the role viewer, ci, editor, admin or owner"},
		{auth.Principal{Role: auth.RoleOwner}, "", "the token's role does not allow this"},
	} {
		got := mayNot(c.who, c.action)
		if got.detail != c.want || got.status != http.StatusForbidden || got.code != "forbidden" {
			t.Errorf("%+v, %s: %d %s %q, want %q", c.who, c.action, got.status, got.code, got.detail, c.want)
		}
	}
}
