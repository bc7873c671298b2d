package findings

import (
	"slices"

	"fairlead/internal/fleet"
)

// CheckWrite returns what is to be said of the touched names after a write, and of what names them. Of the
// fleet only what stands beside them need be there: all variants of the touched names and of those that they name, and
// what names those of them that have no default variant. Nothing is said of what nothing leads to: a cluster is
// often written before its route, and who leads where only the whole fleet tells.
// The error is one of f.Step.
func CheckWrite(f Fleet, touched map[fleet.Ref]bool) ([]Finding, error) {
	c := newChecker(f)
	c.references()
	c.certificates()
	c.domains()
	c.staticClusters()
	c.values()
	c.variants()
	c.contrib()
	c.sealed()
	c.unserved()
	c.found = slices.DeleteFunc(c.found, func(f Finding) bool { return !touched[f.Ref] && (f.To.Name == "" || !touched[f.To]) })
	sortFindings(c.found)
	return c.found, c.ended
}

// Count tells how many findings there are of each severity.
func Count(fs []Finding) (errors, warnings, infos int) {
	for _, f := range fs {
		switch f.Severity {
		case Error:
			errors++
		case Warning:
			warnings++
		default:
			infos++
		}
	}
	return errors, warnings, infos
}
