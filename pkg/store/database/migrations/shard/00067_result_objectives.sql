-- What results change of how well the objectives of their subjects are mastered.

-- +goose NO TRANSACTION
-- +goose Up

-- Each objective with the mastery after the result and before it, as they were when it was scored last; NULL of what
-- was scored before this column was there.
ALTER TABLE result ADD COLUMN IF NOT EXISTS objectives JSONB;

-- +goose Down
ALTER TABLE result DROP COLUMN IF EXISTS objectives;
