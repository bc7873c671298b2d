-- A door across tenants: those whose head is to be signed, and those whose chain is to be verified, that no API server has at hand. A head is signed an hour after the
-- one before, or when p_events have come since; a chain is verified once a day.
-- enable_seqscan: it runs without a tenant's transaction, which sets it. What a session planned while the tables were small
-- stays until they have doubled.
CREATE OR REPLACE FUNCTION audit_due(p_events bigint, p_limit integer) RETURNS TABLE (o_tenant uuid, o_slug text, o_sign boolean, o_verify boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
  SELECT h.tenant_id, t.slug, d.sign, d.verify
    FROM audit_heads h JOIN tenants t ON t.id = h.tenant_id AND t.place = 'here'
    LEFT JOIN LATERAL (SELECT s.seq, s.at FROM audit_signatures s WHERE s.tenant_id = h.tenant_id ORDER BY s.seq DESC LIMIT 1) s ON true
    LEFT JOIN LATERAL (SELECT c.* FROM audit_checks c WHERE c.tenant_id = h.tenant_id OFFSET 0) c ON true
   CROSS JOIN LATERAL (
         SELECT h.seq > coalesce(s.seq, 0) AND (coalesce(s.at < clock_timestamp() - interval '1 hour', true) OR h.seq >= s.seq + p_events) AS sign,
                coalesce(c.checked_at < clock_timestamp() - interval '1 day', true) AS verify) d
   WHERE (d.sign OR d.verify) AND coalesce(c.claimed_until < clock_timestamp(), true)
   ORDER BY c.checked_at NULLS FIRST, h.tenant_id LIMIT p_limit
$$;

-- A door across tenants: those of which the collector has not all events or all signed heads, and no API server is at it.
-- Whose turn is longest ago comes first, whatever came of it: what a collector refuses of some tenants holds up no other's.
-- enable_seqscan: it runs without a tenant's transaction, which sets it. What a session planned while the tables were small
-- stays until they have doubled.
CREATE OR REPLACE FUNCTION audit_undelivered(p_collector text, p_limit integer) RETURNS TABLE (o_tenant uuid, o_slug text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
  SELECT h.tenant_id, t.slug
    FROM audit_heads h JOIN tenants t ON t.id = h.tenant_id AND t.place = 'here'
    LEFT JOIN LATERAL (SELECT d.* FROM audit_deliveries d WHERE d.tenant_id = h.tenant_id AND d.collector = p_collector OFFSET 0) d ON true
   WHERE coalesce(d.claimed_until < clock_timestamp(), true)
     AND (h.seq > coalesce(d.seq, 0) OR EXISTS (SELECT FROM audit_signatures s WHERE s.tenant_id = h.tenant_id AND s.seq > coalesce(d.head_seq, 0) OFFSET 0))
   ORDER BY d.claimed_until NULLS FIRST, h.tenant_id LIMIT p_limit
$$;
