SET lock_timeout = '5s';

-- What the API calls refusals are refusals here too, and what ends them has their name. Servers of before do not run on it: there is no release yet.
ALTER TABLE node_exceptions RENAME TO refusals;
ALTER INDEX node_exceptions_pkey RENAME TO refusals_pkey;
ALTER INDEX node_exceptions_by_revision RENAME TO refusals_by_revision;
ALTER INDEX node_exceptions_open RENAME TO refusals_open;
ALTER INDEX node_exceptions_by_text RENAME TO refusals_by_text;
ALTER INDEX node_exceptions_by_body RENAME TO refusals_by_body;
ALTER TABLE mends RENAME TO refusal_ends;
ALTER INDEX mends_pkey RENAME TO refusal_ends_pkey;
