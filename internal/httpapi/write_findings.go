package httpapi

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"fairlead/internal/compute"
	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/read"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

const (
	maxWriteFindings = 100   // that one answer lists
	maxReferrers     = 1_000 // that a write which takes something away looks at
	maxReferrerRead  = 32    // of which the body is read, for the pointer into it
	maxHosts         = 1_000 // virtual hosts of one route, beside which a domain may stand twice
	maxAlike         = 200   // names that a missing one is compared with
)

// besides is what stands beside a write.
type besides struct {
	findings.Fleet
	touched map[fleet.Ref]bool
	keys    map[store.Cursor]bool   // of what the write writes and deletes
	stands  map[store.Cursor]int    // where in Resources what it leaves as it is stands
	more    bool                    // more resources name what the write takes away than were looked at
	nodes   bool                    // the nodes were read
	content map[store.Cursor]string // what nodes see of those that the write leaves as they are
}

// findWritten tells what is to be said of a write that was made, or planned: of what it names and of what
// names it. What others wrote meanwhile may show. It costs what the write touches; nodes are read where a selector
// decides something of it.
func (a *API) findWritten(ctx context.Context, c *call, ws []written) (*oapi.WriteFindings, *besides, error) {
	b, err := a.beside(ctx, c, ws)
	if err != nil {
		return nil, nil, err
	}
	kind := compute.Small
	if len(b.Resources)+len(b.Nodes) > largeCount {
		kind = compute.Large
	}
	var found []findings.Finding
	err = a.compute(ctx, c, kind, func(step func() error) (err error) {
		b.Step = step
		found, err = findings.CheckWrite(b.Fleet, b.touched)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	out := &oapi.WriteFindings{More: optional(b.more)}
	out.Errors, out.Warnings, out.Infos = findings.Count(found)
	out.Items = each(found[:min(len(found), maxWriteFindings)], findingOf)
	return out, b, nil
}

func (a *API) beside(ctx context.Context, c *call, ws []written) (*besides, error) {
	b := &besides{touched: map[fleet.Ref]bool{}, keys: map[store.Cursor]bool{}, stands: map[store.Cursor]int{}, content: map[store.Cursor]string{}}
	b.StaticClusters, b.PrivateClusters, b.Now = append([]string{findings.BootstrapCluster}, c.fleet.StaticClusters...), c.fleet.PrivateClusters, time.Now()
	b.Values = c.fleet.Values
	ask := refSet{seen: map[fleet.Ref]bool{}}
	routes := refSet{seen: map[fleet.Ref]bool{}}
	for _, w := range ws {
		ref := fleet.Ref{Type: w.Type, Name: w.Name}
		b.touched[ref], b.keys[cursorOf(w.ResourceChange)] = true, true
		ask.add(ref)
		if w.Delete {
			continue
		}
		b.Resources = append(b.Resources, findings.Resource{Ref: ref, Variant: w.Variant, Selector: w.Selector, Priority: w.Priority, Facts: w.facts, Values: read.ValuesIn(w.Type, w.Summary), SealedFor: read.SealedFor(w.Type, w.Summary)})
		for _, m := range w.facts.Mentions {
			ask.add(m.Ref)
		}
		switch route := (fleet.Ref{Type: fleet.Route, Name: w.Name}); {
		case w.Type == fleet.VirtualHost:
			route.Name = w.Name[:max(0, strings.LastIndexByte(w.Name, '/'))]
			ask.add(route)
			routes.add(route)
		case w.Type == fleet.Route && w.facts.VHDS:
			routes.add(route)
		}
	}
	rows, err := a.store.Neighbours(ctx, c.tenant.ID, c.fleet.ID, ask.refs, each(routes.refs, func(r fleet.Ref) string { return r.Name }), maxHosts)
	if err != nil {
		return nil, err
	}
	if err := a.readRoutes(ctx, c, rows, routes.seen); err != nil {
		return nil, err
	}
	for _, r := range rows {
		b.take(r, tableFacts(r))
	}
	if err := a.referrers(ctx, c, b); err != nil {
		return nil, err
	}
	if err := a.alike(ctx, c, b, ask.refs); err != nil {
		return nil, err
	}
	if names := namesOfType(ask.refs, fleet.Endpoint); len(names) > 0 {
		if b.Endpoints, err = a.store.EndpointClusters(ctx, c.tenant.ID, c.fleet.ID, names); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(b.Resources, func(r findings.Resource) bool { return r.SealedFor != "" }) {
		if b.ServerKeys, err = a.serverKeys(ctx); err != nil {
			return nil, err
		}
		b.OwnKey = a.sealer.KeyID()
	}
	return b, a.nodesBeside(ctx, c, b)
}

func namesOfType(refs []fleet.Ref, t fleet.Type) (out []string) {
	for _, r := range refs {
		if r.Type == t {
			out = append(out, r.Name)
		}
	}
	return out
}

// refSet is refs in the order in which they came.
type refSet struct {
	refs []fleet.Ref
	seen map[fleet.Ref]bool
}

func (s *refSet) add(r fleet.Ref) {
	if r.Name != "" && !s.seen[r] {
		s.seen[r] = true
		s.refs = append(s.refs, r)
	}
}

// take adds what stands there, unless the write changes it. Facts that are known later are added to those that are known already:
// what the write names may itself name what the write takes away.
func (b *besides) take(r store.Neighbour, facts *resource.Facts) {
	key := r.Cursor()
	if b.keys[key] {
		return
	}
	if i, ok := b.stands[key]; ok {
		b.Resources[i].Facts = together(b.Resources[i].Facts, facts)
		return
	}
	b.stands[key], b.content[key] = len(b.Resources), contentOfRow(r.Row)
	b.Resources = append(b.Resources, findings.Resource{
		Ref: fleet.Ref{Type: r.Type, Name: r.Name}, Variant: r.Variant, Selector: r.Selector, Priority: r.Priority, Facts: facts, Values: read.ValuesIn(r.Type, r.Summary), SealedFor: read.SealedFor(r.Type, r.Summary),
	})
}

// together are the facts of one resource, of which the table's alone may have been known before.
func together(table, all *resource.Facts) *resource.Facts {
	if table == nil || all == nil {
		return cmp.Or(all, table)
	}
	both := *all
	both.VHDS = both.VHDS || table.VHDS
	if both.Hosts == nil {
		both.Hosts = table.Hosts
	}
	return &both
}

// readRoutes reads the bodies of routes whose virtual hosts are compared with those that stand alone.
func (a *API) readRoutes(ctx context.Context, c *call, rows []store.Neighbour, routes map[fleet.Ref]bool) error {
	var read []*store.Neighbour
	for i := range rows {
		if r := &rows[i]; r.Type == fleet.Route && routes[fleet.Ref{Type: r.Type, Name: r.Name}] && len(read) < bodiesAtOnce {
			read = append(read, r)
		}
	}
	if len(read) == 0 {
		return nil
	}
	return a.store.PlannedBodies(ctx, c.tenant.ID, read)
}

// tableFacts are a row's domains: nothing else of what the write does not change is looked at.
func tableFacts(r store.Neighbour) *resource.Facts {
	switch {
	case r.Type == fleet.Route && r.Body != nil:
		f := read.FactsOf(r.Resource)
		return &resource.Facts{Hosts: f.Hosts, VHDS: f.VHDS}
	case r.Type == fleet.Route:
		return &resource.Facts{VHDS: r.Derived.VHDS}
	case r.Type == fleet.VirtualHost:
		return &resource.Facts{Hosts: [][]string{r.Derived.Domains}}
	}
	return nil
}

// referrers takes what names those of the touched that some nodes, or all, may have no variant of.
func (a *API) referrers(ctx context.Context, c *call, b *besides) error {
	variants := map[fleet.Ref]bool{} // true: the default one too
	for _, r := range b.Resources {
		variants[r.Ref] = variants[r.Ref] || r.Variant == ""
	}
	var bare []fleet.Ref
	b.Deletes = map[fleet.Ref]bool{}
	for ref := range b.touched {
		fallback, any := variants[ref]
		b.Deletes[ref] = !any
		if !fallback {
			bare = append(bare, ref)
		}
	}
	if len(bare) == 0 {
		return nil
	}
	rows, more, err := a.store.Referrers(ctx, c.tenant.ID, c.fleet.ID, bare, maxReferrers)
	if err != nil {
		return err
	}
	var whole []*store.Neighbour
	names := refSet{seen: map[fleet.Ref]bool{}}
	for i := range rows {
		r := &rows[i]
		if b.keys[r.Cursor()] {
			continue
		}
		if names.add(fleet.Ref{Type: r.Type, Name: r.Name}); r.Type != fleet.Secret && len(whole) < maxReferrerRead {
			whole = append(whole, r)
		}
	}
	if err := a.store.PlannedBodies(ctx, c.tenant.ID, whole); err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		facts := read.FactsOfSecret(r.Resource)
		if r.Body != nil {
			facts = read.FactsOf(r.Resource)
			r.Body = nil
		}
		b.take(*r, facts)
	}
	b.more = more
	others, err := a.store.Neighbours(ctx, c.tenant.ID, c.fleet.ID, names.refs, nil, 0) // of who has which variant they decide
	for _, r := range others {
		b.take(r, nil)
	}
	return err
}

// alike takes names that those which are missing may have been meant for.
func (a *API) alike(ctx context.Context, c *call, b *besides, asked []fleet.Ref) error {
	there := map[fleet.Ref]bool{}
	for _, r := range b.Resources {
		there[r.Ref] = true
	}
	for _, s := range b.StaticClusters {
		there[fleet.Ref{Type: fleet.Cluster, Name: s}] = true
	}
	var starts []fleet.Ref
	for _, r := range asked {
		if !there[r] && !b.touched[r] && len(starts) < 2*findings.MaxHints {
			name := []rune(r.Name) // misspelt in its second half, or before
			half, few := (len(name)+1)/2, min(len(name), 2)
			starts = append(starts, fleet.Ref{Type: r.Type, Name: string(name[:half])})
			if few < half {
				starts = append(starts, fleet.Ref{Type: r.Type, Name: string(name[:few])})
			}
		}
	}
	if len(starts) == 0 {
		return nil
	}
	var err error
	b.Alike, err = a.store.Alike(ctx, c.tenant.ID, c.fleet.ID, starts, maxAlike)
	return err
}

// nodesBeside reads the nodes where a selector decides who gets what, or what is written needs a build that not every node may have.
func (a *API) nodesBeside(ctx context.Context, c *call, b *besides) (err error) {
	for _, r := range b.Resources {
		if r.Variant != "" || r.Facts != nil && len(r.Facts.Contrib) > 0 {
			return a.readNodes(ctx, c, b)
		}
	}
	return nil
}

func (a *API) readNodes(ctx context.Context, c *call, b *besides) (err error) {
	if b.nodes {
		return nil
	}
	b.Nodes, b.Unlabeled, b.NodesCut, err = a.labeledNodes(ctx, c)
	b.nodes = err == nil
	return err
}

// tellFindings is findWritten for an answer: where it cannot be told, nothing is, and the write stands all the same.
// at gives a finding its place in what was sent.
func (a *API) tellFindings(ctx context.Context, c *call, changes []store.ResourceChange, at func(oapi.Finding) *string) *oapi.WriteFindings {
	out, _ := a.tellBeside(ctx, c, changes, at)
	return out
}

// tellBeside is tellFindings, and what they were found in.
func (a *API) tellBeside(ctx context.Context, c *call, changes []store.ResourceChange, at func(oapi.Finding) *string) (*oapi.WriteFindings, *besides) {
	ws, err := a.writtenBy(ctx, c, changes)
	if err != nil {
		a.log.WarnContext(ctx, "read what a write puts", "error", err)
		return nil, nil
	}
	return a.tellWritten(ctx, c, ws, at)
}

// tellWritten is tellBeside of what was read already.
func (a *API) tellWritten(ctx context.Context, c *call, ws []written, at func(oapi.Finding) *string) (*oapi.WriteFindings, *besides) {
	out, b, err := a.findWritten(ctx, c, ws)
	if err != nil {
		a.log.WarnContext(ctx, "look for findings of a write", "error", err)
		return nil, nil
	}
	for i := range out.Items {
		out.Items[i].At = at(out.Items[i])
	}
	return out, b
}

// finding returns the place in what was sent that a finding is about: of what is written there, or of the
// deletion of what it names.
func (p *places) finding(at map[place]string) func(oapi.Finding) *string {
	return func(f oapi.Finding) *string {
		ref := fleet.Ref{Type: typeOf(f.Type), Name: f.Name}
		pointer, sent := at[place{ref, deref(f.Variant)}]
		switch c, compiled := p.fields[place{ref, deref(f.Variant)}]; {
		case sent && compiled && f.To != nil && f.Code == oapi.MissingReference:
			pointer = c.Pointer(fleet.Ref{Type: typeOf(f.To.Type), Name: f.To.Name}) // as it is spelled there
		case sent && compiled: // of what is kept the body does not stand there
			pointer += f.Pointer
		case sent:
		case f.To != nil:
			pointer, sent = p.deleted[fleet.Ref{Type: typeOf(f.To.Type), Name: f.To.Name}]
			if !sent {
				pointer, sent = at[place{fleet.Ref{Type: typeOf(f.To.Type), Name: f.To.Name}, deref(f.ToVariant)}]
			}
		}
		if !sent {
			return nil
		}
		return &pointer
	}
}

// sentAt are the places of what is put.
func sentAt(changes []store.ResourceChange, at func(i int) string) map[place]string {
	out := make(map[place]string, len(changes))
	for i, ch := range changes {
		if !ch.Delete {
			out[place{fleet.Ref{Type: ch.Type, Name: ch.Name}, ch.Variant}] = at(i)
		}
	}
	return out
}
