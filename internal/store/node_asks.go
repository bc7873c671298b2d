package store

// What a node asks for of a resource r, in places where node, by_name and r are known.
const (
	// unnamed tells that nothing in the fleet names r, where clients, or the node, ask for it by name alone: a look-up by key.
	unnamed = `(` + askedByName + ` AND NOT EXISTS (
         SELECT FROM resource_refs u WHERE u.tenant_id = app_tenant() AND u.fleet_id = $1 AND u.ref_type = r.type AND u.ref_name = r.name OFFSET 0)
         AND NOT (` + polls + ` AND EXISTS (
         SELECT FROM resource_refs u WHERE u.tenant_id = app_tenant() AND u.fleet_id = $1 AND u.ref_type = 'polled:' || r.type AND u.ref_name = r.name OFFSET 0)))`

	// polls tells that the node polls over REST: it has no ADS, so it asks for what is named for polls alone, and by scoped routes, which do not say
	// from where. (delivery tells a protocol of REST of a node that has no stream.)
	polls = `starts_with(node.protocol, 'REST ')`

	askedByName = `(r.type IN ('routes', 'endpoints', 'secrets', 'extensions') OR r.type = 'clusters' AND node.subscribes IS NOT NULL
         AND jsonb_path_exists(node.subscribes, '$[*].named[*] ? (@ == "clusters")') AND NOT jsonb_path_exists(node.subscribes, '$[*].all[*] ? (@ == "clusters")'))`

	// onDemand tells that r is a cluster that is delivered by name alone, and the node asks for all of them, as far as is told.
	onDemand = `coalesce(r.type = 'clusters' AND r.derived ? 'by_name' AND NOT ` + askedByName + `, false)`

	// excluded tells that the node is known not to ask for r, as fleet.Subscriptions.Excludes does.
	excluded = `(node.subscribes IS NOT NULL AND r.type IN ('clusters', 'listeners', 'runtimes') AND NOT jsonb_path_exists(node.subscribes,
         '$[*] ? (@.all[*] == $type || @.named[*] == $type && ($type != "listeners" || exists(@.many) || @.listeners[*] == $name))',
         jsonb_build_object('type', r.type, 'name', r.name)))`

	// unasked tells that something in the fleet names r, but nothing that the node has does: where it asks for its listeners by name, r is none of by_name;
	// else r is named by variants alone that are not the node's, or for streams alone where it polls. Of a node that refuses something that is not known: what stands in may name r.
	unasked = `(` + askedByName + ` AND CASE WHEN node.refusing THEN false
         WHEN ` + polls + ` THEN NOT EXISTS (SELECT FROM resource_refs u WHERE u.tenant_id = app_tenant() AND u.fleet_id = $1 AND u.ref_type = 'polled:' || r.type AND u.ref_name = r.name
                             AND u.variant = coalesce($8::jsonb->(u.type || '/' || u.name)->>0, '') OFFSET 0)
          AND NOT EXISTS (SELECT FROM resource_refs u WHERE u.tenant_id = app_tenant() AND u.fleet_id = $1 AND u.ref_type = r.type AND u.ref_name = r.name AND u.type = 'scoped-routes'
                             AND u.variant = coalesce($8::jsonb->(u.type || '/' || u.name)->>0, '') OFFSET 0)
         WHEN ` + rooted + ` THEN NOT coalesce((SELECT b.names ? (r.type || '/' || r.name) FROM by_name b), false)
         ELSE NOT EXISTS (SELECT FROM resource_refs u WHERE u.tenant_id = app_tenant() AND u.fleet_id = $1 AND u.ref_type = r.type AND u.ref_name = r.name
                             AND u.variant = coalesce($8::jsonb->(u.type || '/' || u.name)->>0, '') OFFSET 0) END)`

	// rooted tells that all that the node asks for begins with the names of its listeners, which are known.
	rooted = `(node.subscribes IS NOT NULL AND jsonb_path_exists(node.subscribes, '$[*].listeners[*]')
         AND NOT jsonb_path_exists(node.subscribes, '$[*] ? (@.all[*] == "listeners" || @.all[*] == "clusters" || exists(@.many))'))`

	// selectHeldByName is what a node that is rooted asks for: what its listeners name, what that names, and so on, in the variants that it has. It grows with
	// what the node has, and is empty for others.
	selectHeldByName = `
  SELECT 'listeners'::text COLLATE "C" AS type, (l.name #>> '{}') COLLATE "C" AS name
    FROM node CROSS JOIN LATERAL jsonb_path_query(node.subscribes, '$[*].listeners[*]') l (name) WHERE ` + rooted + ` AND NOT node.refusing
   UNION
  SELECT x.ref_type, x.ref_name
    FROM held CROSS JOIN LATERAL (
      SELECT u.ref_type, u.ref_name FROM resource_refs u
       WHERE u.tenant_id = app_tenant() AND u.fleet_id = $1 AND u.type = held.type AND u.name = held.name
         AND u.variant = coalesce($8::jsonb->(held.type || '/' || held.name)->>0, '') OFFSET 0) x`
)
