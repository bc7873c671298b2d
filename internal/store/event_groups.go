package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// EventGroup is events that say the same of several nodes: the kind, the resource, its
// version, the revision, the words and what was done, or why clients were not let in. Of these Denied has the attempts of all, and the
// last one's credential and address.
type EventGroup struct {
	Event            // the last one of them
	Count   int      // of events
	Nodes   int      // of nodes; some events are of none
	Sample  []string // of their ids, the first ten
	FirstAt time.Time
}

// GroupCursor is where a page of groups begins: what is newer than Newest is not in any, so
// that pages do not move under who reads them.
type GroupCursor struct {
	Newest, After EventCursor
}

// selectEventGroups reads the newest events once, however many nodes they are of, and the words of each
// group by key. $2 the time, $3 and $4 the newest, $5 and $6 the last group of the page before, $7 the node, $9 the kind.
const selectEventGroups = `
WITH recent AS MATERIALIZED (
  SELECT e.id, e.at, ` + eventKind + ` AS kind, e.node_id, e.type, e.name, e.version, e.revision, e.text_hash, e.action, e.beside, e.note,
         e.reason, e.credential_id, e.address, e.attempts, e.first_at, e.xact FROM node_events e
   WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND ($2::timestamptz IS NULL OR e.at >= $2) AND ($3::timestamptz IS NULL OR (e.at, e.id) <= ($3, $4::uuid))
     AND ($7::text IS NULL OR e.node_id = $7) AND ($9 = '' OR ` + eventKind + ` = $9)
   ORDER BY e.at DESC, e.id DESC LIMIT 10000),
groups AS (
  SELECT (array_agg(id ORDER BY at DESC, id DESC))[1] AS id, max(at) AS at, kind, (array_agg(node_id ORDER BY at DESC, id DESC))[1] AS node_id, type, name, version, revision, text_hash, action, beside, note,
         reason, (array_agg(credential_id ORDER BY at DESC, id DESC))[1] AS credential_id, (array_agg(address ORDER BY at DESC, id DESC))[1] AS address, sum(attempts)::bigint AS attempts,
         max(xact::text::numeric)::text AS xact, count(*) AS events, count(DISTINCT node_id) FILTER (WHERE node_id <> '') AS nodes,
         coalesce((array_agg(DISTINCT node_id) FILTER (WHERE node_id <> ''))[1:10], '{}') AS sample, min(coalesce(first_at, at)) AS first_at
    FROM recent GROUP BY kind, type, name, version, revision, text_hash, action, beside, note, reason)
SELECT g.id, g.at, g.kind, g.node_id, g.type, g.name, g.version, g.revision,
       coalesce((SELECT t.text FROM nack_texts t WHERE t.tenant_id = app_tenant() AND t.fleet_id = $1 AND t.hash = g.text_hash), ''), g.action, g.beside, g.note,
       coalesce(g.reason::text, ''), g.credential_id, g.address, g.attempts, g.first_at, g.xact, g.events, g.nodes, g.sample, g.first_at
  FROM groups g WHERE $5::timestamptz IS NULL OR (g.at, g.id) < ($5, $6::uuid)
 ORDER BY g.at DESC, g.id DESC LIMIT $8`

// EventGroups is Events with those that say the same as one, of the newest 10,000.
func (s *Store) EventGroups(ctx context.Context, t fleet.TenantID, f fleet.ID, q EventFilter, from GroupCursor, limit int) ([]EventGroup, bool, error) {
	limit = pageLimit(limit)
	var node *string
	if q.Node != "" {
		id := clean(q.Node, maxNodeID)
		node = &id
	}
	gs, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, scanEventGroup, selectEventGroups,
		f.String(), timeOrNil(q.Since), timeOrNil(from.Newest.At), from.Newest.ID, timeOrNil(from.After.At), from.After.ID, node, limit+1, q.Kind)
	if err != nil {
		return nil, false, fmt.Errorf("list events of fleet %s by what they say: %w", f, err)
	}
	gs, more := page(gs, limit)
	return gs, more, nil
}

func scanEventGroup(row pgx.CollectableRow) (g EventGroup, err error) {
	g.Event, err = scanEvent(row, &g.Count, &g.Nodes, &g.Sample, &g.FirstAt)
	g.FirstAt = g.FirstAt.UTC()
	return g, err
}

func transactionOf(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }
