package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/jsonpointer"
	"fairlead/internal/redact"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// rollbackLook is what a rollback comes to at one revision.
type rollbackLook struct {
	at        store.Seen
	changes   []store.RollbackChange
	resources []store.ResourceChange // the same, without since when
	writes    []written              // the same, with what counts of their bodies
	read      []store.Read           // what it was judged by
}

// only are the resources that are rolled back.
func (l rollbackLook) only() []store.Cursor {
	out := make([]store.Cursor, len(l.changes)) // nil would be all
	for i, c := range l.changes {
		out[i] = cursorOf(c.ResourceChange)
	}
	return out
}

// rollback makes the fleet what it was, if the caller could write what that changes: a
// rollback asks what an apply of the same content asks. It is of the resources that differed when it was looked at, as if it had been made then:
// what others write meanwhile is in its way where a plan showed it as something else, and stays where it is something else. What is brought back
// follows from the old revision, so that what was checked of it holds, but for the labels of the Secrets that it uses: where these have changed it
// is looked at once more. commit is the store's call.
//
// The second result is what it came to; nothing of one that was made before.
func (a *API) rollback(ctx context.Context, c *call, s sentRollback, commit func(rollbackLook, store.Write) (store.Result, error)) (store.Result, rollbackLook, error) {
	w := s.write
	w.Message = cmp.Or(w.Message, store.RollbackMessage(w.Only, s.to))
	for range maxLooks {
		look, err := a.mayRollBack(ctx, c, s)
		content := write.ContentOf(c.fleet.ID, look.resources)
		if err == nil {
			err = s.mustBeOf(content)
		}
		switch {
		case errors.Is(err, fleet.ErrUnavailable):
			return store.Result{}, look, err
		case err != nil:
			result, err := a.replayed(ctx, c, w, err)
			return result, rollbackLook{}, err
		}
		w.Only, w.Read = look.only(), look.read
		result, err := commit(look, w)
		var asked *store.UnconfirmedError
		if errors.As(err, &asked) {
			asked.Seen = look.at // what others wrote since is not in it
		}
		if !errors.Is(err, store.ErrReadMoved) {
			return result, look, toConfirm(err, content)
		}
	}
	return store.Result{}, rollbackLook{}, errMoving()
}

// moved tells that the fleet is at another revision than the caller expects.
func (a *API) moved(ctx context.Context, c *call, at fleet.Revision) error {
	newest, err := a.store.Revision(ctx, c.tenant.ID, c.fleet.ID, at)
	if err != nil && !errors.Is(err, fleet.ErrNotFound) {
		return err
	}
	newest.Revision = at
	return &store.MovedError{Newest: newest}
}

// bodiesAtOnce bounds what a check of a rollback holds: each body may have a MiB.
const bodiesAtOnce = 32

// mayRollBack looks what a rollback comes to, and whether the caller may make it. It costs
// what the rollback changes. What has changed since it was planned is left out: it was not in the plan, or is not what the plan showed.
func (a *API) mayRollBack(ctx context.Context, c *call, s sentRollback) (look rollbackLook, err error) {
	if look.at, look.changes, err = a.store.RollbackChanges(ctx, c.tenant.ID, c.fleet.ID, s.to, s.write.Only); err != nil {
		return look, err
	}
	if err := a.mustHaveBeen(ctx, c, s.write.Only); err != nil {
		return look, err
	}
	if want := s.write.Expect; want != nil && look.at.Revision != *want {
		return look, a.moved(ctx, c, look.at.Revision)
	}
	if seen := s.write.Seen; seen != nil {
		look.changes = slices.DeleteFunc(look.changes, func(ch store.RollbackChange) bool { return ch.ChangedAt > seen.Revision })
	}
	if err := mayWriteSecrets(c, look.changes); err != nil {
		return look, err
	}
	look.resources = each(look.changes, func(ch store.RollbackChange) store.ResourceChange { return ch.ResourceChange })
	look.writes = make([]written, 0, len(look.changes))
	var check rollbackCheck
	var uses rollbackUses
	for batch := range slices.Chunk(look.changes, bodiesAtOnce) {
		bodies, err := a.store.RollbackBodies(ctx, c.tenant.ID, batch)
		if err != nil {
			return look, err
		}
		if err := a.lookAt(ctx, c, batch, bodies, &look, &check, &uses); err != nil {
			return look, err
		}
		if len(check.bad) > write.MaxFaults || len(check.guarded) > write.MaxFaults {
			break
		}
	}
	faults, read, err := uses.faults(ctx, c, a, look.resources)
	look.read = read
	check.guarded = append(check.guarded, faults...)
	return look, cmp.Or(err, check.problem())
}

// lookAt checks a part of what a rollback comes to.
func (a *API) lookAt(ctx context.Context, c *call, batch []store.RollbackChange, bodies [][]byte, look *rollbackLook, check *rollbackCheck, uses *rollbackUses) error {
	size := 0
	for _, b := range bodies {
		size += rowBytes + len(b)
	}
	return a.compute(ctx, c, sizeKind(partBytes(size, len(look.changes))), func(step func() error) error {
		for i, ch := range batch {
			if err := step(); err != nil {
				return err
			}
			if look.writes = append(look.writes, writtenAs(ch.ResourceChange, bodies[i])); ch.Delete {
				continue
			}
			if err := a.checkStored(c, ch, bodies[i], check); err != nil {
				return err
			}
			uses.add(len(look.writes)-1, ch, bodies[i])
		}
		return nil
	})
}

// onlyOf reads which resources are rolled back.
func onlyOf(in *[]oapi.VariantRef) ([]store.Cursor, error) {
	if in == nil {
		return nil, nil
	}
	out, seen := make([]store.Cursor, len(*in)), make(map[store.Cursor]bool, len(*in))
	for i, r := range *in {
		at := fmt.Sprintf("/resources/%d", i)
		if err := textField(at+"/name", r.Name, maxName); err != nil {
			return nil, err
		}
		if err := textField(at+"/variant", deref(r.Variant), maxName); err != nil {
			return nil, err
		}
		c := store.Cursor{Type: typeOf(r.Type), Name: r.Name, Variant: deref(r.Variant)}
		if seen[c] {
			return nil, badField(at, "duplicate", "this resource is named twice")
		}
		out[i], seen[c] = c, true
	}
	return out, nil
}

// mustHaveBeen refuses a rollback of what there never was, as far as the history goes: that is
// a name that was misspelt.
func (a *API) mustHaveBeen(ctx context.Context, c *call, only []store.Cursor) error {
	if len(only) == 0 {
		return nil
	}
	were, err := a.store.EverWere(ctx, c.tenant.ID, c.fleet.ID, only)
	if err != nil {
		return err
	}
	var faults []oapi.FieldError
	for i, k := range only {
		if !were[k] {
			at := fmt.Sprintf("/resources/%d", i)
			faults = append(faults, oapi.FieldError{Pointer: &at, Code: "unknown_resource", Detail: fmt.Sprintf("the fleet has no %s, and had none as far back as its history goes", resourceWords(k.Type, k.Name, k.Variant))})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return refuse(http.StatusUnprocessableEntity, "unknown_resource", *faults[0].Pointer+": "+faults[0].Detail, boundFaults(faults)...)
}

// mayWriteSecrets asks for the right to write Secrets where one would be put or deleted,
// and names all of them.
func mayWriteSecrets(c *call, changes []store.RollbackChange) error {
	if c.principal.May(auth.WriteSecret, c.fleet.ID) {
		return nil
	}
	var faults []oapi.FieldError
	for _, ch := range changes {
		if ch.Type != fleet.Secret {
			continue
		}
		verb := "put back"
		if ch.Delete {
			verb = "delete"
		}
		pointer := pointerTo(ch)
		faults = append(faults, oapi.FieldError{Pointer: &pointer, Code: "forbidden", Detail: fmt.Sprintf("the rollback would %s this secret", verb)})
	}
	if len(faults) == 0 {
		return nil
	}
	return refuse(http.StatusForbidden, "forbidden", noSecrets, boundFaults(faults)...)
}

// rollbackCheck is what a rollback would bring back and an apply could not.
type rollbackCheck struct{ bad, guarded []oapi.FieldError }

func (r *rollbackCheck) problem() error {
	switch {
	case len(r.bad) > 0:
		detail := fmt.Sprintf("%d fields of the old content are not acceptable any more", len(r.bad))
		if len(r.bad) == 1 {
			detail = r.bad[0].Detail
		}
		return refuse(http.StatusUnprocessableEntity, "invalid_resource", detail, boundFaults(r.bad)...)
	case len(r.guarded) > 0:
		return errGuarded(r.guarded)
	}
	return nil
}

// texts refuses private keys in what stands beside a body.
func (r *rollbackCheck) texts(ch store.RollbackChange) {
	add := func(at string) {
		r.bad = append(r.bad, oapi.FieldError{Pointer: &at, Code: "inline_key", Detail: inlineKey})
	}
	if redact.PrivateKey(ch.Description) {
		add(pointerTo(ch) + "/description")
	}
	for key, value := range ch.Labels {
		if redact.PrivateKey(key) || redact.PrivateKey(value) {
			add(pointerTo(ch) + "/labels") // its key may be one
			break
		}
	}
}

// checkStored checks one resource as it was stored. It may be older than a rule.
func (a *API) checkStored(c *call, ch store.RollbackChange, body []byte, into *rollbackCheck) error {
	into.texts(ch)
	at := pointerTo(ch) + "/body"
	if ch.Type == fleet.Secret {
		found, err := guardedSecret(ch.Summary)
		if err != nil {
			return fmt.Errorf("read the summary of secret %q: %w", ch.Name, err)
		}
		into.guarded = append(into.guarded, a.refusedFields(c, found, at)...)
		return nil
	}
	found, err := a.compiler.CheckStored(ch.Type, ch.Name, ch.Variant, body, c.fleet.PrivateClusters)
	var faults resource.Errors
	switch {
	case errors.As(err, &faults):
		for _, f := range faults {
			f.Pointer = at + f.Pointer
			into.bad = append(into.bad, fieldErrors([]resource.FieldError{f})...)
		}
	case err != nil:
		return err
	}
	into.guarded = append(into.guarded, a.refusedFields(c, found, at)...)
	return nil
}

// guardedSecret is what a guard rule names in a sealed Secret, as it was noted when it was
// written. Of one that was written before there were rules nothing is known: it counts as
// one that names a file and the environment.
func guardedSecret(summary []byte) (found []resource.Guarded, err error) {
	var s secretSummary
	if err := json.Unmarshal(summary, &s); err != nil {
		return nil, err
	}
	if s.Guarded == nil {
		s.Guarded = &[]resource.Rule{resource.RuleFiles, resource.RuleEnvironment}
	}
	for _, r := range *s.Guarded {
		found = append(found, resource.Guarded{Rule: r})
	}
	return found, nil
}

// pointerTo tells of which resource a fault of a rollback is:
// /resources/<type>/<name>, with /variants/<variant> of one that has a variant.
func pointerTo(ch store.RollbackChange) string {
	p := "/resources/" + ch.Type.Slug() + "/" + jsonpointer.Escape(ch.Name)
	if ch.Variant != "" {
		p += "/variants/" + jsonpointer.Escape(ch.Variant)
	}
	return p
}
