-- What both sides last agreed on of an item that is linked with something in a connected system, as digests, so that it shows which
-- side changed what; which account it is in; and that it was deleted there.

-- +goose NO TRANSACTION
-- +goose Up

-- empty where it is not known
ALTER TABLE connection_link ADD COLUMN IF NOT EXISTS account TEXT NOT NULL DEFAULT '';
ALTER TABLE connection_link ADD COLUMN IF NOT EXISTS gone_at TIMESTAMPTZ;
-- of what the item says, and of what the system has; null where nothing is known
ALTER TABLE connection_link ADD COLUMN IF NOT EXISTS ours JSONB;
ALTER TABLE connection_link ADD COLUMN IF NOT EXISTS theirs JSONB;
CREATE INDEX IF NOT EXISTS connection_link_by_external ON connection_link (org_id, external_id, connection_id);

-- +goose Down
DROP INDEX IF EXISTS connection_link_by_external;
ALTER TABLE connection_link DROP COLUMN IF EXISTS theirs;
ALTER TABLE connection_link DROP COLUMN IF EXISTS ours;
ALTER TABLE connection_link DROP COLUMN IF EXISTS gone_at;
ALTER TABLE connection_link DROP COLUMN IF EXISTS account;
