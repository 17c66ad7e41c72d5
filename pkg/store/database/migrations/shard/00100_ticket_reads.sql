-- What was read of a ticket last, so that it shows what agents changed; and which connected system a note came from, which is not told it.

-- +goose NO TRANSACTION
-- +goose Up

-- the edition of the item at which both sides agreed on its state
ALTER TABLE inbox_notice ADD COLUMN IF NOT EXISTS state_edition BIGINT NOT NULL DEFAULT 0;
-- the ticket's status, the last comment that was taken, and when it was changed as the helpdesk says
ALTER TABLE inbox_notice ADD COLUMN IF NOT EXISTS status TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox_notice ADD COLUMN IF NOT EXISTS comment BIGINT NOT NULL DEFAULT 0;
ALTER TABLE inbox_notice ADD COLUMN IF NOT EXISTS seen TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox_note ADD COLUMN IF NOT EXISTS taken_from UUID;

-- +goose Down
ALTER TABLE inbox_note DROP COLUMN IF EXISTS taken_from;
ALTER TABLE inbox_notice DROP COLUMN IF EXISTS seen;
ALTER TABLE inbox_notice DROP COLUMN IF EXISTS comment;
ALTER TABLE inbox_notice DROP COLUMN IF EXISTS status;
ALTER TABLE inbox_notice DROP COLUMN IF EXISTS state_edition;
