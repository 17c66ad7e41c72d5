-- +goose NO TRANSACTION
-- +goose Up

-- Since when it is proven that the customer has a say over the portal's host: before,
-- its page is not there. Hosts of before were believed.
ALTER TABLE portal ADD COLUMN IF NOT EXISTS host_proven_at TIMESTAMPTZ;
UPDATE portal SET host_proven_at = updated_at WHERE host <> '' AND host_proven_at IS NULL;

-- +goose Down
ALTER TABLE portal DROP COLUMN IF EXISTS host_proven_at;
