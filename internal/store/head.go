package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// selectHead is of known fleets that moved, as selectMoved is. Whether the reader's place is one of the fleet's history it tells, too.
const selectHead = `
WITH ` + knownFleets + `
SELECT h.fleet_id IS NULL OR h.deleted_at IS NOT NULL, coalesce(h.revision, 0), coalesce(h.token, k.fleet_id), coalesce(h.epoch, 0), clock_timestamp(),
       EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = k.tenant_id AND x.fleet_id = k.fleet_id AND x.revision = k.revision AND x.token = k.token)
  FROM k LEFT JOIN fleet_heads h ON h.tenant_id = k.tenant_id AND h.fleet_id = k.fleet_id
 WHERE ` + headMoved

// head is where a fleet is.
type head struct {
	at     fleet.Position
	gone   bool
	now    time.Time // the database's
	passed bool      // it has been where the reader is
}

// head tells where a known fleet is, unless it is where its reader holds it. It costs two index lookups, and works as the node role.
func (s *Store) head(ctx context.Context, k fleet.Known) (h head, moved bool, err error) {
	err = s.feed(ctx, laneRequest, selectHead, []fleet.Known{k}, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&h.gone, (*int64)(&h.at.Revision), (*[16]byte)(&h.at.Token), &h.at.Epoch, &h.now, &h.passed}, func() error {
			moved, h.now = true, h.now.UTC()
			return nil
		})
		return err
	})
	if err != nil {
		return head{}, false, fmt.Errorf("look for the head of fleet %s: %w", k.Key.Fleet, err)
	}
	return h, moved, nil
}

// hasCome reports whether a fleet is at a place here, or has been there and is at a later one.
func (s *Store) hasCome(ctx context.Context, key fleet.Key, at fleet.Position) (bool, error) {
	h, moved, err := s.head(ctx, fleet.Known{Key: key, At: at})
	return err == nil && (!moved || h.passed && !h.gone && h.at.Epoch >= at.Epoch), err
}
