package write

import (
	"errors"
	"slices"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// TestGuardSettings: who may write what is the operator's to say, and a rule can be locked.
func TestGuardSettings(t *testing.T) {
	t.Parallel()
	g, err := ParseGuard([]string{"code=nobody", "pipes=editor", "loopback=owner", "files=ci"})
	if err != nil {
		t.Fatal(err)
	}
	may := func(rule resource.Rule, roles ...auth.Role) {
		t.Helper()
		for _, r := range auth.Roles() {
			if g.may(r, rule) != slices.Contains(roles, r) {
				t.Errorf("%s as %s: %t", rule, r, g.may(r, rule))
			}
		}
	}
	may(resource.RuleCode)
	may(resource.RulePipes, auth.RoleEditor, auth.RoleAdmin, auth.RoleOwner)
	may(resource.RuleLoopback, auth.RoleOwner)
	may(resource.RuleFiles, auth.RoleCI, auth.RoleEditor, auth.RoleAdmin, auth.RoleOwner)
	may(resource.RuleTap, auth.RoleAdmin, auth.RoleOwner)
	for found, want := range map[resource.Guarded]string{
		{Rule: resource.RuleCode}:                   "; this installation lets no token write it: ask who runs the installation (--guard)",
		{Rule: resource.RuleLoopback, Port: 8080}:   "; only tokens of the role owner may write it: ask one of them to write it",
		{Rule: resource.RulePipes}:                  "; only tokens of the roles editor, admin and owner may write it: ask one of them to write it",
		{Rule: resource.RuleAdminPorts, Port: 9901}: "; only tokens of the roles admin and owner may write it: ask one of them to write it, or an admin to add 9901 to the fleet's local_ports, which gives Envoy's admin interface to everybody who writes",
		{Rule: resource.RuleFileLogs}:               "; only tokens of the roles admin and owner may write it: ask one of them to write it, or log to one of /var/log/envoy/, /dev/stdout, where every role may",
		{Rule: resource.RuleRequestDestination}:     "; only tokens of the roles admin and owner may write it: ask one of them to write it",
	} {
		if f := g.fault(found, "/x", []string{"/var/log/envoy/", "/dev/stdout"}); f.Detail != found.Rule.Reason()+" (guard rule "+string(found.Rule)+")"+want {
			t.Errorf("%v: %s", found, f.Detail)
		}
	}
	for _, bad := range []string{"", "code", "code=", "code=king", "code=viewer", "cod=admin", "=admin"} {
		if _, err := ParseGuard([]string{bad}); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%q is taken: %v", bad, err)
		}
	}
	for _, rule := range resource.Rules() {
		if g := DefaultGuard(); g.may(auth.RoleEditor, rule) || !g.may(auth.RoleAdmin, rule) {
			t.Errorf("by default %s is not of admins and owners", rule)
		}
	}
}
