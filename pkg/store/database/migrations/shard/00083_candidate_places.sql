-- Where a candidate of a remote role works from, whose laws hold beside those of the role.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE candidate ADD COLUMN IF NOT EXISTS place JSONB;

-- +goose Down
ALTER TABLE candidate DROP COLUMN IF EXISTS place;
