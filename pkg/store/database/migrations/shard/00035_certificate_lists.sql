-- Lists of certificates by result and by state.

-- +goose NO TRANSACTION
-- +goose Up

-- valid | expiring | expired | revoked, as it was when something was last told of it
ALTER TABLE certificate ADD COLUMN IF NOT EXISTS standing TEXT NOT NULL DEFAULT 'valid';
UPDATE certificate SET standing = CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired'
        WHEN expires_at <= now() + INTERVAL '60 days' THEN 'expiring' ELSE 'valid' END
    WHERE revoked_at IS NOT NULL OR expires_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS certificate_by_standing ON certificate (org_id, standing, id);
CREATE INDEX IF NOT EXISTS certificate_of_result ON certificate (org_id, result_id, id) WHERE result_id IS NOT NULL;

-- +goose Down
DROP INDEX IF EXISTS certificate_of_result;
DROP INDEX IF EXISTS certificate_by_standing;
ALTER TABLE certificate DROP COLUMN IF EXISTS standing;
