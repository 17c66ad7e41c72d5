-- What a test key makes leads to conversations that cost nothing.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE escalation ADD COLUMN IF NOT EXISTS sandbox BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE case_link ADD COLUMN IF NOT EXISTS sandbox BOOLEAN NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE case_link DROP COLUMN IF EXISTS sandbox;
ALTER TABLE escalation DROP COLUMN IF EXISTS sandbox;
