package httpapi

import (
	"context"
	"fmt"
	"strings"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

const codeUnsupported = "unsupported_by_nodes"

// unsupported warns of what a write brought and some Envoys that are connected are too old for.
func (a *API) unsupported(ctx context.Context, c *call, changes []store.ResourceChange, at func(i int) string) ([]oapi.FieldError, error) {
	var warnings []oapi.FieldError
	old := ""
	for i, ch := range changes {
		if ch.Type != fleet.Route || ch.Delete || !ch.Derived.VHDS {
			continue
		}
		if warnings == nil {
			vs, err := a.store.EnvoyVersions(ctx, c.tenant.ID, c.fleet.ID)
			if old = without(envoyversion.VirtualHosts, vs); err != nil || old == "" {
				return nil, err
			}
		}
		pointer := at(i)
		warnings = append(warnings, oapi.FieldError{Pointer: &pointer, Code: codeUnsupported, Detail: fmt.Sprintf(
			"virtual hosts on demand over ADS need Envoy %s, and nodes of this fleet are older: %s. They refuse %s, and keep what they had of it and of the listeners that name it: upgrade them first",
			envoyversion.Since(envoyversion.VirtualHosts), old, called(fleet.Ref{Type: ch.Type, Name: ch.Name}))})
	}
	return warnings, nil
}

// maxNamedVersions is how many versions a warning names.
const maxNamedVersions = 5

// without says which of the versions lack a feature, "3 nodes with 1.36.4"; "" if none does.
func without(f envoyversion.Feature, vs []store.EnvoyVersion) string {
	var old []string
	for _, v := range vs {
		switch {
		case envoyversion.Has(v.Version, f):
		case len(old) == maxNamedVersions:
			return strings.Join(old, ", ") + " and more"
		case v.Nodes == 1:
			old = append(old, fmt.Sprintf("1 node with %.20q", v.Version))
		default:
			old = append(old, fmt.Sprintf("%d nodes with %.20q", v.Nodes, v.Version))
		}
	}
	return strings.Join(old, ", ")
}
