-- An index is of columns that were there before its migration began.

-- +goose NO TRANSACTION
-- +goose Up

-- the hosts to look at again, those first that were looked at longest ago
CREATE INDEX IF NOT EXISTS portal_by_host_check ON portal (host_checked_at, org_id, id)
    WHERE host_proven_at IS NOT NULL AND archived_at IS NULL;

-- +goose Down
DROP INDEX IF EXISTS portal_by_host_check;
