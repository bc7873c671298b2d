package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// What happened to a node.
const (
	EventRefused    = "refused"    // it refused a resource
	EventKeptBack   = "kept_back"  // something stands in for what it refused, or it was left without
	EventRecovered  = "recovered"  // a refusal ended: another version is in force, or the node has what it is to have
	EventOffered    = "offered"    // a refusal ended: the node is offered the version once more, and may refuse it again
	EventDuplicates = "duplicates" // several clients have its id
	EventDenied     = "denied"     // clients that say that they are it were not let in
	EventWithheld   = "withheld"   // a resource is kept from them; its rows are of the kind denied, and their reason tells
	EventDropped    = "dropped"    // of no node: older events and refusals of the fleet were dropped at a limit
)

const (
	keptEvents   = 10_000 // of a fleet, the newest
	keepEventsDB = `interval '30 days'`
)

// Event is one thing that happened to a node.
type Event struct {
	ID       [16]byte // tells events of one moment apart
	At       time.Time
	Kind     string // EventRefused, ...
	Node     string
	Resource fleet.Ref // the zero Ref where it is about none
	Version  string    // the refused one
	// Revision brought the refused version; of EventRecovered it is the one that ended it, if one did.
	Revision fleet.Revision
	Detail   string       // the client's words: redacted, hostile text
	Action   fleet.Action // of EventRefused and EventKeptBack
	Beside   bool         // see fleet.Refusal
	Note     string       // for people, of another kind

	// Of EventDenied and EventWithheld; Node is what the clients say, At the last time.
	Denied fleet.Denied

	Transaction uint64 // that wrote it
}

// EventCursor is the event after which a page begins; the zero one is the newest.
type EventCursor struct {
	At time.Time
	ID [16]byte
}

// eventKind is the kind of an event e, as it is told.
const eventKind = `CASE WHEN starts_with(e.reason::text, 'withheld_') THEN 'withheld' ELSE e.kind END`

// The words are looked up by key for each event.
const selectEvents = `
SELECT e.id, e.at, ` + eventKind + `, e.node_id, e.type, e.name, e.version, e.revision, coalesce(t.text, ''), e.action, e.beside, e.note,
       coalesce(e.reason::text, ''), e.credential_id, e.address, e.attempts, e.first_at, e.xact::text
  FROM node_events e
  LEFT JOIN nack_texts t ON t.tenant_id = e.tenant_id AND t.fleet_id = e.fleet_id AND t.hash = e.text_hash
 WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1`

// sweepEvents keeps the newest $2 of a fleet, and none that is older than 30 days. It removes $3 at most, the oldest first, and says whether that
// was all.
const sweepEvents = `
WITH gone AS (
  DELETE FROM node_events d WHERE d.ctid = ANY (ARRAY(
    SELECT e.ctid FROM node_events e
     WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1
       AND (e.at < clock_timestamp() - ` + keepEventsDB + `
            OR (e.at, e.id) <= (SELECT o.at, o.id FROM node_events o WHERE o.tenant_id = app_tenant() AND o.fleet_id = $1
                                 ORDER BY o.at DESC, o.id DESC OFFSET $2 LIMIT 1))
     ORDER BY e.at, e.id LIMIT $3)) RETURNING 1)
SELECT count(*) < $3 FROM gone`

// EventFilter says which events a list has.
type EventFilter struct {
	Node  string    // "": of all nodes
	Kind  string    // EventRefused, ...; "": of all kinds
	Since time.Time // not those before; zero: all that are kept
}

// Events returns what happened to the fleet's nodes, newest first, and whether there is
// more. A limit of 0 is 100; the most is 1000.
func (s *Store) Events(ctx context.Context, t fleet.TenantID, f fleet.ID, q EventFilter, after EventCursor, limit int) ([]Event, bool, error) {
	limit = pageLimit(limit)
	sql := selectEvents + ` AND ($2::timestamptz IS NULL OR (e.at, e.id) < ($2, $3::uuid)) AND ($4::timestamptz IS NULL OR e.at >= $4)`
	args := []any{f.String(), timeOrNil(after.At), after.ID, timeOrNil(q.Since)}
	if q.Node != "" {
		sql, args = sql+` AND e.node_id = $5`, append(args, clean(q.Node, maxNodeID))
	}
	if q.Kind != "" { // no index has it: of a fleet there are keptEvents
		args = append(args, q.Kind)
		sql += fmt.Sprintf(` AND `+eventKind+` = $%d`, len(args))
	}
	sql += fmt.Sprintf(` ORDER BY e.at DESC, e.id DESC LIMIT %d`, limit+1)
	es, err := many(ctx, s, t, scanOneEvent, sql, args...)
	if err != nil {
		return nil, false, fmt.Errorf("list events of fleet %s: %w", f, err)
	}
	es, more := page(es, limit)
	return es, more, nil
}

// scanEvent scans an event, and what stands behind it into more.
func scanEvent(row pgx.CollectableRow, more ...any) (e Event, err error) {
	var slug, action, xact string
	var credential *[16]byte
	var first *time.Time
	d := &e.Denied
	err = row.Scan(append([]any{&e.ID, &e.At, &e.Kind, &e.Node, &slug, &e.Resource.Name, &e.Version, (*int64)(&e.Revision), &e.Detail, &action, &e.Beside, &e.Note,
		(*string)(&d.Reason), &credential, &d.Address, &d.Attempts, &first, &xact}, more...)...)
	if err == nil {
		e.Transaction, err = transactionOf(xact)
	}
	e.Action = actionOf(&action)
	e.Resource.Type, _ = fleet.TypeFromSlug(slug) // of no resource: the zero Ref
	e.At = e.At.UTC()
	if d.Reason != "" {
		d.Node, d.Credential, d.First, d.Last = e.Node, uuidOrZero[fleet.CredentialID](credential), timeOrZero(first), e.At
	}
	return e, err
}

func scanOneEvent(row pgx.CollectableRow) (Event, error) { return scanEvent(row) }
