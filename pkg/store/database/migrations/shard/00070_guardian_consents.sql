-- Guardians' consents to a place count together. Of those that were recorded when the newest alone
-- counted, that one still does, which the membership names, and none that it replaced.

-- +goose NO TRANSACTION
-- +goose Up

-- of a guardian's: it counts beside the others of its place
ALTER TABLE consent ADD COLUMN IF NOT EXISTS together BOOLEAN NOT NULL DEFAULT false;

CREATE INDEX IF NOT EXISTS consent_of_guardian ON consent (org_id, membership_id, id) WHERE kind = 'guardian';

-- +goose Down
DROP INDEX IF EXISTS consent_of_guardian;
ALTER TABLE consent DROP COLUMN IF EXISTS together;
