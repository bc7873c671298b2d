-- The content of the tenant's fleet as it was, and what differs between two revisions.

-- What differs between the content at revision p_from and that at p_to, in either order, by type, name and variant behind the given ones: the revisions
-- of the two rows of resource_history, null where there was nothing. p_only_type and p_only_name, unless null, leave out the others. Of two neighbours it costs what the later one
-- changed, of others at most the resources that were changed since the earlier one, each once.
--
-- A door for the reason that fleet_rollback_changes is one; it works in the transaction's tenant alone.
CREATE OR REPLACE FUNCTION fleet_differences(p_fleet uuid, p_from bigint, p_to bigint, p_only_type text, p_only_name text,
                                             p_type text, p_name text, p_variant text, p_limit integer)
RETURNS TABLE (type text, name text, variant text, before bigint, after bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  WITH changed AS MATERIALIZED (
    SELECT x.type, x.name, x.variant FROM resource_history x
     WHERE abs(p_to - p_from) = 1 AND uuid_hash(x.fleet_id) = uuid_hash(p_fleet) AND x.revision = greatest(p_from, p_to)
       AND x.tenant_id IS NOT DISTINCT FROM app_tenant() AND x.fleet_id IS NOT DISTINCT FROM p_fleet
     UNION
    SELECT r.type, r.name, r.variant FROM resources r
     WHERE abs(p_to - p_from) > 1 AND uuid_hash(r.fleet_id) = uuid_hash(p_fleet) AND r.revision > least(p_from, p_to)
       AND r.tenant_id IS NOT DISTINCT FROM app_tenant() AND r.fleet_id IS NOT DISTINCT FROM p_fleet
     UNION
    SELECT x.type, x.name, x.variant FROM resource_history x
     WHERE abs(p_to - p_from) > 1 AND x.deleted AND uuid_hash(x.fleet_id) = uuid_hash(p_fleet) AND x.revision > least(p_from, p_to)
       AND x.revision <= (SELECT h.compacted FROM fleet_heads h WHERE h.tenant_id = app_tenant() AND h.fleet_id = p_fleet)
       AND x.tenant_id IS NOT DISTINCT FROM app_tenant() AND x.fleet_id IS NOT DISTINCT FROM p_fleet)
  SELECT c.type, c.name, c.variant, b.revision, a.revision
    FROM (SELECT * FROM changed d
           WHERE (d.type, d.name, d.variant) > (p_type, p_name, p_variant) AND (p_only_type IS NULL OR d.type = p_only_type) AND (p_only_name IS NULL OR d.name = p_only_name)
           ORDER BY d.type, d.name, d.variant OFFSET 0) c
    LEFT JOIN LATERAL (SELECT x.revision, x.deleted, x.doc_hash FROM resource_history x
                        WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.type = c.type AND x.name = c.name AND x.variant = c.variant
                          AND x.revision <= p_from ORDER BY x.revision DESC LIMIT 1) b ON NOT b.deleted
    LEFT JOIN LATERAL (SELECT x.revision, x.deleted, x.doc_hash FROM resource_history x
                        WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.type = c.type AND x.name = c.name AND x.variant = c.variant
                          AND x.revision <= p_to ORDER BY x.revision DESC LIMIT 1) a ON NOT a.deleted
   WHERE b.doc_hash IS DISTINCT FROM a.doc_hash
   ORDER BY c.type, c.name, c.variant LIMIT p_limit
$$;

-- What the fleet had at revision p_at, by type, name and variant behind the given ones, up to the type p_last: the revision of each one's row of
-- resource_history. It ends with p_limit of them, or when it has looked at p_look names: then a last row has the name that it looked at last, and null as
-- the revision. Each name costs two look-ups, however often it was written.
CREATE OR REPLACE FUNCTION fleet_keys_at(p_fleet uuid, p_at bigint, p_type text, p_name text, p_variant text, p_last text, p_limit integer, p_look integer)
RETURNS TABLE (type text, name text, variant text, revision bigint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  k record;
  r record;
BEGIN
  SELECT p_type AS type, p_name AS name, p_variant AS variant INTO k;
  WHILE p_limit > 0 LOOP
    SELECT x.type, x.name, x.variant INTO k FROM resource_history x
     WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND (x.type, x.name, x.variant) > (k.type, k.name, k.variant) AND x.type <= p_last
     ORDER BY x.type, x.name, x.variant LIMIT 1;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    SELECT x.revision, x.deleted INTO r FROM resource_history x
     WHERE x.tenant_id = app_tenant() AND x.fleet_id = p_fleet AND x.type = k.type AND x.name = k.name AND x.variant = k.variant AND x.revision <= p_at
     ORDER BY x.revision DESC LIMIT 1;
    p_look := p_look - 1;
    IF NOT coalesce(r.deleted, true) THEN
      p_limit := p_limit - 1;
      RETURN QUERY SELECT k.type::text, k.name::text, k.variant::text, r.revision::bigint;
    END IF;
    IF p_look <= 0 THEN
      RETURN QUERY SELECT k.type::text, k.name::text, k.variant::text, NULL::bigint;
      RETURN;
    END IF;
  END LOOP;
END $$;
