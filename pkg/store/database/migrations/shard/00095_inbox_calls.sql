-- How often and when last the team was asked to join the conversation of a hand-off, and who was asked together with others, of
-- whom the first who comes takes the place.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE inbox_item ADD COLUMN IF NOT EXISTS calls INT8 NOT NULL DEFAULT 0;
ALTER TABLE inbox_item ADD COLUMN IF NOT EXISTS called_at TIMESTAMPTZ;
ALTER TABLE session_staff ADD COLUMN IF NOT EXISTS called BOOLEAN NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE session_staff DROP COLUMN IF EXISTS called;
ALTER TABLE inbox_item DROP COLUMN IF EXISTS called_at;
ALTER TABLE inbox_item DROP COLUMN IF EXISTS calls;
