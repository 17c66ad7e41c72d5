-- Where the landmarks of custom avatars are from.

-- +goose NO TRANSACTION
-- +goose Up

-- given | found | estimated | none (looked for in vain); empty: nobody has looked yet, or given
ALTER TABLE avatar ADD COLUMN IF NOT EXISTS landmarks_source TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE avatar DROP COLUMN IF EXISTS landmarks_source;
