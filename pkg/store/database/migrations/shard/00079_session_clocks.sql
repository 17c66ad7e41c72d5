-- How much time there is for the questions of a session, and how much of it is used.

-- +goose NO TRANSACTION
-- +goose Up

-- NULL where nothing has a limit.
ALTER TABLE session ADD COLUMN IF NOT EXISTS clocks JSONB;

-- +goose Down
ALTER TABLE session DROP COLUMN IF EXISTS clocks;
