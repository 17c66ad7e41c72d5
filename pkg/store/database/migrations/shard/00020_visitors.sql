-- Visitors whom no key vouches for have a share of the places, and each address block a
-- share of that.

-- +goose NO TRANSACTION
-- +goose Up

-- the mark of the address block that an anonymous visitor came from; empty for others
ALTER TABLE session ADD COLUMN IF NOT EXISTS visitor TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE session DROP COLUMN IF EXISTS visitor;
