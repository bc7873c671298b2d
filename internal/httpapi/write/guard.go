package write

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
)

// Guard says of each guard rule the least role whose tokens may write what it names; ""
// is nobody, not even the owner. A rule that is missing is nobody's either.
type Guard map[resource.Rule]auth.Role

// MaxFaults bounds how many faults one answer holds.
const MaxFaults = 100

// nobody is how a Guard's "" is written.
const nobody = "nobody"

// DefaultGuard leaves what the rules name to admins and owners.
func DefaultGuard() Guard {
	g := Guard{}
	for _, r := range resource.Rules() {
		g[r] = auth.RoleAdmin
	}
	return g
}

// ParseGuard reads "rule=role" for each rule that is not to be as DefaultGuard has it.
func ParseGuard(settings []string) (Guard, error) {
	g := DefaultGuard()
	for _, s := range settings {
		name, who, ok := strings.Cut(s, "=")
		rule := resource.Rule(name)
		if _, known := g[rule]; !ok || !known {
			return nil, fmt.Errorf("guard setting %q: write rule=role, where rule is one of %s: %w", s, rulesText(), fleet.ErrInvalid)
		}
		if who == nobody {
			g[rule] = ""
			continue
		}
		role, err := auth.ParseRole(who)
		if err != nil || role == auth.RoleViewer {
			return nil, fmt.Errorf("guard setting %q: the role is one of ci, editor, admin, owner, nobody: %w", s, fleet.ErrInvalid)
		}
		g[rule] = role
	}
	return g, nil
}

func rulesText() string {
	var names []string
	for _, r := range resource.Rules() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// may reports whether a token of the role may write what the rule names.
func (g Guard) may(role auth.Role, rule resource.Rule) bool {
	return slices.Contains(g.Writers(rule), role)
}

// Writers are the roles from the rule's least one up.
func (g Guard) Writers(rule resource.Rule) []auth.Role {
	i := slices.Index(auth.Roles(), g[rule])
	if i < 0 {
		return nil
	}
	return auth.Roles()[i:]
}

// fault tells of one place: which rule names it, whose tokens may write it, and how to ask for it, or do without.
func (g Guard) fault(found resource.Guarded, pointer string, logPaths []string) oapi.FieldError {
	detail, how := fmt.Sprintf("%s (guard rule %s)", found.Rule.Reason(), found.Rule), "ask one of them to write it"
	switch roles := g.Writers(found.Rule); len(roles) {
	case 0:
		detail, how = detail+"; this installation lets no token write it", "ask who runs the installation (--guard)"
	case 1:
		detail += fmt.Sprintf("; only tokens of the role %s may write it", roles[0])
	default:
		names := make([]string, len(roles))
		for i, r := range roles {
			names[i] = string(r)
		}
		last := len(names) - 1
		detail += fmt.Sprintf("; only tokens of the roles %s and %s may write it", strings.Join(names[:last], ", "), names[last])
	}
	if found.Port != 0 && g.may(auth.RoleAdmin, found.Rule) {
		how += fmt.Sprintf(", or an admin to add %d to the fleet's local_ports", found.Port)
		if found.Port == resource.AdminPort {
			how += ", which gives Envoy's admin interface to everybody who writes"
		}
	}
	if found.Rule == resource.RuleFileLogs && len(logPaths) > 0 {
		how += fmt.Sprintf(", or log to one of %s, where every role may", strings.Join(logPaths, ", "))
	}
	return oapi.FieldError{Pointer: &pointer, Code: GuardCode(found.Rule), Detail: detail + ": " + how}
}

// open reports whether the fleet gives what a place leads to to everybody who writes. An admin says so; where an
// admin may not write it, it is not theirs to give.
func (g Guard) open(found resource.Guarded, ports []int32) bool {
	return found.Port != 0 && slices.Contains(ports, int32(found.Port)) && g.may(auth.RoleAdmin, found.Rule) //nolint:gosec // a port
}

// GuardCode is the code of a field that the rule names.
func GuardCode(r resource.Rule) string { return "guard_" + string(r) }

// Refused are the faults of what a token of the role may not write in a fleet with these local ports, with prefix before their
// pointers: few more than maxFaults.
func (g Guard) Refused(role auth.Role, ports []int32, found []resource.Guarded, prefix string, logPaths []string) (out []oapi.FieldError) {
	for _, f := range found {
		if !g.may(role, f.Rule) && !g.open(f, ports) {
			out = append(out, g.fault(f, prefix+f.Pointer, logPaths))
		}
		if len(out) > MaxFaults {
			break // the answer leaves the rest out
		}
	}
	return out
}
