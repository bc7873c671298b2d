package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// FleetMarks tell whether something of a fleet has changed: each is a text that is another one
// when it has, and that says nothing else. Any process reads the same.
type FleetMarks struct {
	Revision string // the fleet's newest revision
	Settings string // its settings and credentials
	Nodes    string // what its servers have reported, and which of them live
	Events   string // what is to be read of its events
}

// Marks reads those of all the fleets in one statement, whoever's they are, with some look-ups by
// key for each and for each of its servers; it does not grow with their nodes. A fleet that is
// gone has none.
func (s *Store) Marks(ctx context.Context, keys []fleet.Key) (map[fleet.Key]FleetMarks, error) {
	all := make(map[fleet.Key]FleetMarks, len(keys))
	if len(keys) == 0 {
		return all, nil
	}
	tenants, fleets := make([][16]byte, len(keys)), make([][16]byte, len(keys))
	for i, k := range keys {
		tenants[i], fleets[i] = k.Tenant, k.Fleet
	}
	_, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (m FleetMarks, err error) {
		var place int64
		if err = row.Scan(&place, &m.Revision, &m.Settings, &m.Nodes, &m.Events); err == nil {
			all[keys[place]] = m
		}
		return m, err
	}, `SELECT o_place, o_revision, o_settings, o_nodes, o_events FROM fleet_marks($1::uuid[], $2::uuid[])`, tenants, fleets)
	if err != nil {
		return nil, fmt.Errorf("ask whether %d fleets have changed: %w", len(keys), err)
	}
	return all, nil
}

// NamedMarks are those of one of a tenant's fleets.
type NamedMarks struct {
	Fleet fleet.ID
	Name  string
	FleetMarks
}

// TenantMarks reads, in one statement, those of all fleets of each scope: of a tenant, or of its one fleet
// where the key names one. Who has none has an empty list.
func (s *Store) TenantMarks(ctx context.Context, scopes []fleet.Key) ([][]NamedMarks, error) {
	all := make([][]NamedMarks, len(scopes))
	if len(scopes) == 0 {
		return all, nil
	}
	tenants, fleets := make([][16]byte, len(scopes)), make([]*[16]byte, len(scopes))
	for i, k := range scopes {
		tenants[i] = k.Tenant
		if k.Fleet != (fleet.ID{}) {
			fleets[i] = (*[16]byte)(&k.Fleet)
		}
	}
	type placed struct {
		NamedMarks
		place int64
	}
	rows, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (m placed, err error) {
		err = row.Scan(&m.place, (*[16]byte)(&m.Fleet), &m.Name, &m.Revision, &m.Settings, &m.Nodes, &m.Events)
		return m, err
	}, `SELECT o_place, o_fleet, o_name, o_revision, o_settings, o_nodes, o_events FROM tenant_marks($1::uuid[], $2::uuid[])`, tenants, fleets)
	if err != nil {
		return nil, fmt.Errorf("ask whether the fleets of %d tenants have changed: %w", len(scopes), err)
	}
	for _, m := range rows {
		all[m.place] = append(all[m.place], m.NamedMarks)
	}
	return all, nil
}
