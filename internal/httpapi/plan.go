package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"fairlead/internal/docdiff"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/read"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/redact"
	"fairlead/internal/store"
)

// maxDiffs bounds the differences of one plan, in bytes; the others are left out.
const maxDiffs = 4 << 20

// Plan implements plan.
func (a *API) Plan(ctx context.Context, c *call, r oapi.PlanRequestObject) (oapi.PlanResponseObject, error) {
	from, err := parseCursor("plan", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	s, err := a.sentApply(ctx, c)
	if err != nil {
		return nil, err
	}
	s.write.ReferencesTold = r.Params.References != nil && *r.Params.References == oapi.Told
	var p store.Planned
	_, err = a.writeUsing(ctx, c, s.write, s.not, s.where, func(ctx context.Context, c *call, w store.Write) (_ store.Result, err error) {
		p, err = a.store.Plan(ctx, c.tenant.ID, c.fleet.ID, w)
		return store.Result{}, err
	})
	if err != nil {
		return nil, s.refused(a.suggest(ctx, c, s.where, err))
	}
	if err := a.compared(c, s.write.Changes, func(i int) ([32]byte, bool) { return p.Before[i].DocHash, p.Before[i].Revision > 0 }); err != nil {
		return nil, err
	}
	out, err := a.planOf(ctx, c, p, s.write.Changes, nil)
	if err != nil {
		return nil, err
	}
	var beside *besides
	if out.Findings, beside = s.findings(ctx, c, a); beside != nil {
		withhold(out.Resources, s.write.Changes, beside)
		out.Reach = a.tellReach(ctx, c, out.Resources, rewritten{s.write.Changes, p.Before, beside}, idPage{from.Name, pageLimit(r.Params.Limit)})
	}
	warnings := append(s.warnings, absent(s.write.Changes, func(i int) bool { return p.Before[i].Revision == 0 }, s.at)...)
	out.Warnings = warningsOf(a.withDoubts(ctx, c, warnings, s.write.Changes, s.at), out.Findings)
	return oapi.Plan200JSONResponse(out), nil
}

// planOf tells what a write comes to. after reads what it puts where the changes are without their bodies.
func (a *API) planOf(ctx context.Context, c *call, p store.Planned, changes []store.ResourceChange, after func(batch []difference) error) (out oapi.Plan, err error) {
	out = oapi.Plan{
		Revision: int64(p.Seen.Revision), Confirm: each(p.Confirm, reasonOf),
		Limits: each(p.Limits, func(l store.PlannedLimit) oapi.PlanLimit {
			return oapi.PlanLimit{What: oapi.LimitName(l.What), Used: l.Used, Limit: l.Limit}
		}),
		Token: write.PlanToken{Seen: p.Seen, Content: write.ContentOf(c.fleet.ID, changes), Reasons: store.ReasonsOf(p.Confirm)}.String(),
	}
	if out.Resources, err = a.planned(ctx, c, changes, p.Before, after); err != nil {
		return out, err
	}
	for _, r := range out.Resources {
		*map[oapi.PlanAction]*int{
			oapi.Create: &out.Counts.Create, oapi.Update: &out.Counts.Update, oapi.Delete: &out.Counts.Delete, oapi.Unchanged: &out.Counts.Unchanged,
		}[r.Action]++
	}
	return out, nil
}

// difference is a resource that a plan changes.
type difference struct {
	out    *oapi.PlannedResource
	place  int // among the changes
	change *store.ResourceChange
	body   []byte // that it puts, until it is told
	before *store.Before
}

// planned tells of each change what becomes of what was there before.
func (a *API) planned(ctx context.Context, c *call, changes []store.ResourceChange, before []store.Before, after func([]difference) error) (out []oapi.PlannedResource, err error) {
	out = make([]oapi.PlannedResource, len(changes))
	differ := make([]difference, 0, len(changes))
	for i, ch := range changes {
		was := before[i].Revision
		out[i] = oapi.PlannedResource{
			Type: oapi.ResourceType(ch.Type.Slug()), Name: ch.Name, Variant: optional(ch.Variant), Action: oapi.Update, Revision: optional(int64(was)),
		}
		switch {
		case ch.Delete && was == 0, !ch.Delete && was > 0 && before[i].DocHash == ch.DocHash && !sealedAgain(before[i].Resource, ch):
			out[i].Action = oapi.Unchanged
			continue
		case ch.Delete:
			out[i].Action = oapi.Delete
		case was == 0:
			out[i].Action = oapi.Create
		}
		differ = append(differ, difference{&out[i], i, &changes[i], ch.Body, &before[i]})
	}
	room := maxDiffs
	for batch := range slices.Chunk(differ, bodiesAtOnce) {
		if room > 0 {
			if err := a.bodiesBefore(ctx, c, batch); err != nil {
				return nil, err
			}
			if after != nil {
				if err := after(batch); err != nil {
					return nil, err
				}
			}
		}
		if room, err = a.tellBatch(ctx, c, batch, len(differ), room); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sealedAgain reports whether a Secret of the same content is sealed with another key than it was.
func sealedAgain(before store.Resource, ch store.ResourceChange) bool {
	was := read.SealedFor(before.Type, before.Summary)
	return was != "" && ch.SealedFor != "" && was != ch.SealedFor
}

// tellBatch tells of some of so many differences, as far as there is room for them, in bytes, and returns what is left of it.
func (a *API) tellBatch(ctx context.Context, c *call, batch []difference, of, room int) (int, error) {
	size := 0
	for i := range batch {
		size += 2*rowBytes + len(batch[i].before.Body) + len(batch[i].body)
	}
	err := a.compute(ctx, c, sizeKind(partBytes(size, 2*of)), func(step func() error) error {
		for i := range batch {
			d := &batch[i]
			if room <= 0 {
				d.out.Omitted = optional(true)
				continue
			}
			if err := step(); err != nil {
				return err
			}
			size, err := d.tell()
			if err != nil {
				return err
			}
			if room -= size; room < 0 {
				d.out.Omitted, d.out.Changes, d.out.Diff = optional(true), nil, nil
			}
			d.before.Body, d.body = nil, nil
		}
		return nil
	})
	return room, err
}

// bodiesBefore reads what is there now; a Secret's body is sealed and stays where it is.
func (a *API) bodiesBefore(ctx context.Context, c *call, of []difference) error {
	var which []*store.Before
	for _, d := range of {
		if d.before.Revision > 0 && d.before.Type != fleet.Secret {
			which = append(which, d.before)
		}
	}
	if len(which) == 0 {
		return nil
	}
	return a.store.PlannedBodies(ctx, c.tenant.ID, which)
}

// tell writes the difference and returns its size in bytes.
func (d *difference) tell() (size int, err error) {
	var before, after *shown
	if d.before.Revision > 0 {
		if before, err = shownOf(d.before.Resource); err != nil {
			return 0, err
		}
	}
	if !d.change.Delete {
		if after, err = shownOf(rowOf(*d.change, d.body)); err != nil {
			return 0, err
		}
		after.planned = d.change.Type == fleet.Secret
	}
	diff, hidden, err := compare(before, after)
	if err != nil {
		return 0, err
	}
	name := titleOf(*d.change)
	all, whole := diff.Changes(maxDiffs)
	if !whole {
		return maxDiffs + 1, nil
	}
	text := diff.Unified(fmt.Sprintf("%s (revision %d)", name, d.before.Revision), name+" (planned)", docdiff.Context)
	changes := each(all, func(c docdiff.Change) oapi.PlannedChange {
		size += len(c.Pointer) + len(c.Before) + len(c.After)
		out := oapi.PlannedChange{Pointer: c.Pointer, Op: oapi.PlannedChangeOp(c.Op)}
		if c.Op != docdiff.Add {
			out.Before = &c.Before
		}
		if c.Op != docdiff.Remove {
			out.After = &c.After
		}
		return out
	})
	d.out.Changes, d.out.Diff, d.out.Hidden = &changes, optional(text), optional(hidden)
	return size + len(text), nil
}

// shown is a resource as get shows it, without what is of its row.
type shown struct {
	Type        oapi.ResourceType   `json:"type"`
	Name        string              `json:"name"`
	Variant     *string             `json:"variant,omitempty"`
	Selector    *string             `json:"selector,omitempty"`
	Priority    *int32              `json:"priority,omitempty"`
	TTL         *string             `json:"ttl,omitempty"`
	Delivery    *oapi.Delivery      `json:"delivery,omitempty"`
	Labels      *map[string]string  `json:"labels,omitempty"`
	Description *string             `json:"description,omitempty"`
	Body        *oapi.Body          `json:"body,omitempty"`
	Values      *map[string]string  `json:"values,omitempty"`
	Secret      *oapi.SecretSummary `json:"secret,omitempty"`
	Version     string              `json:"version,omitempty"`

	version string
	planned bool // it is a Secret that is not written yet: nothing is told of it by which it could be guessed
}

func shownOf(row store.Resource) (*shown, error) {
	r, err := resourceOf(row)
	return &shown{
		Type: r.Type, Name: r.Name, Variant: r.Variant, Selector: r.Selector, Priority: r.Priority, TTL: r.Ttl, Delivery: r.Delivery, Labels: r.Labels,
		Description: r.Description, Body: r.Body, Values: r.Values, Secret: r.Secret, version: r.Version,
	}, err
}

// rowOf is what the change would leave, with that body.
func rowOf(c store.ResourceChange, body []byte) store.Resource {
	return store.Resource{
		Row: fleet.Row{
			Type: c.Type, Name: c.Name, Variant: c.Variant, Selector: c.Selector, Priority: c.Priority, TTL: c.TTL, Version: c.Version, Body: body, Derived: c.Derived,
		},
		Labels: c.Labels, Description: c.Description, DocHash: c.DocHash, Summary: c.Summary,
	}
}

// compare compares what may be shown of two resources; nil is none. Where all of that is the
// same their versions, which are hashes, tell that the content is not. hidden: there may be
// more of a difference than what is shown.
func compare(before, after *shown) (d docdiff.Diff, hidden bool, err error) {
	b, err := before.json()
	if err != nil {
		return d, false, err
	}
	a, err := after.json()
	if err != nil {
		return d, false, err
	}
	if d, err = docdiff.Compare(b, a); err != nil {
		return d, false, err
	}
	if before == nil || after == nil {
		return d, before != nil && before.Secret != nil || after != nil && after.Secret != nil, nil
	}
	mark := []byte(redact.Mark)
	hidden = before.version != after.version && (after.Secret != nil || bytes.Contains(b, mark) && bytes.Contains(a, mark))
	if !d.Same() || before.version == after.version {
		return d, hidden || d.Same(), nil
	}
	if before.Version, after.Version = before.version, after.version; after.planned {
		after.Version = "(another)"
	}
	d, _, err = compare(before, after)
	return d, true, err
}

func (s *shown) json() ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	return json.Marshal(s)
}

// titleOf is how a diff speaks of a resource, on one line.
func titleOf(c store.ResourceChange) string {
	name := called(fleet.Ref{Type: c.Type, Name: c.Name})
	if c.Variant != "" {
		name += ", variant " + c.Variant
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.QuoteToASCII(name)
	}
	return name
}
