-- Who declares an organisation or a shard: 'api', or a custom resource
-- (package managed).

-- +goose Up
ALTER TABLE organization ADD COLUMN managed_by TEXT NOT NULL DEFAULT 'api';
ALTER TABLE shard ADD COLUMN tier TEXT NOT NULL DEFAULT 'Shared';
ALTER TABLE shard ADD COLUMN managed_by TEXT NOT NULL DEFAULT 'api';

-- +goose Down
ALTER TABLE shard DROP COLUMN managed_by;
ALTER TABLE shard DROP COLUMN tier;
ALTER TABLE organization DROP COLUMN managed_by;
