-- Which jobs wait for a connection, so that they go on once it is mended, and which connection goes on with what a
-- deleted one did.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE job ADD COLUMN IF NOT EXISTS connection_id UUID;
CREATE INDEX IF NOT EXISTS job_by_connection ON job (org_id, connection_id, id) WHERE connection_id IS NOT NULL AND finished_at IS NULL;
ALTER TABLE connection ADD COLUMN IF NOT EXISTS successor_id UUID;

-- +goose Down
ALTER TABLE connection DROP COLUMN IF EXISTS successor_id;
DROP INDEX IF EXISTS job_by_connection;
ALTER TABLE job DROP COLUMN IF EXISTS connection_id;
