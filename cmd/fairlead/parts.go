package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
)

const (
	maxWhole     = 4<<20 - 64<<10 // bytes of lists that are sent as one apply: the API takes 4 MiB with all that stands beside them
	maxPart      = 2 << 20        // bytes of a part, of what is more
	maxPartItems = 5000           // resources of a part; all deletions that fit are one, so that what deletes most of a type is asked about
)

// partOrder is the order in which types are written in parts: what is named comes before what names it. Deletions come after all of it, in the
// opposite order.
var partOrder = []fleet.Type{
	fleet.Runtime, fleet.Secret, fleet.Endpoint, fleet.Cluster, fleet.Extension, fleet.VirtualHost, fleet.Route, fleet.ScopedRoute, fleet.Listener,
}

// parts is the bundle itself where the API takes it as one apply, else several that come to the same, in an order that is safe. Each is a
// revision of its own. The same files are the same parts.
func (b *bundle) parts() ([]*bundle, error) {
	whole := 0
	for _, s := range []section{b.resources, b.deletions} {
		for _, item := range s.items {
			whole += len(item) + 1
		}
	}
	if whole <= maxWhole {
		return []*bundle{b}, nil
	}
	if len(b.others) > 0 {
		key := slices.Min(slices.Collect(maps.Keys(b.others)))
		o := b.others[key]
		return nil, usageError(fmt.Sprintf("%s: this is too much for one apply and is sent in parts, which have no %s of their own: leave it out of the files", o.doc.at(o.prefix), key))
	}
	if wrong := b.twice(); len(wrong) > 0 {
		return nil, wrong
	}
	puts := b.resources.split(maxPartItems, func(item json.RawMessage) int { return slices.Index(partOrder, typeOf(item)) })
	gone := b.deletions.split(len(b.deletions.items), func(item json.RawMessage) int { return -slices.Index(partOrder, typeOf(item)) })
	var out []*bundle
	for _, s := range puts {
		out = append(out, &bundle{resources: s, messages: b.messages, message: b.message, others: b.others})
	}
	for _, s := range gone {
		out = append(out, &bundle{deletions: s, messages: b.messages, message: b.message, others: b.others})
	}
	return out, nil
}

// twice tells what is named twice: of one apply the API does, but nobody sees two parts at once.
func (b *bundle) twice() (wrong faults) {
	seen := map[deletion]bool{}
	for _, s := range []section{b.resources, b.deletions} {
		for i, item := range s.items {
			var head struct{ Variant string }
			_ = json.Unmarshal(item, &head)
			d := deletion{Name: nameOf(item), Type: typeOf(item).Slug(), Variant: head.Variant}
			if seen[d] {
				if where, ok := s.origins[i].place(""); ok {
					wrong = append(wrong, where+": "+d.String()+" is named twice")
				}
			}
			seen[d] = true
		}
	}
	return wrong
}

// typeOf is the type that an element says that it has; what has none is for the API to refuse.
func typeOf(item json.RawMessage) fleet.Type {
	var head struct {
		Type string
		URL  string `json:"@type"`
	}
	_ = json.Unmarshal(item, &head)
	if t, known := fleet.TypeFromURL(head.URL); known {
		return t
	}
	t, _ := fleet.TypeFromSlug(head.Type)
	return t
}

// nameOf is the name that an element says that it has.
func nameOf(item json.RawMessage) string {
	var head struct {
		Name    string
		Cluster string `json:"cluster_name"` // of a load assignment as Envoy has it
	}
	_ = json.Unmarshal(item, &head)
	return cmp.Or(head.Name, head.Cluster)
}

// split cuts the list into parts, ordered by rank, within a rank with what is named before what names it, and else as it stands.
func (s *section) split(most int, rank func(json.RawMessage) int) (out []section) {
	ranks, order := make([]int, len(s.items)), make([]int, len(s.items))
	for i, item := range s.items {
		ranks[i], order[i] = rank(item), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return ranks[a] - ranks[b] })
	order = s.namedFirst(order, ranks)
	size := 0
	for _, i := range order {
		if len(out) == 0 || size+len(s.items[i]) > maxPart || len(out[len(out)-1].items) == most {
			out, size = append(out, section{there: true}), 0
		}
		out[len(out)-1].add(s.origins[i], s.items[i])
		size += len(s.items[i])
	}
	return out
}

// planTokens are the tokens of the plans of all parts, as they are printed: one word.
func planTokens(text string, parts int) ([]string, error) {
	if text == "" {
		return make([]string, parts), nil
	}
	tokens := strings.Split(text, ",")
	if len(tokens) != parts {
		return nil, usageError(fmt.Sprintf("--plan is of a plan in %s, and these files come to %d: plan them again", amount(len(tokens), "part"), parts))
	}
	return tokens, nil
}

// applyParts writes the parts one after the other. It ends at the first that is not made, and tells what is written by then and how to go on.
func (w *writing) applyParts(ctx context.Context, s *session, parts []*bundle, m members) error {
	tokens, err := planTokens(m.plan, len(parts))
	if err != nil {
		return err
	}
	if len(parts) > 1 {
		w.IdempotencyKey = orNew(w.IdempotencyKey)
	}
	before, last := int64(-1), int64(0)
	for i, b := range parts {
		m.plan = tokens[i]
		body, err := b.body(m)
		if err != nil {
			return err
		}
		one := *w
		if len(parts) > 1 {
			one.IdempotencyKey = fmt.Sprintf("%s.%d", w.IdempotencyKey, i+1)
			fmt.Fprintf(s.err, "part %d of %d: %s\n", i+1, len(parts), b.amount())
		}
		result, err := one.made(ctx, s, b.place, func(ctx context.Context, key, confirm string) (*http.Response, error) {
			return s.apply(ctx, key, confirm, body)
		})
		if result.Changed > 0 && before < 0 {
			before = result.Revision - 1
		}
		last = max(last, result.Revision)
		var unsure *unsureError
		if len(parts) > 1 && errors.As(err, &unsure) {
			unsure.key = w.IdempotencyKey
		}
		if err != nil {
			s.tellWritten(i, len(parts), before, last, result.Revision > 0)
			return placed(advised(err), b)
		}
		if m.expected != nil {
			m.expected = &result.Revision
		}
	}
	return nil
}

func orNew(key string) string {
	if key == "" {
		return newKey()
	}
	return key
}

// amount says what a part is of.
func (b *bundle) amount() string {
	if b.deletions.there {
		return amount(len(b.deletions.items), "deletion")
	}
	return amount(len(b.resources.items), "resource")
}

// tellWritten tells what of the parts is stored when part number i, from 0, ended the command; stored: it is stored itself.
func (s *session) tellWritten(i, parts int, before, last int64, stored bool) {
	if stored {
		i++
	}
	if parts == 1 || i == 0 {
		return
	}
	fmt.Fprintf(s.err, "%s of %d written, up to revision %d; the fleet has these and what it had of the others. Repeat the command to write the others; a plan is to be made again.\n", amount(i, "part"), parts, last)
	if before > 0 {
		fmt.Fprintf(s.err, "To take back what is written: fairlead rollback %d\n", before)
	}
}

// tellPlans asks what the parts would do and prints it. The last line is the token of all of them. Each part is planned on what the fleet has
// now, not on the parts before it, but for what it names: that may be in one of these.
func (s *session) tellPlans(ctx context.Context, parts []*bundle, m members, asJSON bool) (all plan, err error) {
	tokens := make([]string, len(parts))
	var before *earlier
	if len(parts) > 1 {
		if before, err = s.nothingEarlier(ctx); err != nil {
			return all, err
		}
	}
	for i, b := range parts {
		if len(parts) > 1 {
			fmt.Fprintf(s.err, "part %d of %d: %s\n", i+1, len(parts), b.amount())
		}
		p, err := s.tellPlan(ctx, b, m, before, asJSON)
		if err == nil {
			err = before.refuses(p)
		}
		if err != nil {
			return all, err
		}
		before.add(b)
		tokens[i] = p.Token
		addCounts(&all.Counts, p.Counts)
	}
	all.Token = strings.Join(tokens, ",")
	if !asJSON && all.differs() {
		fmt.Fprintln(s.out, plain(all.Token))
	}
	return all, nil
}

func addCounts(to *client.PlanCounts, c client.PlanCounts) {
	to.Create += c.Create
	to.Update += c.Update
	to.Delete += c.Delete
	to.Unchanged += c.Unchanged
}
