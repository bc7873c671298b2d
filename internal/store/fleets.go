package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Fleet is a fleet and the head of its history.
type Fleet struct {
	ID          fleet.ID
	Name        string // unique in the tenant
	Description string
	CreatedAt   time.Time
	CreatedBy   string
	References  string // fleet.ReferencesWarn, ...
	// ReceiptWindow is for how long before a revision a node must have been seen to count
	// in its receipt.
	ReceiptWindow time.Duration
	// ForgetNodesAfter is for how long a node without a sign of life is remembered.
	ForgetNodesAfter time.Duration
	NodeIDs          string            // fleet.NodeIDsShared, ...
	StaticClusters   []string          // that the proxies have in their bootstrap; sorted
	PrivateClusters  []string          // likewise, that may carry the proxies' credentials
	LocalPorts       []int32           // of the proxies' own machine, to which everybody who writes may send; sorted
	Values           map[string]string // for the placeholders in what is written to it
	LoadReports      fleet.LoadSettings
	ETag             string         // names the settings: all above but the id, the name and who made it
	Revision         fleet.Revision // 0 before the first change
	ChangedAt        time.Time      // when Revision was made
	Resources        int64          // how many there are; variants count
	DeletedAt        time.Time      // zero: it is not
}

const selectAnyFleet = `
SELECT f.id, f.name, f.description, f.created_at, f.created_by, f.reference_check, f.receipt_window, f.forget_nodes_after, h.node_ids, f.static_clusters, f.private_clusters, f.local_ports, f.placeholder_values, f.load_report_interval, f.load_report_clusters, f.load_report_endpoints, fleet_etag(f, h.node_ids), h.revision, h.changed_at, h.resources, f.deleted_at
  FROM fleets f JOIN fleet_heads h ON h.tenant_id = f.tenant_id AND h.fleet_id = f.id
 WHERE f.tenant_id = app_tenant()`

const selectFleet = selectAnyFleet + ` AND f.deleted_at IS NULL`

func scanFleet(row pgx.CollectableRow) (f Fleet, err error) {
	var deleted *time.Time
	err = row.Scan((*[16]byte)(&f.ID), &f.Name, &f.Description, &f.CreatedAt, &f.CreatedBy, &f.References, (*seconds)(&f.ReceiptWindow),
		(*seconds)(&f.ForgetNodesAfter), &f.NodeIDs, &f.StaticClusters, &f.PrivateClusters, &f.LocalPorts, &f.Values, (*seconds)(&f.LoadReports.Interval), &f.LoadReports.Clusters, &f.LoadReports.Endpoints, &f.ETag, (*int64)(&f.Revision), &f.ChangedAt, &f.Resources, &deleted)
	f.CreatedAt, f.ChangedAt, f.DeletedAt = f.CreatedAt.UTC(), f.ChangedAt.UTC(), timeOrZero(deleted)
	return f, err
}

// CreateFleet makes an empty fleet at revision 0. A name that is taken is
// fleet.ErrConflict; a tenant that has all its fleets gets a *LimitError.
func (s *Store) CreateFleet(ctx context.Context, t fleet.TenantID, a Actor, name, description string) (Fleet, error) {
	return s.CreateFleetWith(ctx, t, a, name, description, FleetSettings{})
}

// FleetSettings are what of a fleet can be set at any time; what is zero stays as it is.
// Times are whole seconds within their bounds, else fleet.ErrInvalid.
type FleetSettings struct {
	References       string            // fleet.ReferencesWarn, ...
	ReceiptWindow    time.Duration     // a minute to 30 days
	ForgetNodesAfter time.Duration     // an hour to 90 days
	NodeIDs          string            // fleet.NodeIDsShared, ...
	StaticClusters   *[]string         // at most 100, of at most 512 bytes each, else fleet.ErrInvalid
	PrivateClusters  *[]string         // the same
	LocalPorts       *[]int32          // at most 100, 1 to 65535, else fleet.ErrInvalid
	Values           map[string]string // those that change, as they are from now on; an empty one goes
	Description      *string
	// LoadReportInterval is 1s to 1m, or 0 for the server's; LoadReportClusters at most 1,000, or none for all. Else fleet.ErrInvalid.
	LoadReportInterval  *time.Duration
	LoadReportClusters  *[]string
	LoadReportEndpoints *bool
}

// detail is what an audit event tells of the settings: those that were given.
func (set FleetSettings) detail() map[string]any {
	out := map[string]any{}
	for name, value := range map[string]string{"references": set.References, "node_ids": set.NodeIDs} {
		if value != "" {
			out[name] = value
		}
	}
	for name, d := range map[string]time.Duration{"receipt_window": set.ReceiptWindow, "forget_nodes_after": set.ForgetNodesAfter} {
		if d != 0 {
			out[name] = d.String()
		}
	}
	if set.StaticClusters != nil {
		out["static_clusters"] = len(*set.StaticClusters)
	}
	if set.PrivateClusters != nil { // who takes one off opens it
		out["private_clusters"] = sortedNames(set.PrivateClusters)
	}
	if set.LocalPorts != nil {
		out["local_ports"] = set.ports()
	}
	if len(set.Values) > 0 {
		out["values"] = slices.Sorted(maps.Keys(set.Values))
	}
	if set.Description != nil {
		out["description"] = *set.Description
	}
	if set.LoadReportInterval != nil {
		out["load_report_interval"] = set.LoadReportInterval.String()
	}
	if set.LoadReportClusters != nil {
		out["load_report_clusters"] = len(*set.LoadReportClusters)
	}
	if set.LoadReportEndpoints != nil {
		out["load_report_endpoints"] = *set.LoadReportEndpoints
	}
	return out
}

// sortedNames is null where nothing was given; none is there twice.
func sortedNames(given *[]string) []string {
	if given == nil {
		return nil
	}
	names := append([]string{}, *given...) // an empty list takes all of them off
	slices.Sort(names)
	return slices.Compact(names)
}

// ports is null where nothing was given; sorted, none twice.
func (set FleetSettings) ports() []int32 {
	if set.LocalPorts == nil {
		return nil
	}
	ports := append([]int32{}, *set.LocalPorts...) // an empty list closes all of them
	slices.Sort(ports)
	return slices.Compact(ports)
}

// loadInterval is null where nothing was given.
func (set FleetSettings) loadInterval() *int32 {
	if set.LoadReportInterval == nil {
		return nil
	}
	s := wholeSeconds(*set.LoadReportInterval)
	return &s
}

// values is null where nothing was given.
func (set FleetSettings) values() any {
	if len(set.Values) == 0 {
		return nil
	}
	return set.Values
}

// valuesAfter is SQL for values after some were changed.
func valuesAfter(present, changed string) string {
	return `coalesce((SELECT jsonb_object_agg(v.key, v.value) FROM jsonb_each_text(` + present + ` || coalesce(` + changed + `::jsonb, '{}')) v WHERE v.value <> ''), '{}')`
}

var (
	insertFleet = `
INSERT INTO fleets (tenant_id, id, name, description, created_by, reference_check, receipt_window, forget_nodes_after, static_clusters, placeholder_values, private_clusters, local_ports, load_report_interval, load_report_clusters, load_report_endpoints)
VALUES (app_tenant(), $1, $2, $3, $4, coalesce(nullif($5, ''), 'warn'), coalesce(nullif($6, 0), 86400), coalesce(nullif($7, 0), 7 * 86400), coalesce($8::text[], '{}'), 
        ` + valuesAfter(`'{}'::jsonb`, `$9`) + `, coalesce($10::text[], '{}'), coalesce($11::integer[], '{}'), coalesce($12::integer, 0), coalesce($13::text[], '{}'), coalesce($14::boolean, false))`
	updateFleet = `
UPDATE fleets SET reference_check = coalesce(nullif($2, ''), reference_check), receipt_window = coalesce(nullif($3, 0), receipt_window),
       forget_nodes_after = coalesce(nullif($4, 0), forget_nodes_after), static_clusters = coalesce($5::text[], static_clusters), description = coalesce($6, description),
       placeholder_values = ` + valuesAfter(`placeholder_values`, `$7`) + `, private_clusters = coalesce($8::text[], private_clusters), local_ports = coalesce($9::integer[], local_ports),
       load_report_interval = coalesce($10::integer, load_report_interval), load_report_clusters = coalesce($11::text[], load_report_clusters),
       load_report_endpoints = coalesce($12::boolean, load_report_endpoints)
 WHERE tenant_id = app_tenant() AND id = $1`
	updateHead = `
UPDATE fleet_heads SET node_ids = $2 WHERE tenant_id = app_tenant() AND fleet_id = $1 AND $2 <> '' AND deleted_at IS NULL`
)

// CreateFleetWith is CreateFleet with settings; of a new fleet what is zero is the default.
func (s *Store) CreateFleetWith(ctx context.Context, t fleet.TenantID, a Actor, name, description string, set FleetSettings) (Fleet, error) {
	id := fleet.NewID()
	var f Fleet
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		queueRoom(b)
		b.Queue(raiseUnlessRoom, string(LimitFleets))
		b.Queue(insertFleet, id.String(), name, description, a.Name, set.References, wholeSeconds(set.ReceiptWindow), wholeSeconds(set.ForgetNodesAfter), sortedNames(set.StaticClusters), set.values(), sortedNames(set.PrivateClusters), set.ports(), set.loadInterval(), sortedNames(set.LoadReportClusters), set.LoadReportEndpoints)
		b.Queue(`INSERT INTO fleet_heads (tenant_id, fleet_id, node_ids) VALUES (app_tenant(), $1, coalesce(nullif($2, ''), 'shared'))`, id.String(), set.NodeIDs)
		queueAudit(b, a, event{action: "fleet.create", object: "fleet " + name, fleet: id})
		b.Queue(selectFleet+` AND f.id = $1`, id.String()).Query(func(rows pgx.Rows) (err error) {
			f, err = pgx.CollectOneRow(rows, scanFleet)
			return err
		})
	})
	if err != nil {
		return Fleet{}, fmt.Errorf("create fleet %q: %w", name, err)
	}
	return f, nil
}

// UpdateFleet changes settings and tells the servers; the revision does not move. A fleet
// that is gone is fleet.ErrNotFound.
func (s *Store) UpdateFleet(ctx context.Context, t fleet.TenantID, a Actor, id fleet.ID, set FleetSettings) (Fleet, error) {
	return s.UpdateFleetIf(ctx, t, a, id, set, "")
}

// UpdateFleetIf is UpdateFleet of settings that an ETag names, else a *SettingsError and nothing is changed; "": of any.
func (s *Store) UpdateFleetIf(ctx context.Context, t fleet.TenantID, a Actor, id fleet.ID, set FleetSettings, match string) (Fleet, error) {
	var f Fleet
	err := s.onHead(ctx, writeTimeout, t, id, func(b *pgx.Batch) {
		b.Queue(raiseUnlessFleet, id.String())
		if match != "" {
			b.Queue(`SELECT fleet_settings_must_be($1, $2)`, id.String(), match)
		}
		queueRoom(b)
		b.Queue(updateFleet, id.String(), set.References, wholeSeconds(set.ReceiptWindow), wholeSeconds(set.ForgetNodesAfter), sortedNames(set.StaticClusters), set.Description, set.values(), sortedNames(set.PrivateClusters), set.ports(), set.loadInterval(), sortedNames(set.LoadReportClusters), set.LoadReportEndpoints)
		b.Queue(updateHead, id.String(), set.NodeIDs)
		b.Queue(moveEpoch, id.String())
		queueAudit(b, a, event{action: "fleet.update", object: "fleet " + id.String(), fleet: id, detail: set.detail()})
		b.Queue(selectFleet+` AND f.id = $1`, id.String()).Query(func(rows pgx.Rows) (err error) {
			f, err = pgx.CollectOneRow(rows, scanFleet)
			return err
		})
	})
	if err != nil {
		return Fleet{}, fmt.Errorf("change the settings of fleet %s: %w", id, err)
	}
	s.ring(t, id)
	return f, nil
}

// FleetByName finds a fleet that is not deleted.
func (s *Store) FleetByName(ctx context.Context, t fleet.TenantID, name string) (Fleet, error) {
	f, err := one(ctx, s, t, scanFleet, selectFleet+` AND f.name = $1`, name)
	if err != nil {
		return f, fmt.Errorf("find fleet %q: %w", name, err)
	}
	return f, nil
}

// TenantAndFleet reads the tenant itself and its fleet of that name in one round trip; nil: it has no such fleet, or a deleted one.
func (s *Store) TenantAndFleet(ctx context.Context, t fleet.TenantID, name string) (of Tenant, f *Fleet, err error) {
	err = s.inTenant(ctx, readTimeout, t, func(b *pgx.Batch) {
		b.Queue(selectSelf).Query(func(rows pgx.Rows) (err error) {
			of, err = pgx.CollectOneRow(rows, scanTenant)
			return err
		})
		b.Queue(selectFleet+` AND f.name = $1`, name).Query(func(rows pgx.Rows) error {
			found, err := pgx.CollectRows(rows, scanFleet)
			f = nil
			for i := range found {
				f = &found[i] // a name is one fleet's
			}
			return err
		})
	})
	if err != nil {
		return Tenant{}, nil, fmt.Errorf("read tenant %s and find fleet %q: %w", t, name, err)
	}
	return of, f, nil
}

// Fleets returns the fleets after the given name, in the order of names, and whether
// there are more. A limit of 0 is 100; the most is 1000.
func (s *Store) Fleets(ctx context.Context, t fleet.TenantID, after string, limit int) ([]Fleet, bool, error) {
	return s.FleetsNamed(ctx, t, "", after, limit)
}

// FleetsNamed is Fleets of those whose names begin with prefix.
func (s *Store) FleetsNamed(ctx context.Context, t fleet.TenantID, prefix, after string, limit int) ([]Fleet, bool, error) {
	limit = pageLimit(limit)
	fs, err := many(ctx, s, t, scanFleet, selectFleet+` AND f.name > $1 AND f.name >= $2 AND f.name < $3 ORDER BY f.name LIMIT $4`,
		after, prefix, behind(prefix), limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list fleets: %w", err)
	}
	fs, more := page(fs, limit)
	return fs, more, nil
}

// moveEpoch tells readers that credentials or settings of the fleet have changed. The
// value never comes back, not even after a failover that lost commits (migrations, fleet_heads).
const moveEpoch = `
UPDATE fleet_heads SET epoch = greatest(epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
 WHERE tenant_id = app_tenant() AND fleet_id = $1 AND deleted_at IS NULL`

// DeleteFleet ends the fleet's streams and gives its name free. Its data stays for 30 days, in
// which RestoreFleet brings it back.
func (s *Store) DeleteFleet(ctx context.Context, t fleet.TenantID, a Actor, f fleet.ID) error {
	return s.deleteFleet(ctx, t, a, f, nil)
}

// DeleteFleetConfirmed is DeleteFleet if what c tells was seen of the fleet as it is now, and an
// *UnconfirmedError for any other reason to have it confirmed.
func (s *Store) DeleteFleetConfirmed(ctx context.Context, t fleet.TenantID, a Actor, f fleet.ID, c Confirmation) error {
	return s.deleteFleet(ctx, t, a, f, &c)
}

// deleteFleet is DeleteFleet; without a confirmation the caller is not asked for one.
func (s *Store) deleteFleet(ctx context.Context, t fleet.TenantID, a Actor, f fleet.ID, c *Confirmation) error {
	var confirm any
	if c != nil {
		confirm = c.json()
	}
	err := s.onHead(ctx, writeTimeout, t, f, func(b *pgx.Batch) {
		b.Queue(`SELECT fleet_delete($1, $2)`, f.String(), confirm)
		queueAudit(b, a, event{action: "fleet.delete", object: "fleet " + f.String(), fleet: f})
	})
	if err != nil {
		return fmt.Errorf("delete fleet %s: %w", f, err)
	}
	s.ring(t, f)
	return nil
}

// raiseUnlessFleet ends a batch with FL404 when the fleet is not there, before anything
// is written. It takes the head's lock.
const raiseUnlessFleet = `SELECT fleet_lock($1, NULL)`

// raiseUnlessRoom ends a batch with FL429 when the tenant has all that it may have of
// something. Who makes one more at the same time waits until this transaction ends.
const raiseUnlessRoom = `SELECT tenant_must_have_room($1)`
