package httpapi

import (
	"context"

	"fairlead/internal/compute"
	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// maxViews is how many groups of nodes a plan lists.
const maxViews = 100

// rewritten is what a plan changes, with what stands beside it.
type rewritten struct {
	changes []store.ResourceChange
	before  []store.Before
	beside  *besides
}

// idPage is a page of ids of nodes.
type idPage struct {
	after string
	limit int
}

// tellReach tells whom a plan reaches, and of each resource how many. Where that cannot be told nothing is, and the plan
// stands all the same. It costs what the names have variants and what the fleet has nodes.
func (a *API) tellReach(ctx context.Context, c *call, resources []oapi.PlannedResource, w rewritten, page idPage) *oapi.PlanReach {
	if err := a.readNodes(ctx, c, w.beside); err != nil {
		a.log.WarnContext(ctx, "look for the nodes that a plan reaches", "error", err)
		return nil
	}
	names, of := w.names()
	kind := compute.Small
	if len(w.beside.Resources)+len(w.beside.Nodes) > largeCount {
		kind = compute.Large
	}
	var out *oapi.PlanReach
	err := a.compute(ctx, c, kind, func(step func() error) error {
		r, err := findings.Reached(names, w.beside.Nodes, step)
		if err != nil {
			return err
		}
		for i, ch := range w.changes {
			n := r.Nodes[of[fleet.Ref{Type: ch.Type, Name: ch.Name}]][ch.Variant]
			resources[i].Nodes = &n
		}
		out, err = tellReached(r, w.beside, page, step)
		return err
	})
	if err != nil {
		a.log.WarnContext(ctx, "look for the nodes that a plan reaches", "error", err)
		return nil
	}
	return out
}

// tellReached tells of the nodes that are reached, and of a page of their ids.
func tellReached(r *findings.Reach, b *besides, page idPage, step func() error) (*oapi.PlanReach, error) {
	out := &oapi.PlanReach{
		Nodes: len(b.Nodes), Reached: r.Total(), Incomplete: optional(b.NodesCut || r.Cut), MoreViews: optional(len(r.Views) > maxViews), Ids: []string{},
		Views: each(r.Views[:min(len(r.Views), maxViews)], func(v findings.ReachedNodes) oapi.PlanView { return oapi.PlanView{Nodes: v.Nodes, Example: v.Example} }),
	}
	for _, n := range b.Nodes { // by id
		if err := step(); err != nil {
			return nil, err
		}
		switch {
		case n.ID <= page.after || !r.Has(n):
		case len(out.Ids) < page.limit:
			out.Ids = append(out.Ids, n.ID)
		default:
			next := cursor{List: "plan", Name: out.Ids[len(out.Ids)-1]}.String()
			out.NextCursor = &next
			return out, nil
		}
	}
	return out, nil
}

// names are the names that are written, each with all its variants, and where each is.
func (w rewritten) names() (names []findings.Rewrite, of map[fleet.Ref]int) {
	of = map[fleet.Ref]int{}
	changed := map[place]bool{}
	for i, ch := range w.changes {
		ref := fleet.Ref{Type: ch.Type, Name: ch.Name}
		at, again := of[ref]
		if !again {
			at = len(names)
			of[ref], names = at, append(names, findings.Rewrite{})
		}
		changed[place{ref, ch.Variant}] = true
		n := &names[at]
		was, after := w.before[i], rowOf(ch, ch.Body).Row
		if was.Revision > 0 {
			n.Before = append(n.Before, findings.Version{Variant: was.Variant, Selector: was.Selector, Priority: was.Priority, Content: contentOfRow(was.Row)})
		}
		if ch.DocHash == was.DocHash { // of one that is kept the change has no content
			after = was.Row
		}
		if !ch.Delete {
			n.After = append(n.After, findings.Version{Variant: ch.Variant, Selector: ch.Selector, Priority: ch.Priority, Content: contentOfRow(after)})
		}
	}
	for _, r := range w.beside.Resources {
		if at, named := of[r.Ref]; named && !changed[place{r.Ref, r.Variant}] {
			v := findings.Version{Variant: r.Variant, Selector: r.Selector, Priority: r.Priority, Content: w.beside.content[store.Cursor{Type: r.Type, Name: r.Name, Variant: r.Variant}]}
			names[at].Before, names[at].After = append(names[at].Before, v), append(names[at].After, v)
		}
	}
	return names, of
}

// contentOfRow is what a node sees of a resource.
func contentOfRow(r fleet.Row) string {
	content := r.Version + " for " + r.TTL.String()
	if r.Derived.ByName {
		content += " " + resource.DeliveryByName
	}
	return content
}

// withhold says of what would be withheld from nodes what it waits for.
func withhold(resources []oapi.PlannedResource, changes []store.ResourceChange, b *besides) {
	there := map[fleet.Ref]bool{}
	for _, r := range b.Resources {
		there[r.Ref] = true
	}
	facts := map[place][]fleet.Ref{} // what it cannot do without, of what is written
	for _, r := range b.Resources {
		if r.Facts == nil || !b.touched[r.Ref] {
			continue
		}
		for _, m := range r.Facts.Mentions {
			if r.Type.Needs(m.Type) && !there[m.Ref] {
				facts[place{r.Ref, r.Variant}] = append(facts[place{r.Ref, r.Variant}], m.Ref)
			}
		}
	}
	for i, ch := range changes {
		missing := facts[place{fleet.Ref{Type: ch.Type, Name: ch.Name}, ch.Variant}]
		if ch.Delete || len(missing) == 0 || resources[i].Action == oapi.Unchanged {
			continue
		}
		refs := each(missing, refOf)
		resources[i].WithheldBy = &refs
	}
}
