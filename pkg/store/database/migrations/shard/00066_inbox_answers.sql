-- What visitors answer by mail lies among the notes of an item.

-- +goose NO TRANSACTION
-- +goose Up

-- the Message-ID of what the visitor wrote, or a digest; null of what the team wrote
ALTER TABLE inbox_note ADD COLUMN IF NOT EXISTS message_id TEXT;
-- who the mail says that it is from
ALTER TABLE inbox_note ADD COLUMN IF NOT EXISTS sender TEXT;
-- until when the words of what the visitor wrote are kept; null for as long as the item's, and once they are gone
ALTER TABLE inbox_note ADD COLUMN IF NOT EXISTS words_until TIMESTAMPTZ;
CREATE INDEX IF NOT EXISTS inbox_note_words ON inbox_note (words_until) WHERE words_until IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS inbox_note_by_message ON inbox_note (org_id, item_id, message_id) WHERE message_id IS NOT NULL;

-- +goose Down
DROP INDEX IF EXISTS inbox_note_by_message;
DROP INDEX IF EXISTS inbox_note_words;
ALTER TABLE inbox_note DROP COLUMN IF EXISTS words_until;
ALTER TABLE inbox_note DROP COLUMN IF EXISTS sender;
ALTER TABLE inbox_note DROP COLUMN IF EXISTS message_id;
