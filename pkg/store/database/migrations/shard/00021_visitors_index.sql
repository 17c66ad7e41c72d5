-- An index is of columns that were there before its migration began.

-- +goose NO TRANSACTION
-- +goose Up

-- the places that anonymous visitors hold
CREATE INDEX IF NOT EXISTS session_of_visitors ON session (org_id) WHERE slot AND visitor <> '';

-- +goose Down
DROP INDEX IF EXISTS session_of_visitors;
