SET lock_timeout = '5s';

-- Which Secrets a token of the roles ci and editor may use in whatever way: names, beginnings of names with * at the end, labels as
-- key=value. Like all that a token may it is settled when it is made.
ALTER TABLE api_tokens
  ADD COLUMN uses_secrets text[] NOT NULL DEFAULT '{}'
    CHECK (cardinality(uses_secrets) <= 100 AND (cardinality(uses_secrets) = 0 OR role IN ('ci', 'editor')));
