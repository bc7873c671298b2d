SET lock_timeout = '5s';

-- The xDS servers that live. A row is a lease: what a server without one says of its nodes is history. server_id is
-- drawn at a server's start and belongs to no tenant, so nothing refers to it by foreign key.
CREATE TABLE xds_servers (
  server_id   uuid PRIMARY KEY,
  name        text NOT NULL DEFAULT '',
  started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  lease_until timestamptz NOT NULL,
  -- Which of the server's leases it is: another one begins where one is taken after the last has ended. A report says of which it is.
  term        bigint NOT NULL DEFAULT 0,
  swept       boolean NOT NULL DEFAULT false -- it is dead, and what it said of nodes that are elsewhere by now is deleted
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
-- A key, so that another term waits for the reports of the last one (server_must_hold), as a renewal does not.
CREATE UNIQUE INDEX xds_servers_term ON xds_servers (term, server_id);

-- How often a table is vacuumed and analyzed is set by its size: a row that is written every second on a page of its own, after some
-- hundred writes; what grows with fleets, nodes and history, after a twentieth (a fiftieth for statistics). No statement waits for statistics.
CREATE TABLE nodes (
  tenant_id  uuid NOT NULL,
  fleet_id   uuid NOT NULL,
  node_id    text COLLATE "C" NOT NULL CHECK (octet_length(node_id) <= 512),
  first_seen timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen  timestamptz NOT NULL DEFAULT clock_timestamp(), -- of a connected node: see node_status and its server's lease
  cluster    text NOT NULL DEFAULT '',
  user_agent text NOT NULL DEFAULT '',
  version    text NOT NULL DEFAULT '',
  -- What selectors ask of the node, as it said on its last connection: {region, zone, sub_zone, metadata, cut}. null: not told yet.
  labels     jsonb CHECK (octet_length(labels::text) <= 131072),
  -- What node_status says of a node that one living server alone has connected: that server, what the node has settled
  -- there (null: what the server has settled) and withheld_of its waits. With that a receipt knows what the node has of a
  -- revision, and looks only at the others' status row by row. Without a server there it says nothing. A trigger keeps it
  -- (node_status_served). No index has the columns: a connect stays a HOT update.
  served_by  uuid,
  settled    bigint,
  withheld   jsonb,
  PRIMARY KEY (tenant_id, fleet_id, node_id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

-- Written on connect, disconnect, refusal, and when a node is behind; never for a node that just follows. A server that
-- is dead for a day has no row here: what a node had last that was nowhere since stands under no_server().
CREATE TABLE node_status (
  tenant_id     uuid NOT NULL,
  fleet_id      uuid NOT NULL,
  node_id       text COLLATE "C" NOT NULL,
  server_id     uuid NOT NULL,
  connected     boolean NOT NULL,
  settled       bigint,           -- null: what the server has settled
  since         timestamptz NOT NULL,
  protocol      text NOT NULL DEFAULT '',
  streams       integer NOT NULL DEFAULT 0,
  remote_addr   text NOT NULL DEFAULT '',
  credential_id uuid,
  -- How the node's last stream on that server ended: with nothing refused and nothing unanswered. It means nothing while
  -- the node is connected there; where the server died the row still says so, and that is no clean end.
  clean         boolean NOT NULL DEFAULT false,
  -- How many clients with the node's id the server has had for half a minute; 0: one, or it cannot tell.
  duplicates    integer NOT NULL DEFAULT 0,
  -- The view that the node had there at last: a hash of the selectors that match it, '' where none does (SEMANTICS 3.4).
  view          text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(view) <= 64),
  -- What the node waits for, of one that is behind: {"warming":[[type,name]],"withheld":[[type,name,by_type,by_name,revision]],"more":n},
  -- and what it did not have where it has settled, though it waits for it no more: "missed":[[type,name,since,until]].
  waits         jsonb,
  -- What the node subscribes to of clusters, listeners and runtimes, or did there at last: {"all":[type],"named":[type],"listeners":[name],
  -- "many":n}; null: not told yet, or what most Envoys do. It has no names that follow from the fleet's content, so a revision does not change it.
  subscribes    jsonb,
  PRIMARY KEY (tenant_id, fleet_id, node_id, server_id),
  FOREIGN KEY (tenant_id, fleet_id, node_id) REFERENCES nodes ON DELETE CASCADE,
  CHECK (connected OR settled IS NOT NULL) -- a node that is gone follows nobody
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX node_status_by_server ON node_status (server_id, tenant_id, fleet_id, node_id); -- what a dead server leaves behind

CREATE TABLE server_settled (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  server_id uuid NOT NULL,
  settled   bigint NOT NULL,
  at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, fleet_id, server_id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- What one revision came to on one server; the newest 200 revisions of a fleet.
CREATE TABLE delivery (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  revision  bigint NOT NULL,
  server_id uuid NOT NULL,
  affected  integer NOT NULL,
  acked     integer NOT NULL,
  first_ack timestamptz,
  last_ack  timestamptz,
  PRIMARY KEY (tenant_id, fleet_id, revision, server_id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

-- The words of clients that refused something, once each.
CREATE TABLE nack_texts (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  hash      bytea NOT NULL CHECK (octet_length(hash) = 32),
  text      text NOT NULL CHECK (octet_length(text) <= 4096), -- hostile
  PRIMARY KEY (tenant_id, fleet_id, hash),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
);

-- What was done about a refusal; Go's fleet.Action says what each one means.
CREATE TYPE refusal_action AS ENUM ('none', 'no_suspect', 'kept', 'removed', 'frozen', 'unknown', 'lost', 'stand_in_refused', 'superseded', 'deleted');

-- What a node refused. A row belongs to the revision that introduced the refused version and stays after it is resolved.
CREATE TABLE node_exceptions (
  tenant_id   uuid NOT NULL,
  fleet_id    uuid NOT NULL,
  node_id     text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  name        text COLLATE "C" NOT NULL CHECK (octet_length(name) <= 512),
  version     text COLLATE "C" NOT NULL CHECK (octet_length(version) <= 64),
  revision    bigint NOT NULL,
  text_hash   bytea NOT NULL,
  action      refusal_action NOT NULL DEFAULT 'none',
  beside      boolean NOT NULL DEFAULT false, -- another stream with the node's id goes on as it is
  good        text NOT NULL DEFAULT '', -- the version that stands in for it; '': none
  good_hash   bytea,                    -- its bytes, kept while they are named here
  -- It outlives the history, so what was read out of it stands beside it, its TTL, and the revision that brought it.
  good_revision bigint,
  good_ttl_ms   bigint,
  good_derived  jsonb,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  resolved_at timestamptz,
  resolved_by bigint,
  PRIMARY KEY (tenant_id, fleet_id, node_id, type, name, version, revision),
  FOREIGN KEY (tenant_id, fleet_id, node_id) REFERENCES nodes ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, fleet_id, text_hash) REFERENCES nack_texts,
  FOREIGN KEY (tenant_id, good_hash) REFERENCES bodies (tenant_id, hash),
  CHECK ((resolved_at IS NULL) = (resolved_by IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
-- What stands of one node is asked for by resolved_by, which is null when resolved_at is: so the index of all that stands in the
-- fleet does not fit, and only the key does.
CREATE INDEX node_exceptions_by_revision ON node_exceptions (revision, tenant_id, fleet_id); -- not led by the key's columns, see resources
CREATE INDEX node_exceptions_open ON node_exceptions (tenant_id, fleet_id, type, name, version, node_id) WHERE resolved_at IS NULL;
-- Not led by the key's columns (see resources): with those each text that went was looked for among all refusals of its fleet.
CREATE INDEX node_exceptions_by_text ON node_exceptions (text_hash, tenant_id, fleet_id);
CREATE INDEX node_exceptions_by_body ON node_exceptions (tenant_id, good_hash) WHERE good_hash IS NOT NULL;

-- Versions that a revision took out of force while nodes refused them: with its commit every refusal of them that a lower
-- revision brought is over, for whoever reads it, however many there are. A row goes when all of them say so themselves.
CREATE TABLE mends (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  type      text COLLATE "C" NOT NULL,
  name      text COLLATE "C" NOT NULL,
  version   text COLLATE "C" NOT NULL,
  revision  bigint NOT NULL,
  at        timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, fleet_id, type, name, version, revision),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE
);

-- Nodes that are to be offered again what they refused: since which epoch of the fleet's head. The catch-up brings those of
-- an epoch that the reader does not know yet.
CREATE TABLE node_retries (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  node_id   text COLLATE "C" NOT NULL,
  epoch     bigint NOT NULL,
  PRIMARY KEY (tenant_id, fleet_id, node_id),
  FOREIGN KEY (tenant_id, fleet_id, node_id) REFERENCES nodes ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX node_retries_by_epoch ON node_retries (tenant_id, fleet_id, epoch);

-- Why a client was not let in; Go's fleet.DeniedReason says what each one means.
CREATE TYPE denied_reason AS ENUM ('token_wrong', 'token_revoked', 'token_expired', 'node_id_forbidden', 'node_id_taken');

-- What happened to nodes, in the order in which it did as far as clocks tell. Rows come by triggers, so that no
-- statement that makes or ends a refusal can leave one out. The id follows from what happened, so that a report that is
-- given again, because its answer was lost, tells nothing twice. Those of clients that were not let in come by tell_denied: a row
-- for each of a kind, which is written anew when one comes again.
CREATE TABLE node_events (
  tenant_id uuid NOT NULL,
  fleet_id  uuid NOT NULL,
  at        timestamptz NOT NULL,
  id        uuid NOT NULL DEFAULT gen_random_uuid(), -- no order
  kind      text NOT NULL CHECK (kind IN ('refused', 'kept_back', 'recovered', 'duplicates', 'dropped', 'denied')),
  node_id   text COLLATE "C" NOT NULL, -- no foreign key: the record outlives the node
  type      text COLLATE "C" NOT NULL DEFAULT '',
  name      text COLLATE "C" NOT NULL DEFAULT '',
  version   text COLLATE "C" NOT NULL DEFAULT '',
  revision  bigint NOT NULL DEFAULT 0,
  text_hash bytea,
  action    refusal_action NOT NULL DEFAULT 'none', -- of what was refused or kept back
  beside    boolean NOT NULL DEFAULT false,
  note      text NOT NULL DEFAULT '', -- for people, of another kind of event
  -- Of a client that was not let in, whose node_id is what it says.
  reason        denied_reason,
  address       text NOT NULL DEFAULT '' CHECK (octet_length(address) <= 64),
  credential_id uuid,
  attempts      bigint NOT NULL DEFAULT 0,
  first_at      timestamptz,
  -- The transaction that wrote it. Neither at nor a sequence tells who reads on from where they were what is new: a row with an
  -- earlier one may commit later. Of transactions below events_bound there come no more.
  xact      xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (tenant_id, fleet_id, id),
  FOREIGN KEY (tenant_id, fleet_id) REFERENCES fleets (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, fleet_id, text_hash) REFERENCES nack_texts,
  CHECK ((kind = 'denied') = (reason IS NOT NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX node_events_by_time ON node_events (tenant_id, fleet_id, at, id);
CREATE INDEX node_events_by_xact ON node_events (tenant_id, fleet_id, xact, at, id);
CREATE INDEX node_events_by_node ON node_events (node_id, tenant_id, fleet_id, at, id); -- not led by the key's columns, see resources
CREATE INDEX node_events_denied ON node_events (tenant_id, fleet_id, at, id) WHERE kind = 'denied';
CREATE INDEX node_events_by_text ON node_events (text_hash, tenant_id, fleet_id) WHERE text_hash IS NOT NULL;
