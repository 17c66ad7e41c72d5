-- +goose Up

-- A host that was proven is looked at again, and lost where the proof is gone for long or
-- where somebody else proves it.

-- When the proof was looked for last, and how often in a row it was not there since when.
ALTER TABLE portal ADD COLUMN host_checked_at TIMESTAMPTZ NOT NULL DEFAULT '1970-01-01 00:00:00+00';
ALTER TABLE portal ADD COLUMN host_misses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE portal ADD COLUMN host_missed_at TIMESTAMPTZ;
-- How often a host was lost: what proved it before proves nothing any more.
ALTER TABLE portal ADD COLUMN host_round BIGINT NOT NULL DEFAULT 0;
-- Why it was lost: lapsed or taken; empty where it was not.
ALTER TABLE portal ADD COLUMN host_lost TEXT NOT NULL DEFAULT '';
CREATE INDEX portal_by_host_check ON portal (host_checked_at, org_id, id) WHERE host_proven_at IS NOT NULL AND archived_at IS NULL;

-- +goose Down
DROP INDEX portal_by_host_check;
ALTER TABLE portal DROP COLUMN host_lost;
ALTER TABLE portal DROP COLUMN host_round;
ALTER TABLE portal DROP COLUMN host_missed_at;
ALTER TABLE portal DROP COLUMN host_misses;
ALTER TABLE portal DROP COLUMN host_checked_at;
