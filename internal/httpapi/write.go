package httpapi

import (
	"context"
	"errors"
	"net/http"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/seal"
	"fairlead/internal/store"
)

// PutResource implements putResource.
func (a *API) PutResource(ctx context.Context, r oapi.PutResourceRequestObject) (oapi.PutResourceResponseObject, error) {
	t, variant := typeOf(r.Type), deref(r.Params.Variant)
	if err := resourceName(r.Name, r.Params.Variant); err != nil {
		return nil, err
	}
	if r.Params.IfNoneMatch != nil && *r.Params.IfNoneMatch != "*" {
		return nil, badParameter("If-None-Match", "invalid_precondition", "a write takes * alone")
	}
	raw, err := sentDocument(ctx).json()
	if err != nil {
		return nil, err
	}
	d, err := resource.ParsePut(raw, t, r.Name, variant)
	if err != nil {
		return nil, err
	}
	where := newPlaces()
	change, warnings, not, err := a.compile(ctx, d, where)
	if err != nil {
		return nil, err
	}
	change.IfMatch, change.IfNoneMatch = deref(r.Params.IfMatch), r.Params.IfNoneMatch != nil
	w := store.Write{Kind: "put", Changes: []store.ResourceChange{change}}
	result, err := a.writeGuarded(ctx, w, guarded{0: not}.some(), a.write)
	if err != nil {
		return nil, notAsExpected(where.refused(err), w, preconditionOf(change))
	}
	whole := func(int) string { return "" }
	found := a.tellFindings(ctx, writtenBy(w.Changes), where.finding(sentAt(w.Changes, whole)))
	out := writeResult(result, a.withDoubts(ctx, warnings, w.Changes, whole), found)
	headers := oapi.PutResource200ResponseHeaders{}
	if len(out.Resources) == 1 {
		headers.ETag = out.Resources[0].Etag
	}
	return oapi.PutResource200JSONResponse{Body: out, Headers: headers}, nil
}

// DeleteResource implements deleteResource.
func (a *API) DeleteResource(ctx context.Context, r oapi.DeleteResourceRequestObject) (oapi.DeleteResourceResponseObject, error) {
	t, variant := typeOf(r.Type), deref(r.Params.Variant)
	if err := resourceName(r.Name, r.Params.Variant); err != nil {
		return nil, err
	}
	if err := mayWrite(ctx, t); err != nil {
		return nil, err
	}
	match := deref(r.Params.IfMatch)
	change := store.ResourceChange{Type: t, Name: r.Name, Variant: variant, Delete: true, IfMatch: match}
	if match == "" {
		change.IfMatch = "*" // what is not there is a 404, not a change of nothing
	}
	where := newPlaces()
	where.deleted[fleet.Ref{Type: t, Name: r.Name}] = ""
	w := store.Write{Kind: "delete", Changes: []store.ResourceChange{change}}
	result, err := a.write(ctx, w)
	if errors.Is(err, fleet.ErrPrecondition) && match == "" {
		return nil, noSuchResource(fleet.ErrNotFound, t, r.Name, variant)
	}
	if err != nil {
		return nil, notAsExpected(where.refused(err), w, preconditionOf(change))
	}
	return oapi.DeleteResource200JSONResponse(writeResult(result, nil, a.tellFindings(ctx, writtenBy(w.Changes), where.finding(nil)))), nil
}

// compile turns a document into what the store keeps, and notes where it names what. A
// Secret leaves it sealed. not is what of it the guard rules let the caller not write.
func (a *API) compile(ctx context.Context, d resource.Document, where *places) (change store.ResourceChange, warnings, not []oapi.FieldError, err error) {
	if err := mayWrite(ctx, d.Type); err != nil {
		return change, nil, nil, err
	}
	c := callOf(ctx)
	key := fleet.Key{Tenant: c.tenant.ID, Fleet: c.fleet.ID}
	out, err := a.compiler.Compile(key, d)
	if err != nil {
		return change, nil, nil, err
	}
	where.put(out)
	change = store.ResourceChange{
		Type: out.Type, Name: out.Name, Variant: out.Variant, Selector: out.Selector, Priority: out.Priority, TTL: out.TTL,
		Labels: out.Labels, Description: out.Description, Version: out.Version, DocHash: out.DocHash, BodyHash: out.BodyHash,
		Body: out.Value, Derived: out.Derived, DeriveVersion: resource.DeriveVersion, ReadAt: (*fleet.Revision)(out.Revision),
	}
	if change.Summary, err = summaryOf(out); err != nil {
		return change, nil, nil, err
	}
	if out.Sensitive {
		place := seal.Context{Tenant: key.Tenant, Fleet: key.Fleet, Name: out.Name, Version: out.Version}
		if change.Body, err = a.sealer.Seal(place, out.Value); err != nil {
			return store.ResourceChange{}, nil, nil, err
		}
	}
	return change, fieldErrors(out.Warnings), a.guard.refused(ctx, out.Guarded, ""), nil
}

const noSecrets = "the token's role does not allow to write secrets"

// mayWrite asks for the right to write Secrets, which is apart from that to write.
func mayWrite(ctx context.Context, t fleet.Type) error {
	c := callOf(ctx)
	if t == fleet.Secret && !c.principal.May(auth.WriteSecret, c.fleet.ID) {
		return refuse(http.StatusForbidden, "forbidden", noSecrets)
	}
	return nil
}

// write makes the one store call of a change.
func (a *API) write(ctx context.Context, w store.Write) (store.Result, error) {
	c := callOf(ctx)
	w.Actor = c.actor
	return a.store.Apply(ctx, c.tenant.ID, c.fleet.ID, w)
}

// preconditionOf tells what asked for the state of the one resource of a write: a header, or
// else the document's revision.
func preconditionOf(c store.ResourceChange) func(int) oapi.FieldError {
	name := ""
	switch {
	case c.IfNoneMatch:
		name = "If-None-Match"
	case c.IfMatch != "":
		name = "If-Match"
	default:
		pointer := "/revision"
		return func(int) oapi.FieldError { return oapi.FieldError{Pointer: &pointer} }
	}
	return func(int) oapi.FieldError { return oapi.FieldError{Parameter: &name} }
}

func writeResult(r store.Result, warnings []oapi.FieldError, found *oapi.WriteFindings) oapi.WriteResult {
	out := oapi.WriteResult{Revision: int64(r.Revision), Changed: r.Changed, CommittedAt: r.CommittedAt, Findings: found}
	out.Resources = each(r.Resources, func(row store.Resource) oapi.ResourceVersion {
		v := oapi.ResourceVersion{
			Type: oapi.ResourceType(row.Type.Slug()), Name: row.Name, Variant: optional(row.Variant), Deleted: optional(row.Deleted),
			Version: optional(row.Version), Revision: int64(row.Revision),
		}
		if !row.Deleted {
			v.Etag = optional(row.ETag())
		}
		return v
	})
	out.Warnings = warningsOf(warnings, found)
	return out
}

// warningsOf are the warnings of an answer. Where nothing could be told of findings they say so: silence would be
// taken for their absence.
func warningsOf(warnings []oapi.FieldError, found *oapi.WriteFindings) *[]oapi.FieldError {
	if found == nil {
		warnings = append(warnings, oapi.FieldError{Code: "findings_unknown", Detail: "what is to be said of references, certificates and variants could not be told: ask for the fleet's findings"})
	}
	if len(warnings) == 0 {
		return nil
	}
	return &warnings
}
