SET lock_timeout = '5s';

-- Where a tenant is, of an installation of several cells (docs/cells.md). here: it is served. leaving: its rows are being copied to another cell; it is read and
-- served, and not written. arriving: they are being copied to here. gone: another cell has it. Of the last two this cell knows no token.
ALTER TABLE tenants ADD COLUMN place text NOT NULL DEFAULT 'here' CHECK (place IN ('here', 'arriving', 'leaving', 'gone'));
-- Since when; null: since it was created.
ALTER TABLE tenants ADD COLUMN placed_at timestamptz;
CREATE INDEX tenants_elsewhere ON tenants (place) WHERE place <> 'here';
