package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/seal"
	"fairlead/internal/store"
)

// PutResource implements putResource.
func (a *API) PutResource(ctx context.Context, c *call, r oapi.PutResourceRequestObject) (oapi.PutResourceResponseObject, error) {
	t, variant := typeOf(r.Type), deref(r.Params.Variant)
	if err := resourceName(r.Name, r.Params.Variant); err != nil {
		return nil, err
	}
	if r.Params.IfNoneMatch != nil && *r.Params.IfNoneMatch != "*" {
		return nil, badParameter("If-None-Match", "invalid_precondition", "a write takes * alone")
	}
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	where, sent := newPlaces(), c.document
	var change store.ResourceChange
	var warnings, not []oapi.FieldError
	err = a.compute(ctx, c, sizeKind(len(sent.bytes)), func(step func() error) error {
		raw, err := sent.json()
		if err != nil {
			return err
		}
		d, err := resource.ParsePut(raw, t, r.Name, variant)
		if err == nil {
			change, warnings, not, err = a.compile(c, withStep(d, step), where)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	change.IfMatch, change.IfNoneMatch = match, r.Params.IfNoneMatch != nil
	w, err := a.writeOne(c, "put", r.Params.Message, r.Params.IdempotencyKey, change)
	if err != nil {
		return nil, err
	}
	result, err := a.writeUsing(ctx, c, w, guarded{0: not}.some(), where, a.write)
	if err != nil {
		return nil, repeated(notAsExpected(where.refused(a.suggest(ctx, c, where, err)), w, "", preconditionOf(change)), w.Idempotency)
	}
	found := a.tellFindings(ctx, c, w.Changes, where.finding(sentAt(w.Changes, wholeBody)))
	out := writeResult(result, a.withDoubts(ctx, c, warnings, w.Changes, wholeBody), found)
	tag := out.Resources[0].Etag
	if result.Created(0) {
		return oapi.PutResource201JSONResponse{Body: out, Headers: oapi.PutResource201ResponseHeaders{ETag: tag}}, nil
	}
	return oapi.PutResource200JSONResponse{Body: out, Headers: oapi.PutResource200ResponseHeaders{ETag: tag}}, nil
}

// DeleteResource implements deleteResource. What is not there is deleted already, as it is of
// an apply.
func (a *API) DeleteResource(ctx context.Context, c *call, r oapi.DeleteResourceRequestObject) (oapi.DeleteResourceResponseObject, error) {
	t, variant := typeOf(r.Type), deref(r.Params.Variant)
	if err := resourceName(r.Name, r.Params.Variant); err != nil {
		return nil, err
	}
	if err := mayWrite(c, t, r.Name); err != nil {
		return nil, err
	}
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	change := store.ResourceChange{Type: t, Name: r.Name, Variant: variant, Delete: true, IfMatch: match}
	w, err := a.writeOne(c, "delete", r.Params.Message, r.Params.IdempotencyKey, change)
	if err != nil {
		return nil, err
	}
	where := newPlaces()
	where.deleted[fleet.Ref{Type: t, Name: r.Name}] = ""
	result, err := a.write(ctx, c, w)
	if err != nil {
		return nil, repeated(notAsExpected(where.refused(a.suggest(ctx, c, where, err)), w, "", preconditionOf(change)), w.Idempotency)
	}
	warnings := absent(w.Changes, func(int) bool { return !result.Deleted(0) }, wholeBody)
	return oapi.DeleteResource200JSONResponse(writeResult(result, warnings, a.tellFindings(ctx, c, w.Changes, where.finding(nil)))), nil
}

// ifMatch reads the header. One that names nothing, an empty one above all, would be no precondition, and one that
// cannot be an ETag would say that others have changed what nobody has.
func ifMatch(header *string) (string, error) {
	if header == nil || *header == "*" {
		return deref(header), nil
	}
	tag, ok := resource.ParseETag(*header)
	if !ok {
		return "", badParameter("If-Match", "invalid_precondition", `this is neither * nor one ETag as an answer has it, such as "7-1a2b3c4d"; a weak one (W/) and a list are not taken`)
	}
	return tag, nil
}

// writeOne is the write of one resource, named in the path. What names a repeat is all that was
// sent: the address, the preconditions, the message and the body.
func (a *API) writeOne(c *call, kind string, message, key *string, change store.ResourceChange) (store.Write, error) {
	if err := textParameter("message", deref(message), maxMessage); err != nil {
		return store.Write{}, err
	}
	sent, err := json.Marshal([]any{change.Type.Slug(), change.Name, change.Variant, change.IfMatch, change.IfNoneMatch, message, c.document.bytes})
	return store.Write{
		Kind: kind, Message: deref(message), Changes: []store.ResourceChange{change}, Idempotency: idempotency(c, key, kind, sent),
	}, err
}

// wholeBody is where the one change of a write stands.
func wholeBody(int) string { return "" }

// absent warns of deletions of what was not there. at is the place of a change in what was sent.
func absent(changes []store.ResourceChange, missing func(change int) bool, at func(change int) string) (out []oapi.FieldError) {
	for i, c := range changes {
		if !c.Delete || !missing(i) {
			continue
		}
		pointer := at(i)
		out = append(out, oapi.FieldError{Pointer: &pointer, Code: "absent", Detail: "there is nothing to delete: " + noResource(c.Type, c.Name, c.Variant)})
	}
	return boundFaults(out)
}

// compile turns a document into what the store keeps, and notes where it names what. A
// Secret leaves it sealed. not is what of it the guard rules do not let the caller write.
func (a *API) compile(c *call, d resource.Document, where *places) (change store.ResourceChange, warnings, not []oapi.FieldError, err error) {
	if err := mayWrite(c, d.Type, d.Name); err != nil {
		return change, nil, nil, err
	}
	key := fleet.Key{Tenant: c.tenant.ID, Fleet: c.fleet.ID}
	d.Fill, d.Private = c.fleet.Values, c.fleet.PrivateClusters
	out, err := a.compiler.Compile(key, d)
	if err != nil {
		return change, nil, nil, err
	}
	warnings, not = fieldErrors(out.Warnings), a.refusedFields(c, out.Guarded, "")
	kept := out
	kept.Warnings, kept.Guarded = nil, nil // of many resources they would have many times their size
	where.put(kept)
	change = store.ResourceChange{
		Type: out.Type, Name: out.Name, Variant: out.Variant, Selector: out.Selector, Priority: out.Priority, TTL: out.TTL,
		Labels: out.Labels, Description: out.Description, Version: out.Version, DocHash: out.DocHash, BodyHash: out.BodyHash,
		Body: out.Value, Derived: out.Derived, DeriveVersion: resource.DeriveVersion, ReadAt: (*fleet.Revision)(out.Revision), ReadTag: out.ETag,
	}
	if out.Sensitive {
		change.SealedFor = a.sealer.KeyID()
	}
	if change.Summary, err = summaryOf(out, change.SealedFor); err != nil {
		return change, nil, nil, err
	}
	if out.Sensitive {
		place := seal.Context{Tenant: key.Tenant, Fleet: key.Fleet, Name: out.Name, Version: out.Version}
		if change.Body, err = a.sealer.Seal(place, out.Value); err != nil {
			return store.ResourceChange{}, nil, nil, err
		}
	}
	return change, warnings, not, nil
}

// noSecrets is said to the role ci: of those that write, it alone needs the grant.
const noSecrets = "a token of the role ci writes secrets only with writes_secrets: ask an admin for a token with that, or of the role editor"

// mayWrite asks for the right to write Secrets, which is apart from that to write.
func mayWrite(c *call, t fleet.Type, name string) error {
	if t == fleet.Secret && !c.principal.May(auth.WriteSecret, c.fleet.ID) {
		return refuse(http.StatusForbidden, "forbidden", fmt.Sprintf("the secret %q: %s", name, noSecrets))
	}
	return nil
}

// write makes the one store call of a change.
func (a *API) write(ctx context.Context, c *call, w store.Write) (store.Result, error) {
	w.Actor = c.actor
	return a.madeBy(ctx, c, func(ctx context.Context) (store.Result, error) { return a.store.Apply(ctx, c.tenant.ID, c.fleet.ID, w) })
}

// preconditionOf tells what asked for the state of the one resource of a write: a header, or
// else the document's revision.
func preconditionOf(c store.ResourceChange) func(store.Changed) oapi.FieldError {
	name := ""
	switch {
	case c.IfNoneMatch:
		name = "If-None-Match"
	case c.IfMatch != "":
		name = "If-Match"
	default:
		return func(now store.Changed) oapi.FieldError {
			pointer := readField(c, now)
			return oapi.FieldError{Pointer: &pointer}
		}
	}
	return func(store.Changed) oapi.FieldError { return oapi.FieldError{Parameter: &name} }
}

// readField is the field that says when what is changed was read, and that is not so now.
func readField(c store.ResourceChange, now store.Changed) string {
	switch {
	case c.ReadAt != nil && (*c.ReadAt != now.Revision || c.ReadTag == ""):
		return "/revision"
	case c.ReadTag != "":
		return "/etag"
	}
	return ""
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
