SET lock_timeout = '5s';

-- How a refusal ended; Go's fleet.End says what each one means. What ended before this was known has none.
CREATE TYPE refusal_end AS ENUM ('replaced', 'taken', 'offered');

ALTER TABLE node_exceptions
  ADD COLUMN ending refusal_end,
  -- Of the same type: the version that the node would not take it beside, by its words. '': none is known.
  ADD COLUMN rival         text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(rival) <= 512),
  ADD COLUMN rival_version text COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(rival_version) <= 64);
GRANT UPDATE (ending) ON node_exceptions TO fairlead_app;

ALTER TABLE node_events
  DROP CONSTRAINT node_events_kind_check,
  ADD CONSTRAINT node_events_kind_check CHECK (kind IN ('refused', 'kept_back', 'recovered', 'offered', 'duplicates', 'dropped', 'denied')) NOT VALID;
