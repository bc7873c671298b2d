package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// EventPosition is a place in the order in which a fleet's events can be read on: by the
// transaction that wrote them. What is read up to a place stays what it was: nothing commits
// before it later. The zero one is before all.
type EventPosition struct {
	Transaction uint64
	EventCursor // zero: before all of the transaction
}

// Compare orders positions of one fleet.
func (p EventPosition) Compare(q EventPosition) int {
	return cmp.Or(cmp.Compare(p.Transaction, q.Transaction), p.At.Compare(q.At), bytes.Compare(p.ID[:], q.ID[:]))
}

// Position is the place of the event.
func (e Event) Position() EventPosition {
	return EventPosition{Transaction: e.Transaction, EventCursor: EventCursor{At: e.At, ID: e.ID}}
}

const (
	// selectBound has to be a statement before the one that reads: that one sees all below it.
	selectBound = `SELECT set_config('app.events_bound', events_bound()::text, true)`
	eventsAfter = selectEvents + `
   AND (e.xact, e.at, e.id) > ($2::text::xid8, coalesce($3::timestamptz, '-infinity'), $4::uuid) AND e.xact < current_setting('app.events_bound')::xid8
 ORDER BY e.xact, e.at, e.id LIMIT $5`
	// eventsSince is the first transaction that has one since $2, or the bound where that is lower: its events are still to be read. The
	// events of that time are its cost.
	eventsSince = `
WITH recent AS MATERIALIZED (SELECT e.xact FROM node_events e WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.at >= $2)
SELECT least((SELECT r.xact FROM recent r ORDER BY r.xact LIMIT 1), events_bound())::text`
)

// EventsAfter reads on from a place, oldest first, and tells up to where it has read and
// whether there is more. Events are read as soon as no transaction of the database is
// under way that began to write before theirs did. A position that this database cannot have
// given is fleet.ErrInvalid. A limit of 0 is 100; the most is 1000.
func (s *Store) EventsAfter(ctx context.Context, t fleet.TenantID, f fleet.ID, after EventPosition, limit int) (es []Event, upto EventPosition, more bool, err error) {
	limit = pageLimit(limit)
	err = s.transact(ctx, call{limit: readTimeout, plans: setOrder}, t, func(b *pgx.Batch) {
		b.Queue(selectBound).QueryRow(func(row pgx.Row) error { return scanBound(row, &upto) })
		b.Queue(eventsAfter, f.String(), strconv.FormatUint(after.Transaction, 10), timeOrNil(after.At), after.ID, limit+1).Query(func(rows pgx.Rows) (err error) {
			es, err = pgx.CollectRows(rows, scanOneEvent)
			return err
		})
	})
	if err != nil {
		return nil, after, false, fmt.Errorf("read the events of fleet %s from a place on: %w", f, err)
	}
	// An event's place is of a transaction that has ended, and no more than the bound itself is told without one.
	if after.Compare(upto) > 0 {
		return nil, after, false, fmt.Errorf("read the events of fleet %s from transaction %d on, which is not yet: %w", f, after.Transaction, fleet.ErrInvalid)
	}
	if es, more = page(es, limit); more {
		upto = es[len(es)-1].Position()
	}
	return es, upto, more, nil
}

// EventsSince is the place from which EventsAfter reads what happened since a time, or, with
// the zero time, what comes from now on.
func (s *Store) EventsSince(ctx context.Context, t fleet.TenantID, f fleet.ID, since time.Time) (p EventPosition, err error) {
	err = s.transact(ctx, call{limit: readTimeout, plans: setOrder}, t, func(b *pgx.Batch) {
		scan := func(row pgx.Row) error { return scanBound(row, &p) }
		if since.IsZero() {
			b.Queue(selectBound).QueryRow(scan)
			return
		}
		b.Queue(`SELECT set_config('enable_sort', 'on', true)`)
		b.Queue(eventsSince, f.String(), since).QueryRow(scan)
	})
	if err != nil {
		return p, fmt.Errorf("find the events of fleet %s since %v: %w", f, since, err)
	}
	return p, nil
}

func scanBound(row pgx.Row, p *EventPosition) error {
	var text string
	if err := row.Scan(&text); err != nil {
		return err
	}
	n, err := transactionOf(text)
	*p = EventPosition{Transaction: n}
	return err
}

// EventFeed is a fleet and how far its events are known.
type EventFeed struct {
	fleet.Key
	Known EventPosition
}

// EventsMoved tells which of the feeds may have more events, and which fleets are gone: one
// statement for all of them, whoever's they are, and two look-ups by key for each.
func (s *Store) EventsMoved(ctx context.Context, feeds []EventFeed) (moved, gone []fleet.Key, err error) {
	if len(feeds) == 0 {
		return nil, nil, nil
	}
	tenants, fleets, after := make([][16]byte, len(feeds)), make([][16]byte, len(feeds)), make([]string, len(feeds))
	for i, f := range feeds {
		tenants[i], fleets[i], after[i] = f.Tenant, f.Fleet, strconv.FormatUint(f.Known.Transaction, 10)
	}
	_, err = crossTenant(ctx, s, func(row pgx.CollectableRow) (struct{}, error) {
		var place int64
		var away bool
		if err := row.Scan(&place, &away); err != nil {
			return struct{}{}, err
		}
		if k := feeds[place].Key; away {
			gone = append(gone, k)
		} else {
			moved = append(moved, k)
		}
		return struct{}{}, nil
	}, `SELECT o_place, o_gone FROM events_moved($1::uuid[], $2::uuid[], $3::text[]::xid8[])`, tenants, fleets, after)
	if err != nil {
		return nil, nil, fmt.Errorf("ask whether %d fleets have news: %w", len(feeds), err)
	}
	return moved, gone, nil
}

// LiveTokens are those of the tokens that hold at present: one statement, and a look-up by
// key for each.
func (s *Store) LiveTokens(ctx context.Context, ids []fleet.CredentialID) (map[fleet.CredentialID]bool, error) {
	live := make(map[fleet.CredentialID]bool, len(ids))
	if len(ids) == 0 {
		return live, nil
	}
	raw := make([][16]byte, len(ids))
	for i, id := range ids {
		raw[i] = id
	}
	_, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (struct{}, error) {
		var id [16]byte
		err := row.Scan(&id)
		live[id] = true
		return struct{}{}, err
	}, `SELECT i.id FROM unnest($1::uuid[]) AS i (id) CROSS JOIN LATERAL find_token(i.id) k
	     WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`, raw)
	if err != nil {
		return nil, fmt.Errorf("look %d tokens up: %w", len(ids), err)
	}
	return live, nil
}
