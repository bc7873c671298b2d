package httpapi

import (
	"cmp"
	"context"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListEvents implements listEvents: newest first.
func (a *API) ListEvents(ctx context.Context, r oapi.ListEventsRequestObject) (oapi.ListEventsResponseObject, error) {
	c, node := callOf(ctx), deref(r.Params.Node)
	if !plainText(node) {
		return nil, badParameter("node", "invalid_text", "a node's id is UTF-8 without NUL")
	}
	after, err := eventCursor("events", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	events, more, err := a.store.Events(ctx, c.tenant.ID, c.fleet.ID, node, after, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	out := oapi.ListEvents200JSONResponse{Items: each(events, eventOf)}
	if more {
		last := events[len(events)-1]
		out.NextCursor = nextEvent("events", last.At, last.ID)
	}
	return out, nil
}

// nextEvent is the cursor of the events of the list that are older.
func nextEvent(list string, at time.Time, id [16]byte) *string {
	return next(cursor{List: list, Name: strconv.FormatInt(at.UnixMicro(), 10) + " " + hex.EncodeToString(id[:])})
}

// eventCursor reads the moment, in microseconds, and the id that the name holds.
func eventCursor(list string, s *string) (after store.EventCursor, err error) {
	from, err := parseCursor(list, s)
	if err != nil || from == (cursor{}) {
		return after, err
	}
	at, id, _ := strings.Cut(from.Name, " ")
	us, wrong := strconv.ParseInt(at, 10, 64)
	b, bad := hex.DecodeString(id)
	if wrong != nil || bad != nil || len(b) != len(after.ID) || us <= 0 || us > time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() {
		return after, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
	}
	after.At = time.UnixMicro(us)
	copy(after.ID[:], b)
	return after, nil
}

func eventOf(e store.Event) oapi.Event {
	out := oapi.Event{
		At: e.At, Kind: oapi.EventKind(e.Kind), Node: e.Node, Version: optional(e.Version), Revision: optional(int64(e.Revision)),
		Detail: wordsOf(e.Detail), Action: optional(cmp.Or(e.Note, actionWords(e.Action, e.Beside))), ActionCode: actionCode(e.Action),
	}
	if e.Resource.Name != "" {
		ref := refOf(e.Resource)
		out.Resource = &ref
	}
	return out
}
