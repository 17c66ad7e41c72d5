-- The gap that a persona's test was made for; null for none.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE persona_test ADD COLUMN IF NOT EXISTS gap_id UUID;

-- +goose Down
ALTER TABLE persona_test DROP COLUMN IF EXISTS gap_id;
