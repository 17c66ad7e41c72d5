-- What waits for the people of a portal.

-- +goose NO TRANSACTION
-- +goose Up

CREATE INDEX IF NOT EXISTS result_waiting ON result (org_id, portal_id, id) WHERE state IN ('awaiting_review', 'contested');

-- +goose Down
DROP INDEX IF EXISTS result_waiting;
