package auth

import (
	"fmt"
	"slices"

	"fairlead/internal/fleet"
)

// Role is what a member or a token of a tenant is trusted with. The set is closed.
type Role string

// The roles. Each but RoleCI may do all that the one before it may; RoleCI is a
// pipeline's role and acts in its one fleet alone.
const (
	RoleViewer Role = "viewer"
	RoleCI     Role = "ci"
	RoleEditor Role = "editor"
	RoleAdmin  Role = "admin"
	RoleOwner  Role = "owner"
)

// Roles returns every role.
func Roles() []Role { return []Role{RoleViewer, RoleCI, RoleEditor, RoleAdmin, RoleOwner} }

// ParseRole reads a role's name; another text is ErrInvalid.
func ParseRole(s string) (Role, error) {
	if r := Role(s); slices.Contains(Roles(), r) {
		return r, nil
	}
	return "", fmt.Errorf("role must be one of viewer, ci, editor, admin, owner: %w", fleet.ErrInvalid)
}

// TokenKind returns the kind of the tokens that carry the role.
func (r Role) TokenKind() Kind {
	if r == RoleCI {
		return KindCI
	}
	return KindAPI
}

// Action is something that a principal may or may not do. The set is closed; a route
// of the API names exactly one.
type Action string

// The actions.
const (
	ReadConfig        Action = "read config"        // resources, revisions, receipts, nodes and their refusals
	WriteConfig       Action = "write config"       // change resources, publish, roll back
	WriteSecret       Action = "write secret"       // put and delete Secrets; nobody reads them
	UseSecret         Action = "use secret"         // write what uses any Secret in any way; less than that needs no such right
	ManageFleets      Action = "manage fleets"      // create and delete fleets, their settings
	ManageCredentials Action = "manage credentials" // node credentials
	ManagePolicy      Action = "manage policy"      // the guard policy
	ManageTokens      Action = "manage tokens"      // API tokens of the tenant
	ManageMembers     Action = "manage members"     // members, single sign-on
	HandOverTokens    Action = "hand over tokens"   // make a token outlive the one that made it
	ExportAudit       Action = "export audit"       // what was done to the tenant, by whom
	ManageOwners      Action = "manage owners"      // change who owns the tenant
	DeleteTenant      Action = "delete tenant"
	ManageTenants     Action = "manage tenants"   // create and list tenants: the operator's
	ManageOperators   Action = "manage operators" // operator tokens: the operator's
)

// Actions returns every action.
func Actions() []Action {
	return []Action{
		ReadConfig, WriteConfig, WriteSecret, UseSecret, ManageFleets, ManageCredentials, ManagePolicy,
		ManageTokens, HandOverTokens, ManageMembers, ExportAudit, ManageOwners, DeleteTenant, ManageTenants, ManageOperators,
	}
}

var (
	readers = []Role{RoleViewer, RoleCI, RoleEditor, RoleAdmin, RoleOwner}
	writers = []Role{RoleCI, RoleEditor, RoleAdmin, RoleOwner}
	admins  = []Role{RoleAdmin, RoleOwner}
	owners  = []Role{RoleOwner}
)

// allowed is the role table. What is not in it is forbidden.
var allowed = map[Action][]Role{
	ReadConfig:        readers,
	WriteConfig:       writers,
	WriteSecret:       writers, // for RoleCI only with Principal.WritesSecrets
	UseSecret:         admins,  // the others with Principal.UsesSecrets, and for TLS of their team
	ManageFleets:      admins,
	ManageCredentials: admins,
	ManagePolicy:      admins,
	ManageTokens:      admins,
	HandOverTokens:    owners,
	ManageMembers:     admins,
	ExportAudit:       admins,
	ManageOwners:      owners,
	DeleteTenant:      owners,
}

// RolesFor returns the roles that may do a. None are those of an operator's token alone.
func RolesFor(a Action) []Role { return slices.Clone(allowed[a]) }

// operatorMay is what the operator's token is for: tenants, from the first token of each to
// its end, and other operator tokens. It reads and writes no configuration; what was done
// to a tenant as a whole it may read.
var operatorMay = []Action{ManageTenants, DeleteTenant, ManageOperators, ManageTokens, HandOverTokens, ExportAudit}
