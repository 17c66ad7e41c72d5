-- The tools that a server of the Model Context Protocol had when its connection was last tested.

-- +goose NO TRANSACTION
-- +goose Up

-- name, title, description and schema of each; null of other kinds, and before a test
ALTER TABLE connection ADD COLUMN IF NOT EXISTS tools JSONB;

-- +goose Down
ALTER TABLE connection DROP COLUMN IF EXISTS tools;
