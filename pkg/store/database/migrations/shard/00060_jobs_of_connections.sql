-- Which jobs wait for a connection, so that they go on once it is mended.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE job ADD COLUMN IF NOT EXISTS connection_id UUID;
CREATE INDEX IF NOT EXISTS job_by_connection ON job (org_id, connection_id, id) WHERE connection_id IS NOT NULL AND finished_at IS NULL;

-- +goose Down
DROP INDEX IF EXISTS job_by_connection;
ALTER TABLE job DROP COLUMN IF EXISTS connection_id;
