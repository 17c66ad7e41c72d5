-- The edition of an item that its terms are of. A process of before 00089 knows no terms of tags, and drops those of what it changes; it
-- leaves this edition behind, by which the item is found and its terms are made anew. Of what has no tags nothing is lost.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE inbox_item ADD COLUMN IF NOT EXISTS terms_edition INT8 NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS inbox_item_terms_due ON inbox_item (org_id, id) WHERE terms_edition <> edition AND tags <> '{}'::TEXT[];

-- +goose Down
DROP INDEX IF EXISTS inbox_item_terms_due;
ALTER TABLE inbox_item DROP COLUMN IF EXISTS terms_edition;
