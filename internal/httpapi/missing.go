package httpapi

import (
	"errors"
	"fmt"

	"fairlead/internal/fleet"
)

// The one answer for what is not there and for what the token may not see.
var (
	errNoTenant = refuse(errNotFound.status, errNotFound.code, "this token sees no tenant of the name in the path")
	errNoFleet  = refuse(errNotFound.status, errNotFound.code, "this token sees no fleet of the name in the path; it may be deleted")
)

// Whoever may see a fleet is told what of it is not there, and where to look.

func noSuchNode(err error) error {
	return missing(err, "the fleet remembers no node of this id: the id is the client's node.id, to the letter, and a node that has not connected for "+
		"as long as the fleet's forget_nodes_after is forgotten; the list of nodes has those that are known")
}

func noSuchRevision(err error, rev int64) error {
	return missing(err, fmt.Sprintf("the fleet keeps no revision %d: it was never made, or is forgotten; the list of revisions has those that are kept", rev))
}

func noSuchResource(err error, t fleet.Type, name, variant string) error {
	return missing(err, "the fleet has no "+resourceWords(t, name, variant))
}

// resourceWords is how a sentence speaks of a resource.
func resourceWords(t fleet.Type, name, variant string) string {
	what := fmt.Sprintf("%s %q", t.Slug(), name)
	if variant != "" {
		what += fmt.Sprintf(" with the variant %q", variant)
	}
	return what
}

// missing gives a fleet.ErrNotFound its words; other errors stay what they are.
func missing(err error, detail string) error {
	if !errors.Is(err, fleet.ErrNotFound) {
		return err
	}
	p := refuse(errNotFound.status, errNotFound.code, detail)
	p.cause = err
	return p
}
