package httpapi

import (
	"context"
	"errors"
	"fmt"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// The one answer for what is not there and for what the token may not see.
var (
	errNoTenant = errMissing(oapi.MissingTenant, "this token sees no tenant of the name in the path")
	errNoFleet  = errMissing(oapi.MissingFleet, "this token sees no fleet of the name in the path; it may be deleted")
)

// Whoever may see a fleet is told what of it is not there, and where to look.

func noSuchNode(err error) error {
	return missing(err, oapi.MissingNode, "the fleet remembers no node of this id: the id is the client's node.id, to the letter, and a node that has not connected for "+
		"as long as the fleet's forget_nodes_after is forgotten; the list of nodes has those that are known")
}

// noSuchRevision tells apart a revision that was never made and one that is forgotten.
func (a *API) noSuchRevision(ctx context.Context, c *call, err error, rev int64) error {
	if !errors.Is(err, fleet.ErrNotFound) {
		return err
	}
	if why := a.mustBeKept(ctx, c, fleet.Revision(rev)); why != nil && rev > 0 {
		return why
	}
	return missing(err, oapi.MissingRevision, fmt.Sprintf("the fleet keeps no revision %d: the list of revisions has those that are kept", rev))
}

func noSuchToken(err error, id string) error {
	return missing(err, oapi.MissingToken, fmt.Sprintf("there is no token with the id %q here: the list of tokens has their ids", shortened(id, maxName)))
}

func noSuchSession(err error, id string) error {
	return missing(err, oapi.MissingSession, fmt.Sprintf("there is no session with the id %q here: the list of sessions has their ids", shortened(id, maxName)))
}

func noSuchCredential(err error, id string) error {
	return missing(err, oapi.MissingCredential, fmt.Sprintf("the fleet has no credential with the id %q: the list of credentials has their ids", shortened(id, maxName)))
}

func noSuchResource(err error, t fleet.Type, name, variant string) error {
	what := noResource(t, name, variant)
	if t == fleet.Endpoint { // proxies may be served some all the same
		what += fmt.Sprintf("; \"fairlead endpoints list %s\" has those that are kept as data", shortened(name, maxName))
	}
	return missing(err, oapi.MissingResource, what)
}

func noResource(t fleet.Type, name, variant string) string {
	return "the fleet has no " + resourceWords(t, name, variant)
}

// resourceWords is how a sentence speaks of a resource.
func resourceWords(t fleet.Type, name, variant string) string {
	if variant == "" {
		return fmt.Sprintf("%s %q", t.Slug(), name)
	}
	return fmt.Sprintf("%s %q with the variant %q", t.Slug(), name, variant)
}

// missing gives a fleet.ErrNotFound its words; other errors stay what they are.
func missing(err error, what oapi.Missing, detail string) error {
	if !errors.Is(err, fleet.ErrNotFound) {
		return err
	}
	p := errMissing(what, detail)
	p.cause = err
	return p
}
