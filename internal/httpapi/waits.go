package httpapi

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// waitsOf tells what a node waits for, and why.
func waitsOf(w fleet.Waits, refusing []fleet.Ref) oapi.Waits {
	out := oapi.Waits{Warming: each(w.Warming, refOf), WithheldBy: []oapi.ResourceRef{}, More: optional(w.More)}
	var by []fleet.Ref
	out.Withheld = each(w.Withheld, func(h fleet.Withheld) oapi.Withheld {
		reason := oapi.WithheldReason(h.Cause(func(by fleet.Ref) bool { return slices.Contains(refusing, by) }).String())
		if !slices.Contains(by, h.By) {
			by = append(by, h.By)
		}
		return oapi.Withheld{Resource: refOf(h.Ref), By: refOf(h.By), Reason: reason, Revision: optional(int64(h.Revision))}
	})
	out.WithheldBy = each(by, refOf)
	return out
}

// some is nil for an empty list, so that the field is left out.
func some[T any](list []T) *[]T {
	if len(list) == 0 {
		return nil
	}
	return &list
}
