package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead/internal/compute"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/selector"
	"fairlead/internal/store"
)

// GetNodeWhy implements getNodeWhy: what getNodeConfig tells, with the reasons. It reads the variants of the
// resources of its page alone.
func (a *API) GetNodeWhy(ctx context.Context, c *call, r oapi.GetNodeWhyRequestObject) (oapi.GetNodeWhyResponseObject, error) {
	p := r.Params
	if err := text("node", r.Node); err != nil {
		return nil, err
	}
	name := deref(p.Name)
	if err := text("name", name); err != nil {
		return nil, err
	}
	if p.Name != nil && p.Type == nil {
		return nil, badParameter("name", "invalid", "a name goes with the type of the resource")
	}
	q := store.ConfigFilter{Limit: pageLimit(p.Limit), Name: name}
	if p.Type != nil {
		t := typeOf(*p.Type)
		q.Type = &t
	}
	var err error
	if q.After, err = resourceCursor("node-why", p.Cursor); err != nil {
		return nil, err
	}
	conf, known, err := a.nodeConfig(ctx, c, r.Node, q)
	if err != nil {
		return nil, noSuchNode(err)
	}
	labels, err := a.store.OneNodeLabels(ctx, c.tenant.ID, c.fleet.ID, r.Node)
	if err != nil {
		return nil, noSuchNode(err)
	}
	refs := each(conf.Resources, func(r store.NodeResource) fleet.Ref { return fleet.Ref{Type: r.Type, Name: r.Name} })
	if p.Name != nil && len(refs) == 0 {
		refs = append(refs, fleet.Ref{Type: *q.Type, Name: name})
	}
	out := oapi.GetNodeWhy200JSONResponse{
		Node: conf.Node.ID, State: oapi.NodeState(conf.Node.State), Settled: int64(conf.Node.Settled), Revision: int64(conf.Revision),
		Labels: nodeLabelsOf(labels), LabelsUnknown: optional(!known),
	}
	reasons, err := a.reasons(ctx, c, refs)
	if err != nil {
		return nil, err
	}
	out.Items, err = a.reasonsOf(ctx, c, conf, reasons, selector.LabelsOf(labels.Node))
	if err != nil {
		return nil, err
	}
	if p.Name != nil && len(out.Items) == 0 {
		why, ok := reasons[refs[0]]
		if !ok {
			return nil, noSuchResource(fmt.Errorf("why node %q has it: %w", r.Node, fleet.ErrNotFound), *q.Type, name, "")
		}
		var none oapi.NodeWhy
		err := a.compute(ctx, c, whyKind(len(why)), func(step func() error) (err error) {
			none, err = why.chosen("", selector.LabelsOf(labels.Node), step)
			return err
		})
		if err != nil {
			return nil, err
		}
		none.Selector = nil
		resource := oapi.NodeResource{Type: *p.Type, Name: name, State: oapi.NodeResourceStateUnmatched}
		out.Items = append(out.Items, oapi.NodeReason{Resource: resource, Because: "it has no default variant, and no other one matches the node: the node has no such resource", Why: none})
	}
	if told := len(out.Items); conf.More || told < len(conf.Resources) {
		last := conf.Resources[told-1]
		out.NextCursor = next(cursor{List: "node-why", Type: last.Type.Slug(), Name: last.Name})
	}
	return out, nil
}

// reasonsOf are those of a page: one at least, until they come to answerBytes.
func (a *API) reasonsOf(ctx context.Context, c *call, conf store.NodeConfig, reasons map[fleet.Ref]reason, labels selector.Labels) (out []oapi.NodeReason, err error) {
	target, room, variants := targetOf(conf), answerBytes, 0
	for _, r := range reasons {
		variants += len(r)
	}
	out = []oapi.NodeReason{}
	err = a.compute(ctx, c, whyKind(variants), func(step func() error) error {
		for _, r := range conf.Resources {
			if room <= 0 {
				break
			}
			ref := fleet.Ref{Type: r.Type, Name: r.Name}
			resource := nodeResourceOf(r, target.Types[r.Type].Get(r.Name), conf.Node)
			why, err := reasons[ref].chosen(r.Variant, labels, step)
			if err != nil {
				return err
			}
			out, room = append(out, oapi.NodeReason{Resource: resource, Because: because(resource, why, conf.Node, waitsFor(conf.Node, ref)), Why: why}), room-whyBytes(why)
		}
		return nil
	})
	return out, err
}

func whyKind(variants int) compute.Kind {
	if variants > largeCount {
		return compute.Large
	}
	return compute.Small
}

// whyBytes is what it comes to as it is told, about.
func whyBytes(why oapi.NodeWhy) int {
	requirements := func(rs []oapi.Requirement) (n int) {
		for _, r := range rs {
			n += 64 + len(r.Requirement) + len(deref(r.Has))
		}
		return n
	}
	n := 512 + 2*len(deref(why.Selector)) + requirements(deref(why.Requirements))
	for _, v := range why.PassedOver {
		n += 128 + len(v.Variant) + len(v.Selector) + requirements(v.Requirements)
	}
	return n
}

const (
	maxPassedOver = 100 // variants that are told of one name besides the one that the node has
	maxHas        = 256 // bytes of a label that are told with each requirement: it may have many more
)

// reason are the variants of one name, but for the default one.
type reason []fleet.Row

// reasons are of the names that have variants.
func (a *API) reasons(ctx context.Context, c *call, refs []fleet.Ref) (map[fleet.Ref]reason, error) {
	if len(refs) == 0 {
		return nil, nil //nolint:nilnil // nothing to look up in
	}
	rows, _, err := a.store.Variants(ctx, c.tenant.ID, c.fleet.ID, refs)
	if err != nil {
		return nil, err
	}
	out := make(map[fleet.Ref]reason)
	for _, row := range rows {
		if !row.Deleted {
			ref := fleet.Ref{Type: row.Type, Name: row.Name}
			out[ref] = append(out[ref], row)
		}
	}
	return out, nil
}

func variantReason(row fleet.Row, labels selector.Labels) oapi.VariantReason {
	v := oapi.VariantReason{Variant: row.Variant, Selector: row.Selector, Priority: row.Priority, Matches: true, Requirements: []oapi.Requirement{}}
	sel, err := selector.Parse(row.Selector)
	if err != nil { // of a newer server
		v.Matches = false
		return v
	}
	for _, f := range sel.Explain(labels) {
		r := oapi.Requirement{Requirement: f.Requirement, Holds: f.Holds}
		if f.Known {
			has := shortened(f.Has, maxHas)
			r.Has = &has
		}
		v.Matches = v.Matches && f.Holds
		v.Requirements = append(v.Requirements, r)
	}
	return v
}

// chosen tells what the variants come to for a node with these labels: of the one that it has, and of the others; "" is the default one. Of many it
// tells first of those that match.
func (r reason) chosen(variant string, labels selector.Labels, step func() error) (oapi.NodeWhy, error) {
	out := oapi.NodeWhy{PassedOver: []oapi.VariantReason{}}
	var others []fleet.Row
	matching := 0 // of the others the first so many do
	for _, row := range r {
		if err := step(); err != nil {
			return out, err
		}
		sel, err := selector.Parse(row.Selector)
		switch {
		case row.Variant == variant:
			v := variantReason(row, labels)
			out.Selector, out.Priority, out.Requirements = &v.Selector, &v.Priority, &v.Requirements
		case len(r) > maxPassedOver && err == nil && sel.MatchLabels(labels):
			others = slices.Insert(others, matching, row)
			matching++
		default:
			others = append(others, row)
		}
		if len(others) > maxPassedOver {
			others = others[:maxPassedOver]
			out.MorePassedOver = optional(deref(out.MorePassedOver) + 1)
			matching = min(matching, maxPassedOver)
		}
	}
	for _, row := range others {
		out.PassedOver = append(out.PassedOver, variantReason(row, labels))
	}
	return out, nil
}

// waitsFor says why a node has not confirmed a resource.
func waitsFor(n store.NodeView, ref fleet.Ref) string {
	if by := withheldFrom(n, ref); len(by) > 0 {
		return "it is withheld: it names " + strings.Join(each(by, called), ", ") + ", which the node has not"
	}
	if slices.Contains(n.Waits.Warming, ref) {
		return "the node was sent it and has not answered: something that it needs is still open, or the node is stuck"
	}
	return "the node has not confirmed it yet"
}

// because says it in one sentence; waits is why it is pending, if it is.
func because(r oapi.NodeResource, why oapi.NodeWhy, n store.NodeView, waits string) string {
	var parts []string
	switch matching := slices.ContainsFunc(why.PassedOver, func(v oapi.VariantReason) bool { return v.Matches }); {
	case r.Variant == nil && len(why.PassedOver) == 0:
		parts = append(parts, "it has no variants: it is for every node of the fleet")
	case r.Variant == nil:
		parts = append(parts, "none of its variants matches the node: the default one is for it")
	case matching:
		parts = append(parts, fmt.Sprintf("the variant %q matches: %s; of those that match it has the highest priority, or the name that sorts first among equals", *r.Variant, deref(why.Selector)))
	default:
		parts = append(parts, fmt.Sprintf("the variant %q matches: %s", *r.Variant, deref(why.Selector)))
	}
	switch r.State {
	case oapi.NodeResourceStateRefused, oapi.NodeResourceStateAbsent:
		parts = append(parts, fmt.Sprintf("the node refused the version of revision %d (%s)", deref(r.RefusedRevision), deref(r.Action)))
	case oapi.NodeResourceStatePending:
		parts = append(parts, waits)
	case oapi.NodeResourceStateNotSubscribed:
		if n.Polls() {
			parts = append(parts, "the node polls over REST, and does not ask for it: it polls for what is named with an api_config_source of REST, and has no ADS")
		} else {
			parts = append(parts, "the node does not ask for it, so it was not sent it")
		}
	case oapi.NodeResourceStateOnDemand:
		parts = append(parts, "it is delivered by name alone, and the node asks for all clusters: it has it if it has asked for it by its name, which is not told")
	case oapi.NodeResourceStateUnreferenced:
		parts = append(parts, "nothing in the fleet names it, so a client asks for it only if its own bootstrap does")
	}
	return strings.Join(parts, "; ")
}

// labelsOf is what selectors ask of a node.
func nodeLabelsOf(n store.LabeledNode) oapi.NodeLabels {
	return oapi.NodeLabels{
		Cluster: optional(n.Cluster), ClientName: optional(n.UserAgent), ClientVersion: optional(n.Version),
		Region: optional(n.Region), Zone: optional(n.Zone), SubZone: optional(n.SubZone), Metadata: metadataOf(n.MetadataJSON),
	}
}

// metadataOf is nil where none is known.
func metadataOf(raw []byte) *map[string]any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil || len(m) == 0 {
		return nil
	}
	return &m
}
