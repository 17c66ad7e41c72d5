-- A host that was proven is looked at again, and lost where the proof is gone for long or
-- where somebody else proves it.

-- +goose NO TRANSACTION
-- +goose Up

-- When the proof was looked for last, and how often in a row it was not there since when.
ALTER TABLE portal ADD COLUMN IF NOT EXISTS host_checked_at TIMESTAMPTZ NOT NULL DEFAULT '1970-01-01 00:00:00+00';
ALTER TABLE portal ADD COLUMN IF NOT EXISTS host_misses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE portal ADD COLUMN IF NOT EXISTS host_missed_at TIMESTAMPTZ;
-- How often a host was lost: what proved it before proves nothing any more.
ALTER TABLE portal ADD COLUMN IF NOT EXISTS host_round BIGINT NOT NULL DEFAULT 0;
-- Why it was lost: lapsed or taken; empty where it was not.
ALTER TABLE portal ADD COLUMN IF NOT EXISTS host_lost TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE portal DROP COLUMN IF EXISTS host_lost;
ALTER TABLE portal DROP COLUMN IF EXISTS host_round;
ALTER TABLE portal DROP COLUMN IF EXISTS host_missed_at;
ALTER TABLE portal DROP COLUMN IF EXISTS host_misses;
ALTER TABLE portal DROP COLUMN IF EXISTS host_checked_at;
