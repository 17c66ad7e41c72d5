-- The mode that a team member was invited for, beside the one that they are in; empty where
-- they are the same.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE session_staff ADD COLUMN IF NOT EXISTS most TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE session_staff DROP COLUMN IF EXISTS most;
