package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// LimitName names a bound on what one tenant stores or asks for. The names are those of
// the schema (functions/limit.sql), which has the defaults too.
type LimitName string

// Of what a tenant stores.
const (
	LimitFleets        LimitName = "fleets"
	LimitDeletedFleets LimitName = "deleted_fleets" // whose data is still kept
	LimitTokens        LimitName = "tokens"         // of the API: neither revoked nor expired
	LimitAuditDays     LimitName = "audit_days"     // for how long audit events are kept: LeastAuditDays to MostAuditDays
	LimitAuditBytes    LimitName = "audit_bytes"
	// LimitIdempotencyBytes is of the answers that are kept for repeats of requests.
	LimitIdempotencyBytes LimitName = "idempotency_bytes"
)

// Of what each fleet stores.
const (
	LimitCredentials  LimitName = "credentials" // neither revoked nor expired
	LimitResources    LimitName = "resources"
	LimitFleetBytes   LimitName = "fleet_bytes"   // bodies, names, labels, descriptions; a body that two rows share counts twice
	LimitHistoryBytes LimitName = "history_bytes" // the same of all kept revisions, and 256 for each row
	LimitEventBytes   LimitName = "event_bytes"
	LimitRefusalBytes LimitName = "refusal_bytes"
)

// Of what is asked of each API server.
const (
	LimitWaitingPolls      LimitName = "waiting_polls"
	LimitTokenWaitingPolls LimitName = "token_waiting_polls"
	LimitWrites            LimitName = "writes_per_minute"
	LimitTokenWrites       LimitName = "token_writes_per_minute"
	LimitReads             LimitName = "reads_per_minute"
	LimitTokenReads        LimitName = "token_reads_per_minute"
)

var limitNames = []LimitName{
	LimitFleets, LimitDeletedFleets, LimitTokens, LimitAuditDays, LimitAuditBytes, LimitIdempotencyBytes,
	LimitCredentials, LimitResources, LimitFleetBytes, LimitHistoryBytes, LimitEventBytes, LimitRefusalBytes,
	LimitWaitingPolls, LimitTokenWaitingPolls, LimitWrites, LimitTokenWrites, LimitReads, LimitTokenReads,
}

// LimitNames returns all of them, in the order in which they are told.
func LimitNames() []LimitName { return slices.Clone(limitNames) }

// MostLimit is the highest that a limit can be set to: what every reader of JSON can hold.
const MostLimit = 1<<53 - 1

// What LimitAuditDays can be set to.
const (
	LeastAuditDays = 30
	MostAuditDays  = 36500
)

// Limit is one bound of a tenant.
type Limit struct {
	Name       LimitName
	Most       int64
	Default    int64
	Overridden bool // by the operator; Most may be the default's all the same
}

// LimitError tells which bound refused a change, which changed nothing. It is a fleet.ErrLimit.
type LimitError struct {
	What   LimitName `json:"what"`
	Limit  int64     `json:"limit"`
	Used   int64     `json:"used"`
	Wanted int64     `json:"wanted"` // what would have been used
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %d of %d are used, %d would be: %v", e.What, e.Used, e.Limit, e.Wanted, fleet.ErrLimit)
}

// Unwrap returns fleet.ErrLimit.
func (e *LimitError) Unwrap() error { return fleet.ErrLimit }

func limitError(pg *pgconn.PgError) error {
	e := &LimitError{}
	if err := json.Unmarshal([]byte(pg.Detail), e); err != nil {
		return fmt.Errorf("%s: %w", pg.Message, fleet.ErrLimit)
	}
	return e
}

const selectLimits = `
SELECT u.name, coalesce(l.most, limit_default(u.name)), limit_default(u.name), l.most IS NOT NULL
  FROM unnest($1::text[]) WITH ORDINALITY u (name, ord)
  LEFT JOIN tenant_limits l ON l.tenant_id = app_tenant() AND l.name = u.name
 ORDER BY u.ord`

// Limits returns every limit of the tenant, in the order of LimitNames.
func (s *Store) Limits(ctx context.Context, t fleet.TenantID) ([]Limit, error) {
	ls, err := many(ctx, s, t, func(row pgx.CollectableRow) (l Limit, err error) {
		return l, row.Scan((*string)(&l.Name), &l.Most, &l.Default, &l.Overridden)
	}, selectLimits, limitNames)
	if err != nil {
		return nil, fmt.Errorf("read the limits of tenant %s: %w", t, err)
	}
	return ls, nil
}

// SetLimits is the operator's: each limit of set becomes what it says, nil the default. A
// name that is none, or a number that cannot be, is fleet.ErrInvalid and changes nothing.
// What is stored already stays, also above a limit that is lowered.
func (s *Store) SetLimits(ctx context.Context, t fleet.TenantID, a Actor, set map[LimitName]*int64) error {
	for name := range set {
		if !slices.Contains(limitNames, name) {
			return fmt.Errorf("set limits of tenant %s: there is no limit %.80q: %w", t, name, fleet.ErrInvalid)
		}
	}
	what, err := json.Marshal(set)
	if err != nil {
		return fmt.Errorf("set limits of tenant %s: %w", t, err)
	}
	who, err := json.Marshal(a.json())
	if err != nil {
		return fmt.Errorf("set limits of tenant %s: %w", t, err)
	}
	if _, err = crossTenant(ctx, s, pgx.RowTo[any], `SELECT operator_set_limits($1, $2, $3)`, t.String(), what, who); err != nil {
		return fmt.Errorf("set limits of tenant %s: %w", t, err)
	}
	return nil
}
