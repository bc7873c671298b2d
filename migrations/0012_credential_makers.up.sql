SET lock_timeout = '5s';

-- The tokens that a token comes from: the one that made it, the one that made that one, and so on. It stands in the row because a token
-- that has ended is removed, and what it made is still to be found.
ALTER TABLE api_tokens ADD COLUMN makers uuid[] NOT NULL DEFAULT '{}';
WITH RECURSIVE line AS (
  SELECT k.tenant_id, k.id, k.made_by, 1 AS n FROM api_tokens k WHERE k.made_by IS NOT NULL
   UNION ALL
  SELECT l.tenant_id, l.id, k.made_by, l.n + 1 FROM line l JOIN api_tokens k ON k.tenant_id = l.tenant_id AND k.id = l.made_by
   WHERE k.made_by IS NOT NULL)
UPDATE api_tokens k SET makers = l.makers
  FROM (SELECT l.tenant_id, l.id, array_agg(l.made_by ORDER BY l.n) AS makers FROM line l GROUP BY 1, 2) l
 WHERE k.tenant_id = l.tenant_id AND k.id = l.id;

-- The same of a node credential, and when and from where it was used last, to the hour. One that is older knows no maker.
ALTER TABLE node_credentials
  ADD COLUMN made_by        uuid, -- a token of the tenant; no foreign key
  ADD COLUMN makers         uuid[] NOT NULL DEFAULT '{}',
  ADD COLUMN last_used_at   timestamptz,
  ADD COLUMN last_used_from text NOT NULL DEFAULT '' CHECK (octet_length(last_used_from) <= 64);
