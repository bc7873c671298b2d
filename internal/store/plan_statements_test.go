package store_test

import (
	"fmt"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// clusters makes clusters few to many, each of which names its secret, behind the store's back.
func (w *world) clusters(few, many int) {
	w.Helper()
	w.exec(`WITH b AS (
		INSERT INTO bodies SELECT $1, sha256(g::text::bytea), g::text::bytea FROM generate_series($3 + 1, $4::int) g ON CONFLICT (tenant_id, hash) DO UPDATE SET hash = excluded.hash RETURNING *),
	  r AS (
		INSERT INTO resources (tenant_id, fleet_id, type, name, revision, version, doc_hash, body_hash, created_at, created_by, updated_at, updated_by)
		SELECT $1, $2, 'clusters', 'c' || convert_from(body, 'UTF8'), 1, 'v', hash, hash, now(), '', now(), '' FROM b ON CONFLICT DO NOTHING RETURNING *),
	  h AS (
		INSERT INTO resource_history (tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, description, version, doc_hash, body_hash, derive_version)
		SELECT tenant_id, fleet_id, type, name, '', 1, false, '', 0, 0, '', version, doc_hash, body_hash, 0 FROM r)
	  INSERT INTO resource_refs (tenant_id, fleet_id, type, name, variant, ref_type, ref_name) SELECT tenant_id, fleet_id, type, name, '', 'secrets', name FROM r ON CONFLICT DO NOTHING`,
		w.tenant.String(), w.fleet.String(), few, many)
	w.exec(`INSERT INTO fleet_history SELECT $1, $2, 1, gen_random_uuid(), now(), 'apply', '', '', NULL, 1 ON CONFLICT DO NOTHING`, w.tenant.String(), w.fleet.String())
	w.exec(`UPDATE fleet_heads SET revision = greatest(revision, 1) WHERE fleet_id = $1`, w.fleet.String())
}

// nodes makes nodes few to many, connected to a server of this fleet, which has settled nothing: every
// second follows it, every third has refused something once, and every tenth refuses it still.
func (w *world) nodes(few, many int) {
	w.Helper()
	w.exec(`INSERT INTO fleet_history SELECT $1, $2, 1, gen_random_uuid(), now(), 'apply', '', '', NULL, 1 ON CONFLICT DO NOTHING`, w.tenant.String(), w.fleet.String())
	w.exec(`INSERT INTO nack_texts SELECT $1, $2, sha256(g::text::bytea), g FROM generate_series(1, $3::int) g ON CONFLICT DO NOTHING`, w.tenant.String(), w.fleet.String(), many)
	w.exec(`INSERT INTO xds_servers (server_id, lease_until) VALUES ($1, now() + interval '1 day') ON CONFLICT DO NOTHING`, w.fleet.String())
	w.exec(`WITH n AS (
		INSERT INTO nodes (tenant_id, fleet_id, node_id, first_seen) SELECT $1, $2, 'n' || to_char(g, 'FM000000'), now() - interval '1 day' FROM generate_series($3 + 1, $4::int) g RETURNING *),
	  s AS (
		INSERT INTO node_status (tenant_id, fleet_id, node_id, server_id, connected, settled, since)
		SELECT tenant_id, fleet_id, node_id, fleet_id, true, CASE WHEN right(node_id, 6)::int % 2 = 0 THEN 0 END, now() FROM n)
	  INSERT INTO refusals (tenant_id, fleet_id, node_id, type, name, version, revision, text_hash, resolved_at, resolved_by)
	  SELECT tenant_id, fleet_id, node_id, 'clusters', 'c1', 'v', 1, sha256(right(node_id, 6)::int::text::bytea),
	         CASE WHEN right(node_id, 6)::int % 10 > 0 THEN now() END, CASE WHEN right(node_id, 6)::int % 10 > 0 THEN 1 END
	    FROM n WHERE right(node_id, 6)::int % 3 = 0 OR right(node_id, 6)::int % 10 = 0`, w.tenant.String(), w.fleet.String(), few, many)
}

// Every node of a plan counts what passes through it, so the least that a plan can read is some
// times its answer.
const perAnswer = 10

func planOfALoad() planCase {
	return planCase{
		node: true, most: 7 * 1010, // each row passes seven nodes at most; of another fleet none
		work: func(w *world, p *planned) {
			_, err := p.CatchUp(w.Context(), []fleet.Known{{Key: w.key()}})
			w.ok(err)
		},
	}
}

// A write costs what it changes, with the rows' keys, references, bodies and both histories looked
// up, whatever the fleet has.
func TestPlansOfAnApply(t *testing.T) {
	t.Parallel()
	const changes = 50
	round := 0
	planCase{
		many: 1000, most: 60 * changes, fill: (*world).clusters,
		work: func(w *world, p *planned) {
			round++
			var cs []store.ResourceChange
			for i := range changes {
				c := put(fleet.Cluster, fmt.Sprint("c", i), fmt.Sprint("round", round))
				c.Derived = fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Secret, Name: c.Name}}}
				cs = append(cs, c)
			}
			_, err := p.Apply(w.Context(), w.tenant, w.fleet, store.Write{Changes: cs})
			w.ok(err)
		},
	}.judge(t)
}

func planOfAReceipt() planCase {
	return planCase{
		most: 2 * perAnswer * 1000,
		work: func(w *world, p *planned) {
			r, err := p.Receipt(w.Context(), w.tenant, w.fleet, 1)
			w.ok(err)
			if r.Counts.Nacked == 0 || r.Counts.Pending == 0 {
				w.Errorf("%+v", r.Counts)
			}
		},
	}
}

// An overview reads each resource once, and each body that is asked for.
func planOfAnOverview() planCase {
	return planCase{
		most: 2 * perAnswer * 1000,
		work: func(w *world, p *planned) {
			bodies := 0
			_, err := p.Overview(w.Context(), w.tenant, w.fleet, 0, func(r store.Resource) { bodies += len(r.Body) })
			w.ok(err)
			if bodies == 0 {
				w.Error("no body")
			}
		},
	}
}

func planOfAPageOfNodes() planCase {
	return planCase{
		most: 2 * perAnswer * 20,
		work: func(w *world, p *planned) {
			ns, _, err := p.Nodes(w.Context(), w.tenant, w.fleet, "n000003", 20)
			w.ok(err)
			if len(ns) == 0 {
				w.Error("no node")
			}
		},
	}
}

func planOfAPageOfANodesConfig() planCase {
	return planCase{
		most: 4 * perAnswer * 20,
		work: func(w *world, p *planned) {
			c, err := p.NodeConfig(w.Context(), w.tenant, w.fleet, "n000010", store.ConfigFilter{Limit: 20})
			w.ok(err)
			if len(c.Resources) == 0 || c.Resources[0].Refusal == nil {
				w.Errorf("%+v", c.Resources)
			}
		},
	}
}

// Of a client that asks for its listeners by name what these lead to is followed by key: here from one to twenty clusters and their secrets.
func TestPlansOfAPageOfWhatAClientAsksForByName(t *testing.T) {
	t.Parallel()
	planCase{
		many: 1000, most: 5 * perAnswer * 20,
		fill: func(w *world, few, many int) {
			w.clusters(few, many)
			w.nodes(few, many)
			w.exec(`INSERT INTO resource_refs (tenant_id, fleet_id, type, name, variant, ref_type, ref_name)
				SELECT $1, $2, 'listeners', 'l', '', 'clusters', 'c' || g FROM generate_series(1, 20) g ON CONFLICT DO NOTHING`, w.tenant.String(), w.fleet.String())
			w.exec(`UPDATE node_status SET subscribes = '{"named": ["clusters", "listeners", "secrets"], "listeners": ["l"]}' WHERE fleet_id = $1 AND node_id = 'n000007'`, w.fleet.String())
		},
		work: func(w *world, p *planned) {
			c, err := p.NodeConfig(w.Context(), w.tenant, w.fleet, "n000007", store.ConfigFilter{Limit: 20})
			w.ok(err)
			if rs := c.Resources; len(rs) == 0 || rs[0].Unasked || len(rs) == 20 && !rs[19].Unasked {
				w.Errorf("%+v", rs)
			}
		},
	}.judge(t)
}

// Of each version that is asked for its row is read and its body, of one that stands in for a refused one its history too.
func planOfTheBodiesThatANodeHolds() planCase {
	return planCase{
		most: (4 + 1) * perAnswer * 20, // the page itself too
		work: func(w *world, p *planned) {
			c, err := p.NodeConfig(w.Context(), w.tenant, w.fleet, "n000010", store.ConfigFilter{Limit: 20})
			w.ok(err)
			held := make([]store.HeldVersion, len(c.Resources))
			for i, r := range c.Resources {
				held[i] = store.HeldVersion{Ref: fleet.Ref{Type: r.Type, Name: r.Name}, Version: r.Present.Version}
			}
			if p.HeldBodies(w.Context(), w.tenant, w.fleet, "n000010", held) != nil || len(held) == 0 || held[len(held)-1].Body == nil {
				w.Errorf("%+v", held)
			}
		},
	}
}

// Usage reads each event and each refusal once.
func planOfTheUsage() planCase {
	return planCase{
		most: perAnswer * 1000,
		work: func(w *world, p *planned) {
			_, err := p.FleetUsage(w.Context(), w.tenant, w.fleet)
			w.ok(err)
			_, err = p.Usage(w.Context(), w.tenant)
			w.ok(err)
		},
	}
}

// A write that a version of Envoy may be too old for asks for them: some rows for each node that the fleet remembers, of
// which a third is not connected, and a third to two servers.
func TestPlansOfTheVersionsOfEnvoy(t *testing.T) {
	t.Parallel()
	planCase{
		many: 1000, most: perAnswer * 1000,
		fill: func(w *world, few, many int) {
			w.Helper()
			w.nodes(few, many)
			w.exec(`UPDATE nodes SET user_agent = 'envoy', version = '1.' || right(node_id, 6)::int % 7 WHERE fleet_id = $1`, w.fleet.String())
			w.exec(`UPDATE node_status SET connected = false, settled = 0 WHERE fleet_id = $1 AND right(node_id, 6)::int % 3 = 1`, w.fleet.String())
			w.exec(`INSERT INTO xds_servers (server_id, lease_until) VALUES ($1, now() + interval '1 day') ON CONFLICT DO NOTHING`, w.tenant.String())
			w.exec(`INSERT INTO node_status (tenant_id, fleet_id, node_id, server_id, connected, since) SELECT tenant_id, fleet_id, node_id, tenant_id, true, now() FROM nodes
			         WHERE fleet_id = $1 AND right(node_id, 6)::int % 3 = 2 ON CONFLICT DO NOTHING`, w.fleet.String())
		},
		work: func(w *world, p *planned) {
			vs, err := p.EnvoyVersions(w.Context(), w.tenant, w.fleet)
			w.ok(err)
			sum := 0
			for _, v := range vs {
				sum += v.Nodes
			}
			if want := w.count(`SELECT count(DISTINCT node_id) FROM node_status WHERE fleet_id = $1 AND connected`, w.fleet.String()); sum != want || len(vs) < 5 {
				w.Errorf("%d nodes of %d versions, want %d", sum, len(vs), want)
			}
		},
	}.judge(t)
}

// A rollback of one resource reads that one, however many have changed since.
func TestPlansOfARollbackOfOneResource(t *testing.T) {
	t.Parallel()
	planCase{
		many: 1000, most: 220, fill: func(w *world, few, many int) { // a write and the rollback are 120, and each statement that writes asks for the tenant's place
			w.clusters(few, many)
			w.exec(`UPDATE resources SET revision = 2 WHERE fleet_id = $1 AND revision = 1`, w.fleet.String())
			w.exec(`UPDATE resource_history SET revision = 2 WHERE fleet_id = $1 AND revision = 1`, w.fleet.String())
			w.exec(`INSERT INTO fleet_history SELECT $1, $2, 2, gen_random_uuid(), now(), 'apply', '', '', NULL, 1 ON CONFLICT DO NOTHING`, w.tenant.String(), w.fleet.String())
			w.exec(`UPDATE fleet_heads SET revision = greatest(revision, 2) WHERE fleet_id = $1`, w.fleet.String())
		},
		work: func(w *world, p *planned) {
			_, err := p.Apply(w.Context(), w.tenant, w.fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "one", "first")}})
			w.ok(err)
			only := []store.Cursor{{Type: fleet.Cluster, Name: "one"}}
			_, cs, err := p.RollbackChanges(w.Context(), w.tenant, w.fleet, 1, only)
			if w.ok(err); len(cs) != 1 {
				w.Errorf("%+v", cs)
			}
			were, err := p.EverWere(w.Context(), w.tenant, w.fleet, append(only, store.Cursor{Type: fleet.Cluster, Name: "typo"}))
			if w.ok(err); len(were) != 1 || !were[only[0]] {
				w.Errorf("%+v", were)
			}
			r, err := p.Rollback(w.Context(), w.tenant, w.fleet, 1, store.Write{Only: only})
			if w.ok(err); r.Changed != 1 {
				w.Errorf("%+v", r)
			}
		},
	}.judge(t)
}

// Whether a cluster asks for endpoints that are put is looked up by key, whatever the fleet has.
func TestPlansOfAWriteOfEndpoints(t *testing.T) {
	t.Parallel()
	planCase{
		many: 1000, most: perAnswer * 20, fill: (*world).clusters,
		work: func(w *world, p *planned) {
			for _, name := range []string{"c7", "nobody"} {
				r, err := p.WriteEndpoints(w.Context(), w.tenant, w.fleet, store.EndpointWrite{Actor: actor, Cluster: name, Set: addresses("10.0.0", 2)})
				if w.ok(err); !r.Unasked {
					w.Errorf("%+v", r)
				}
			}
		},
	}.judge(t)
}
