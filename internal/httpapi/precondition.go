package httpapi

import (
	"errors"
	"fmt"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// notAsExpected tells of a precondition that failed what is there now, and who wrote it.
// seen is where the token stands that tells what was seen, and where is the place of what asked for
// a change to meet another state.
func notAsExpected(err error, w store.Write, seen string, where func(store.Changed) oapi.FieldError) error {
	var stale *store.StaleError
	var moved *store.MovedError
	switch {
	case errors.As(err, &stale):
		p := problemOf(err)
		for _, c := range stale.Changed {
			p.faults = append(p.faults, changed(c, w.Changes[c.Index], where(c)))
		}
		p.detail = fmt.Sprintf("%d resources are not what they were", len(stale.Changed))
		if len(stale.Changed) == 1 {
			p.detail, p.etag = p.faults[0].Detail, stale.Changed[0].ETag
		}
		return p
	case errors.As(err, &moved):
		return movedProblem(err, moved, w, seen)
	}
	return err
}

// changed is the fault of one resource.
func changed(c store.Changed, ch store.ResourceChange, f oapi.FieldError) oapi.FieldError {
	what := called(fleet.Ref{Type: ch.Type, Name: ch.Name})
	if ch.Variant != "" {
		what += fmt.Sprintf(", variant %q,", ch.Variant)
	}
	if f.Code = "changed"; c.Revision == 0 {
		f.Detail = what + " does not exist"
		return f
	}
	verb := "changed"
	if c.ETag == "" {
		verb = "deleted"
	}
	f.Detail = fmt.Sprintf("%s was %s by %q in revision %d, at %s: look at what is there now", what, verb, c.Actor, c.Revision, c.At.Format(time.RFC3339))
	f.LastChange = &oapi.LastChange{Revision: int64(c.Revision), Actor: c.Actor, At: c.At}
	return f
}

// movedProblem is about the fleet: a revision that was expected, or one that a plan was made
// on and that nothing is known of any more.
func movedProblem(err error, moved *store.MovedError, w store.Write, seen string) error {
	p, pointer := problemOf(err), "/expected_revision"
	n := moved.Newest
	now := "no revision yet"
	if n.Revision > 0 {
		p.newest = &n
		now = fmt.Sprintf("revision %d, made by %q at %s", n.Revision, n.Actor, n.At.Format(time.RFC3339))
	}
	f := oapi.FieldError{Pointer: &pointer, Code: "moved"}
	if w.Expect == nil || *w.Expect == n.Revision {
		pointer, f.Code = seen, "too_old"
		f.Detail = "the plan was made on a revision that is not known any more: plan again; the fleet has " + now
	} else {
		f.Detail = fmt.Sprintf("the fleet has %s, and not %d, which was expected: look at what has changed since", now, *w.Expect)
	}
	p.detail, p.faults = f.Detail, []oapi.FieldError{f}
	return p
}
