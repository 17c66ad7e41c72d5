-- What the team wrote to a visitor lies among the notes of an item.

-- +goose NO TRANSACTION
-- +goose Up

-- mail of what was sent to the visitor; null of what is for the team alone
ALTER TABLE inbox_note ADD COLUMN IF NOT EXISTS channel TEXT;
ALTER TABLE inbox_item ADD COLUMN IF NOT EXISTS first_reply_at TIMESTAMPTZ;

-- +goose Down
ALTER TABLE inbox_item DROP COLUMN IF EXISTS first_reply_at;
ALTER TABLE inbox_note DROP COLUMN IF EXISTS channel;
