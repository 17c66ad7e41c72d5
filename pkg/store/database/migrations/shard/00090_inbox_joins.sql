-- Who of the team is mailed a link to join a conversation whose visitor waits for a person.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE inbox_member ADD COLUMN IF NOT EXISTS joins BOOLEAN NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE inbox_member DROP COLUMN IF EXISTS joins;
