package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"fairlead/internal/auth"
)

func errForbidden() *problem {
	return refuse(http.StatusForbidden, "forbidden", "the token's role does not allow this")
}

// mayNot says why the caller may not do it, and who may: the table of roles is no secret.
func mayNot(p auth.Principal, a auth.Action) *problem {
	out := errForbidden()
	roles := auth.RolesFor(a)
	switch {
	case a == "":
	case len(roles) == 0:
		out.detail = "this takes an operator's token"
	case p.Operator:
		out.detail = "an operator's token is for tenants and their tokens: this takes a token of the tenant, of the role " + anyOf(roles)
	case slices.Contains(roles, p.Role):
		out.detail = "the token is bound to one fleet, and this is about more than that fleet"
	default:
		out.detail = fmt.Sprintf("the token has the role %s, and this takes %s", p.Role, anyOf(roles))
	}
	return out
}

// anyOf are the roles as a text.
func anyOf(roles []auth.Role) string {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
