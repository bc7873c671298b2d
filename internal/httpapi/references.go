package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

const (
	codeMissingReference = "missing_reference"
	codeTooMany          = "too_many_errors"
)

// places tells where in what was sent something stands. Where a write says nothing of a
// resource, as a rollback, that is the whole of it.
type places struct {
	fields  map[place]resource.Compiled // what is put
	deleted map[fleet.Ref]string        // pointers
	meant   map[fleet.Ref]string        // names that those which are missing may have been meant for
	whole   string
}

type place struct {
	fleet.Ref
	variant string
}

func newPlaces() *places {
	return &places{fields: map[place]resource.Compiled{}, deleted: map[fleet.Ref]string{}}
}

// put notes a resource that is written, so that its fields can be pointed at.
func (p *places) put(c resource.Compiled) {
	p.fields[place{fleet.Ref{Type: c.Type, Name: c.Name}, c.Variant}] = c
}

// faults tells of what would be without what it names.
func (p *places) faults(ds []fleet.Dangling, more bool) []oapi.FieldError {
	out := each(ds, p.fault)
	if more {
		pointer := p.whole
		out = append(out, oapi.FieldError{Pointer: &pointer, Code: codeTooMany, Detail: fmt.Sprintf("more than %d: the rest is left out", len(ds))})
	}
	return out
}

func (p *places) fault(d fleet.Dangling) oapi.FieldError {
	pointer, verb := p.whole, "write it"
	detail := fmt.Sprintf("%s names %s, which does not exist", called(d.Ref), called(d.Missing))
	if at, ok := p.deleted[d.Missing]; ok {
		pointer = at
		detail = fmt.Sprintf("%s names %s, which this deletes", called(d.Ref), called(d.Missing))
		verb = "keep it, or let nothing name it"
	}
	if c, ok := p.fields[place{d.Ref, d.Variant}]; ok {
		pointer = c.Pointer(d.Missing)
	}
	if meant := p.meant[d.Missing]; meant != "" {
		detail += fmt.Sprintf(": is %s meant? Else %s in the same write, or set the fleet's references to %s", called(fleet.Ref{Type: d.Missing.Type, Name: meant}), verb, fleet.ReferencesWarn)
		return oapi.FieldError{Pointer: &pointer, Code: codeMissingReference, Detail: detail}
	}
	detail += fmt.Sprintf(": %s in the same write, or set the fleet's references to %s", verb, fleet.ReferencesWarn)
	return oapi.FieldError{Pointer: &pointer, Code: codeMissingReference, Detail: detail}
}

// suggest notes what the names may have been meant for that a strict fleet refuses a write for. Where that cannot be told the
// refusal stands without.
func (a *API) suggest(ctx context.Context, c *call, p *places, err error) error {
	var e *store.DanglingError
	if !errors.As(err, &e) {
		return err
	}
	var missing []fleet.Ref
	for _, d := range e.Dangling {
		if _, deleted := p.deleted[d.Missing]; !deleted && !slices.Contains(missing, d.Missing) {
			missing = append(missing, d.Missing)
		}
	}
	missing = missing[:min(len(missing), findings.MaxHints)]
	b := besides{touched: map[fleet.Ref]bool{}}
	if failed := a.alike(ctx, c, &b, missing); failed != nil {
		a.log.WarnContext(ctx, "look for names that those which are missing may have been meant for", "error", failed)
	}
	p.meant = map[fleet.Ref]string{}
	for _, r := range missing {
		var names []string
		for _, other := range b.Alike {
			if _, deleted := p.deleted[other]; other.Type == r.Type && !deleted {
				names = append(names, other.Name)
			}
		}
		for at := range p.fields {
			if at.Type == r.Type {
				names = append(names, at.Name)
			}
		}
		slices.Sort(names)
		p.meant[r] = resource.Closest(r.Name, names)
	}
	return err
}

// called is how a sentence speaks of a resource.
func called(r fleet.Ref) string { return fmt.Sprintf("%s/%s", r.Type.Slug(), r.Name) }

// refused turns the store's refusal into a problem that points at the fields.
func (p *places) refused(err error) error {
	var e *store.DanglingError
	if !errors.As(err, &e) {
		return err
	}
	out := refuse(http.StatusUnprocessableEntity, codeMissingReference, "the fleet is strict about references, and this would leave something without what it names",
		p.faults(e.Dangling, e.More)...)
	out.cause = err
	return out
}
