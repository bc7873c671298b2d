package httpapi

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListEvents implements listEvents: newest first, or, from a place on, oldest first, as a list or
// as a stream.
func (a *API) ListEvents(ctx context.Context, c *call, r oapi.ListEventsRequestObject) (oapi.ListEventsResponseObject, error) {
	p := r.Params
	q := store.EventFilter{Node: deref(p.Node), Kind: string(deref(p.Kind))}
	if !plainText(q.Node) {
		return nil, badParameter("node", "invalid_text", "a node's id is UTF-8 without NUL")
	}
	var err error
	if q.Since, err = sinceOf(p.Since, time.Now()); err != nil {
		return nil, err
	}
	stream := wantsStream(c.accept)
	if !stream && p.After == nil && p.Wait == nil {
		if p.LastEventID != nil {
			return nil, badParameter("Last-Event-ID", "invalid", "it goes with Accept: "+eventStreamType+"; a list takes after")
		}
		if deref(p.Grouped) {
			return a.eventGroups(ctx, c, q, p.Cursor, pageLimit(p.Limit))
		}
		return a.eventList(ctx, c, q, p.Cursor, pageLimit(p.Limit))
	}
	if p.Cursor != nil {
		return nil, badParameter("cursor", "invalid", "a cursor leads to older events, after, wait and a stream to newer ones: leave one of them out")
	}
	wait, err := waitOf(p.Wait)
	if err != nil {
		return nil, err
	}
	f := eventFilter{node: q.Node, kind: q.Kind, grouped: deref(p.Grouped)}
	from, err := a.eventPlace(ctx, c, p, q.Since)
	if err != nil {
		return nil, err
	}
	if stream {
		return a.streamEvents(ctx, c, from, f)
	}
	return a.pollEvents(ctx, c, from, wait, f, pageLimit(p.Limit))
}

// eventPlace is where to read on: after what the client has had, else since a time, else from
// now on.
func (a *API) eventPlace(ctx context.Context, c *call, p oapi.ListEventsParams, since time.Time) (from store.EventPosition, err error) {
	name, text := "Last-Event-ID", p.LastEventID // of a client that connects again, which repeats its first question too
	if deref(text) == "" {
		name, text = "after", p.After
	}
	if deref(text) == "" {
		return a.store.EventsSince(ctx, c.tenant.ID, c.fleet.ID, since)
	}
	wrong := badParameter(name, "invalid_position", "this is no place in the events of this fleet: give the id of an event or the position of an answer, or begin without")
	if from, err = parsePosition(*text); err != nil {
		return from, wrong
	}
	// A look whether the database can have given it, before an answer begins.
	if _, _, _, err = a.store.EventsAfter(ctx, c.tenant.ID, c.fleet.ID, from, 1); errors.Is(err, fleet.ErrInvalid) {
		return from, wrong
	}
	return from, err
}

func (a *API) eventList(ctx context.Context, c *call, q store.EventFilter, cur *string, limit int) (oapi.ListEventsResponseObject, error) {
	after, err := eventCursor("events", cur)
	if err != nil {
		return nil, err
	}
	position, err := a.store.EventsSince(ctx, c.tenant.ID, c.fleet.ID, time.Time{}) // before the list: what comes between is told twice, and not never
	if err != nil {
		return nil, err
	}
	events, more, err := a.store.Events(ctx, c.tenant.ID, c.fleet.ID, q, after, limit)
	if err != nil {
		return nil, err
	}
	out := oapi.ListEvents200JSONResponse{Items: each(events, eventOf), Position: positionText(position)}
	if more {
		last := events[len(events)-1]
		out.NextCursor = nextEvent("events", last.At, last.ID)
	}
	return out, nil
}

// nextEvent is the cursor of the events of the list that are older.
func nextEvent(list string, at time.Time, id [16]byte) *string {
	return next(cursor{List: list, Name: momentText(at, id)})
}

func momentText(at time.Time, id [16]byte) string {
	return strconv.FormatInt(at.UnixMicro(), 10) + " " + hex.EncodeToString(id[:])
}

// eventCursor reads the moment, in microseconds, and the id that the name holds.
func eventCursor(list string, s *string) (after store.EventCursor, err error) {
	from, err := parseCursor(list, s)
	if err != nil || from == (cursor{}) {
		return after, err
	}
	return parseMoment(from.Name)
}

func parseMoment(text string) (after store.EventCursor, err error) {
	at, id, _ := strings.Cut(text, " ")
	us, wrong := strconv.ParseInt(at, 10, 64)
	b, bad := hex.DecodeString(id)
	if wrong != nil || bad != nil || len(b) != len(after.ID) || us <= 0 || us > time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() {
		return after, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
	}
	after.At = time.UnixMicro(us).UTC()
	copy(after.ID[:], b)
	return after, nil
}

// positionText is a place as an event's id and as Last-Event-ID.
func positionText(p store.EventPosition) string {
	s := strconv.FormatUint(p.Transaction, 10)
	if !p.At.IsZero() {
		s += "-" + strings.Replace(momentText(p.At, p.ID), " ", "-", 1)
	}
	return s
}

func parsePosition(s string) (p store.EventPosition, err error) {
	transaction, moment, exact := strings.Cut(s, "-")
	if p.Transaction, err = strconv.ParseUint(transaction, 10, 62); err == nil && exact {
		p.EventCursor, err = parseMoment(strings.Replace(moment, "-", " ", 1))
	}
	return p, err
}

// sinceOf reads a time, or how long ago it was.
func sinceOf(s *string, now time.Time) (time.Time, error) {
	if s == nil {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, *s); err == nil && at.Year() > 0 && at.Year() < 10000 {
		return at, nil
	}
	d, err := time.ParseDuration(*s)
	if err != nil || d < 0 {
		return time.Time{}, badParameter("since", "invalid_time", "a time such as 2026-05-01T12:00:00Z, or how long ago, such as 90s, 15m or 1h")
	}
	return now.Add(-d), nil
}

func eventOf(e store.Event) oapi.Event {
	id := positionText(e.Position())
	out := oapi.Event{
		Id: &id, At: e.At, Kind: oapi.EventKind(e.Kind), Node: e.Node, Version: optional(e.Version), Revision: optional(int64(e.Revision)),
		Detail: wordsOf(e.Detail), Action: optional(cmp.Or(e.Note, actionWords(e.Action, e.Beside))), ActionCode: actionCode(e.Action),
	}
	if e.Resource.Name != "" {
		ref := refOf(e.Resource)
		out.Resource = &ref
	}
	if d := e.Denied; d.Reason != "" {
		words, attempts, first := deniedWords(d, e.Note), d.Attempts, d.First
		out.Reason, out.Action, out.Attempts, out.FirstAt, out.Address = (*oapi.DeniedReason)(&d.Reason), &words, &attempts, &first, optional(d.Address)
		if d.Credential != (fleet.CredentialID{}) {
			out.Credential = optional(d.Credential.String())
		}
	}
	return out
}

// eventGroups answers with what the newest events say, each once.
func (a *API) eventGroups(ctx context.Context, c *call, q store.EventFilter, cur *string, limit int) (oapi.ListEventsResponseObject, error) {
	var from store.GroupCursor
	after, err := parseCursor("event groups", cur)
	if err == nil && after != (cursor{}) {
		from.Newest, err = parseMoment(after.Variant)
		if err == nil {
			from.After, err = parseMoment(after.Name)
		}
	}
	if err != nil {
		return nil, err
	}
	position, err := a.store.EventsSince(ctx, c.tenant.ID, c.fleet.ID, time.Time{})
	if err != nil {
		return nil, err
	}
	groups, more, err := a.store.EventGroups(ctx, c.tenant.ID, c.fleet.ID, q, from, limit)
	if err != nil {
		return nil, err
	}
	out := oapi.ListEvents200JSONResponse{Items: each(groups, eventGroupOf), Position: positionText(position)}
	if more {
		newest, last := from.Newest, groups[len(groups)-1]
		if newest.At.IsZero() {
			newest = groups[0].Position().EventCursor
		}
		out.NextCursor = next(cursor{List: "event groups", Name: momentText(last.At, last.ID), Variant: momentText(newest.At, newest.ID)})
	}
	return out, nil
}

func eventGroupOf(g store.EventGroup) oapi.Event {
	out := eventOf(g.Event)
	out.Id = nil // of several
	out.Nodes, out.NodeIds, out.FirstAt = &g.Nodes, &g.Sample, &g.FirstAt
	return out
}

// eventGroup is what events of one group have in common.
type eventGroup struct {
	kind, version, detail, note string
	revision                    fleet.Revision
	resource                    fleet.Ref
	action                      fleet.Action
	beside                      bool
	reason                      fleet.DeniedReason
}

const sampledNodes = 10 // of a group

// groupsOf puts events that say the same together, in the order of their last ones: what stands last is what is so.
func groupsOf(es []store.Event) []oapi.Event {
	var groups []*store.EventGroup
	by, nodes, last := map[eventGroup]*store.EventGroup{}, map[eventGroup]map[string]bool{}, map[*store.EventGroup]int{}
	for i, e := range es {
		k := eventGroup{e.Kind, e.Version, e.Detail, e.Note, e.Revision, e.Resource, e.Action, e.Beside, e.Denied.Reason}
		g := by[k]
		if g == nil {
			g = &store.EventGroup{FirstAt: firstOf(e), Sample: []string{}}
			by[k], nodes[k], groups = g, map[string]bool{}, append(groups, g)
		}
		e.Denied.Attempts += g.Denied.Attempts
		g.Event, g.Count, last[g] = e, g.Count+1, i
		if first := firstOf(e); first.Before(g.FirstAt) {
			g.FirstAt = first
		}
		if e.Node != "" && !nodes[k][e.Node] {
			nodes[k][e.Node] = true
			g.Sample = append(g.Sample, e.Node)
			g.Nodes++
		}
	}
	slices.SortFunc(groups, func(a, b *store.EventGroup) int { return cmp.Compare(last[a], last[b]) })
	return each(groups, func(g *store.EventGroup) oapi.Event {
		slices.Sort(g.Sample)
		g.Sample = g.Sample[:min(len(g.Sample), sampledNodes)]
		return eventGroupOf(*g)
	})
}

// firstOf is since when the event tells.
func firstOf(e store.Event) time.Time {
	if e.Denied.Reason != "" {
		return e.Denied.First
	}
	return e.At
}

// deniedWords say for people why clients were not let in, or what they asked for in vain, and how often.
func deniedWords(d fleet.Denied, note string) string {
	why := map[fleet.DeniedReason]string{
		fleet.DeniedToken:       "a token with the id of a credential of this fleet, and another secret",
		fleet.DeniedRevoked:     "its node credential is revoked",
		fleet.DeniedExpired:     "its node credential has expired",
		fleet.DeniedNodeID:      "its node credential is not for nodes of this id",
		fleet.DeniedNodeIDTaken: "another client has this node id, and they are exclusive here",
		fleet.DeniedRouted:      "its call came through a proxy, which has lent it the credential",
	}[d.Reason]
	text := "not let in: " + cmp.Or(why, string(d.Reason))
	if asked := askedWords[d.Reason]; asked != "" {
		text = asked
	}
	if note != "" {
		text += ": " + note
	}
	if d.Address != "" {
		text += ", from " + d.Address
	}
	if d.Attempts > 1 {
		text += fmt.Sprintf(", %d times", d.Attempts)
	}
	return text
}

// askedWords are of clients that were let in.
var askedWords = map[fleet.DeniedReason]string{
	fleet.DeniedType:    "it asks for a type of resource that is not served, and gets no answer",
	fleet.DeniedNames:   "it asks for more than it may, and is told that the rest does not exist",
	fleet.DeniedRequest: "its stream is refused for what it asks",

	fleet.DeniedMissing:  "a resource is kept from it, as what that names does not exist",
	fleet.DeniedRefused:  "a resource is kept from it, as it refuses what that names",
	fleet.DeniedSealed:   "a secret is kept from it, as its xDS server has no key for that",
	fleet.DeniedTooLarge: "a resource is kept from it, as the set with that is larger than it takes at once",
}

func keyOf(c *call) fleet.Key { return fleet.Key{Tenant: c.tenant.ID, Fleet: c.fleet.ID} }
