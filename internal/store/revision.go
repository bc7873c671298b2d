package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// RevisionInfo is one entry of a fleet's history.
type RevisionInfo struct {
	Revision   fleet.Revision
	At         time.Time
	Kind       string // "apply", "rollback", ...
	Message    string
	Actor      string
	Credential fleet.CredentialID
	Changes    int // how many resources it changed
}

const selectRevision = `
SELECT revision, at, kind, message, actor, credential, changes FROM fleet_history WHERE tenant_id = app_tenant() AND fleet_id = $1`

func scanRevision(row pgx.CollectableRow) (r RevisionInfo, err error) {
	var cred *[16]byte
	err = row.Scan((*int64)(&r.Revision), &r.At, &r.Kind, &r.Message, &r.Actor, &cred, &r.Changes)
	r.At, r.Credential = r.At.UTC(), uuidOrZero[fleet.CredentialID](cred)
	return r, err
}

// Revisions returns the kept history below before, newest first; before 0 starts at the
// newest. A limit of 0 is 100; the most is 1000.
func (s *Store) Revisions(ctx context.Context, t fleet.TenantID, f fleet.ID, before fleet.Revision, limit int) ([]RevisionInfo, error) {
	rs, err := many(ctx, s, t, scanRevision, selectRevision+` AND ($2 = 0 OR revision < $2::bigint) ORDER BY revision DESC LIMIT $3`,
		f.String(), int64(before), pageLimit(limit))
	if err != nil {
		return nil, fmt.Errorf("list revisions of fleet %s: %w", f, err)
	}
	return rs, nil
}

// Revision reads one entry; one that is not kept any more is fleet.ErrNotFound.
func (s *Store) Revision(ctx context.Context, t fleet.TenantID, f fleet.ID, n fleet.Revision) (RevisionInfo, error) {
	r, err := one(ctx, s, t, scanRevision, selectRevision+` AND revision = $2`, f.String(), int64(n))
	if err != nil {
		return r, fmt.Errorf("read revision %d of fleet %s: %w", n, f, err)
	}
	return r, nil
}
