package httpapi

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// usesOf is what one change of a write uses.
type usesOf struct {
	change     int
	uses       []resource.Use
	extensions []fleet.Ref            // that it names: they may use Secrets in its place
	at         func(fleet.Ref) string // where it names one
}

// usesAny reports whether the caller may write whatever uses Secrets.
func usesAny(c *call) bool {
	return c.principal.May(auth.UseSecret, c.fleet.ID)
}

// writeUsing makes a write if its caller may use the Secrets that it uses. What is stored already may stand in it, as
// for the guard rules. It was judged by the labels of Secrets: where they are others when it is made, it is judged again.
func (a *API) writeUsing(ctx context.Context, c *call, w store.Write, not guarded, where *places, write func(context.Context, *call, store.Write) (store.Result, error)) (store.Result, error) {
	if err := a.mayCompare(c, w, where); err != nil {
		return a.replayed(ctx, c, w, err)
	}
	used := usedBy(w.Changes, where)
	if len(used) == 0 || usesAny(c) {
		result, err := a.writeGuarded(ctx, c, w, not, write)
		return result, a.refusedUnseen(ctx, c, w, err)
	}
	for range maxLooks {
		refused, read, err := a.judgeUses(ctx, c, w.Changes, used)
		if err != nil {
			return store.Result{}, err
		}
		w.Read = read
		result, err := a.writeGuarded(ctx, c, w, not.and(refused), write)
		if !errors.Is(err, store.ErrReadMoved) {
			return result, a.refusedUnseen(ctx, c, w, err)
		}
	}
	return store.Result{}, errMoving()
}

// usedBy are the uses of what is put. What is kept stays as it is, and uses nothing anew.
func usedBy(changes []store.ResourceChange, where *places) (out []usesOf) {
	for i, ch := range changes {
		c, sent := where.fields[place{fleet.Ref{Type: ch.Type, Name: ch.Name}, ch.Variant}]
		if ch.Delete || !sent {
			continue
		}
		if u := (usesOf{i, c.Uses, extensionsOf(ch.Derived.Refs), c.Pointer}); len(u.uses) > 0 || len(u.extensions) > 0 {
			out = append(out, u)
		}
	}
	return out
}

func extensionsOf(refs []fleet.Ref) (out []fleet.Ref) {
	for _, r := range refs {
		if r.Type == fleet.Extension {
			out = append(out, r)
		}
	}
	return out
}

// and is what either of them refuses.
func (g guarded) and(other guarded) guarded {
	if len(other) == 0 {
		return g
	}
	out := guarded{}
	for _, part := range []guarded{g, other} {
		for i, faults := range part {
			out[i] = append(slices.Clone(out[i]), faults...)
		}
	}
	return out
}

// judgeUses tells what of the changes the caller may not write because of the Secrets that it uses, and what that was
// judged by. It costs what is used.
func (a *API) judgeUses(ctx context.Context, c *call, changes []store.ResourceChange, used []usesOf) (guarded, []store.Read, error) {
	extensions, followed, err := a.throughExtensions(ctx, c, changes, used)
	if err != nil {
		return nil, nil, err
	}
	j := write.NewJudge(c.principal.UsesSecrets)
	var names []fleet.Ref
	for _, u := range used {
		for _, use := range u.uses {
			names = append(names, write.SecretRef(use.Name))
		}
	}
	for _, below := range extensions {
		for _, r := range below {
			if r.Type == fleet.Secret {
				names = append(names, r)
			}
		}
	}
	if j.Known, j.Newest, err = a.asWritten(ctx, c, changes, names); err != nil {
		return nil, nil, err
	}
	for x, at := range followed { // what an extension names decides as labels do
		j.DecidedBy(x, at)
	}
	through := j.RefusedBelow(extensions)
	refused := guarded{}
	for _, u := range used {
		ch := changes[u.change]
		for _, use := range u.uses {
			if !j.May(ch, use) {
				refused[u.change] = append(refused[u.change], j.Fault(ch, use))
			}
		}
		for _, x := range u.extensions {
			if use, not := through[x]; not {
				refused[u.change] = append(refused[u.change], write.FaultThrough(x, use, u.at(x)))
			}
		}
	}
	return refused, j.Reads(), nil
}

// asWritten is what there is of the resources that are named when the changes are made: their variants, and of what is
// stored of each the newest revision.
func (a *API) asWritten(ctx context.Context, c *call, changes []store.ResourceChange, of []fleet.Ref) (map[fleet.Ref][]store.Used, map[fleet.Ref]fleet.Revision, error) {
	asked := map[fleet.Ref]bool{}
	for _, r := range of {
		if r.Name != "" && len(r.Name) <= maxName && !strings.ContainsRune(r.Name, 0) { // else nothing can be called so
			asked[r] = true
		}
	}
	rows, err := a.store.Used(ctx, c.tenant.ID, c.fleet.ID, slices.Collect(maps.Keys(asked)))
	if err != nil {
		return nil, nil, err
	}
	newest := map[fleet.Ref]fleet.Revision{}
	byPlace := map[store.Cursor]store.Used{}
	for _, r := range rows {
		newest[r.Ref] = max(newest[r.Ref], r.Revision)
		byPlace[store.Cursor{Type: r.Type, Name: r.Name, Variant: r.Variant}] = r
	}
	for _, ch := range changes {
		if ref := (fleet.Ref{Type: ch.Type, Name: ch.Name}); asked[ref] {
			byPlace[cursorOf(ch)] = store.Used{Ref: ref, Variant: ch.Variant, Deleted: ch.Delete, Labels: ch.Labels, Refs: ch.Derived.Refs}
		}
	}
	known := map[fleet.Ref][]store.Used{}
	for _, r := range byPlace {
		if !r.Deleted {
			known[r.Ref] = append(known[r.Ref], r)
		}
	}
	return known, newest, nil
}

// throughExtensions finds of each extension that is named, itself or by others, what it names: who has a proxy take the extension uses the
// Secrets among that. newest is the revision of each one that was followed.
func (a *API) throughExtensions(ctx context.Context, c *call, changes []store.ResourceChange, used []usesOf) (names map[fleet.Ref][]fleet.Ref, newest map[fleet.Ref]fleet.Revision, err error) {
	var ask []fleet.Ref
	for _, u := range used {
		ask = append(ask, u.extensions...)
	}
	names = map[fleet.Ref][]fleet.Ref{}
	newest = map[fleet.Ref]fleet.Revision{}
	for depth := 0; len(ask) > 0 && depth < write.MaxThrough; depth++ {
		known, at, err := a.asWritten(ctx, c, changes, ask)
		if err != nil {
			return nil, nil, err
		}
		var next []fleet.Ref
		for _, x := range ask {
			if _, again := names[x]; again {
				continue
			}
			names[x], newest[x] = []fleet.Ref{}, at[x]
			for _, variant := range known[x] {
				names[x] = append(names[x], variant.Refs...)
			}
			next = append(next, extensionsOf(names[x])...)
		}
		ask = next
	}
	return names, newest, nil
}

// rollbackUses collects what a rollback would have used.
type rollbackUses struct{ used []usesOf }

// add notes what the stored body of the change uses. One that cannot be read is refused as such.
func (r *rollbackUses) add(change int, ch store.RollbackChange, body []byte) {
	uses, _ := resource.UsesOf(ch.Type, body) //nolint:errcheck // so does checkStored read it
	at := pointerTo(ch) + "/body"
	for i := range uses {
		uses[i].Pointer = at + uses[i].Pointer
	}
	if u := (usesOf{change, uses, extensionsOf(ch.Derived.Refs), func(fleet.Ref) string { return at }}); len(u.uses) > 0 || len(u.extensions) > 0 {
		r.used = append(r.used, u)
	}
}

// faults are those of what the caller may not put back, and what that was judged by.
func (r *rollbackUses) faults(ctx context.Context, c *call, a *API, changes []store.ResourceChange) (out []oapi.FieldError, read []store.Read, err error) {
	if len(r.used) == 0 || usesAny(c) {
		return nil, nil, nil
	}
	refused, read, err := a.judgeUses(ctx, c, changes, r.used)
	for _, i := range slices.Sorted(maps.Keys(refused)) {
		out = append(out, refused[i]...)
	}
	return out, read, err
}
