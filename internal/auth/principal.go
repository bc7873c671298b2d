package auth

import (
	"slices"

	"fairlead/internal/fleet"
)

// Principal is an authenticated caller of the API. All of it comes from the row of its
// credential, nothing from the request. The zero Principal may do nothing.
type Principal struct {
	Operator   bool           // belongs to no tenant; Role is ignored
	Tenant     fleet.TenantID // the one tenant that it can see
	Role       Role
	Credential fleet.CredentialID
	Name       string // for audit and display
	// Fleet bounds it to one fleet; nil is all fleets of the tenant. RoleCI must have one.
	Fleet *fleet.ID
	// WritesSecrets lets RoleCI write Secrets; the other roles do not look at it.
	WritesSecrets bool
	// UsesSecrets lets RoleCI and RoleEditor use Secrets; the others do not look at it.
	UsesSecrets SecretGrants
}

// May reports whether p may do a, in the given fleet where the action concerns one.
// Without a fleet the question is about the tenant as a whole, which is always no for
// a principal that is bound to a fleet. May does not look at tenants: ask Sees first.
func (p Principal) May(a Action, in ...fleet.ID) bool {
	if p.Operator {
		return slices.Contains(operatorMay, a)
	}
	if !slices.Contains(allowed[a], p.Role) {
		return false
	}
	if p.Role == RoleCI && (p.Fleet == nil || a == WriteSecret && !p.WritesSecrets) {
		return false
	}
	if p.Fleet == nil {
		return true
	}
	for _, f := range in {
		if f != *p.Fleet {
			return false
		}
	}
	return len(in) > 0
}

// Sees reports whether tenant t exists for p. Where it does not, the answer is the one
// for a tenant that is nowhere.
func (p Principal) Sees(t fleet.TenantID) bool {
	return p.Operator || p.Tenant == t && t != fleet.TenantID{}
}

// MayGrant reports whether p may give role r to a token or a member: never more than
// it has itself.
func (p Principal) MayGrant(r Role) bool { return p.reaches(r) }

// MayRevoke reports whether p may end a token of role r: none that is above its own.
func (p Principal) MayRevoke(r Role) bool { return p.reaches(r) }

// reaches reports whether p manages tokens and r is not above its own role.
func (p Principal) reaches(r Role) bool {
	if !p.May(ManageTokens) || !slices.Contains(Roles(), r) {
		return false
	}
	return r != RoleOwner || p.Operator || p.Role == RoleOwner
}
