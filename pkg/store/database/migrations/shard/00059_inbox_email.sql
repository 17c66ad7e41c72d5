-- The items of a mail address.

-- +goose NO TRANSACTION
-- +goose Up

CREATE INDEX IF NOT EXISTS inbox_item_by_email ON inbox_item (org_id, lower(contact->>'email'), id);

-- +goose Down
DROP INDEX IF EXISTS inbox_item_by_email;
