-- Which organisations a shard takes, and what manages shards and organisations:
-- callers ('api'), or the custom resource that declares them.

-- +goose NO TRANSACTION
-- +goose Up

-- Shared: any organisation may be placed there; Dedicated: only those that name it
ALTER TABLE shard ADD COLUMN IF NOT EXISTS tier TEXT NOT NULL DEFAULT 'Shared';
ALTER TABLE shard ADD COLUMN IF NOT EXISTS managed_by TEXT NOT NULL DEFAULT 'api';
ALTER TABLE organization ADD COLUMN IF NOT EXISTS managed_by TEXT NOT NULL DEFAULT 'api';
CREATE INDEX IF NOT EXISTS organization_by_shard ON organization (shard);

-- +goose Down
DROP INDEX IF EXISTS organization_by_shard;
ALTER TABLE organization DROP COLUMN IF EXISTS managed_by;
ALTER TABLE shard DROP COLUMN IF EXISTS managed_by;
ALTER TABLE shard DROP COLUMN IF EXISTS tier;
