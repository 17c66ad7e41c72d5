-- The seat of the host of a duo who speaks a turn; empty for every other speaker.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE turn ADD COLUMN IF NOT EXISTS host TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE turn DROP COLUMN IF EXISTS host;
