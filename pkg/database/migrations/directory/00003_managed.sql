-- Which organisations a shard takes, and what manages shards and organisations:
-- callers ('api'), or the custom resource that declares them.

-- +goose Up

-- Shared: any organisation may be placed there; Dedicated: only those that name it
ALTER TABLE shard ADD COLUMN tier TEXT NOT NULL DEFAULT 'Shared';
ALTER TABLE shard ADD COLUMN managed_by TEXT NOT NULL DEFAULT 'api';
ALTER TABLE organization ADD COLUMN managed_by TEXT NOT NULL DEFAULT 'api';
CREATE INDEX organization_by_shard ON organization (shard);

-- +goose Down
DROP INDEX organization_by_shard;
ALTER TABLE organization DROP COLUMN managed_by;
ALTER TABLE shard DROP COLUMN managed_by;
ALTER TABLE shard DROP COLUMN tier;
