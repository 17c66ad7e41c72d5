-- Who manages a webhook, and whose workers deliver to it.

-- +goose NO TRANSACTION
-- +goose Up

-- 'api', or the custom resource that declares the webhook
ALTER TABLE webhook ADD COLUMN IF NOT EXISTS managed_by TEXT NOT NULL DEFAULT 'api';
-- what its secret was replaced for the last time, where something declares it
ALTER TABLE webhook ADD COLUMN IF NOT EXISTS rotated_for TEXT NOT NULL DEFAULT '';
-- when it first delivered something
ALTER TABLE webhook ADD COLUMN IF NOT EXISTS delivered_at TIMESTAMPTZ;
-- the lane that it has of its own where it is to have one
ALTER TABLE webhook ADD COLUMN IF NOT EXISTS own_lane BIGINT;
-- the lane it is in where that is not one of the shared; whoever holds the lane it is
-- in takes it to the one where it is to be
ALTER TABLE webhook ADD COLUMN IF NOT EXISTS lane BIGINT;

-- A resource declares one webhook.
CREATE UNIQUE INDEX IF NOT EXISTS webhook_managed ON webhook (org_id, managed_by) WHERE managed_by <> 'api' AND deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS webhook_delivered ON webhook (delivered_at) WHERE managed_by <> 'api' AND delivered_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS webhook_by_lane ON webhook (lane) WHERE lane IS NOT NULL;
CREATE INDEX IF NOT EXISTS webhook_by_own_lane ON webhook (own_lane) WHERE own_lane IS NOT NULL;

-- The organisations whose webhooks have a lane of their own together.
CREATE TABLE IF NOT EXISTS dedicated_delivery (
    org_id UUID   NOT NULL CONSTRAINT dedicated_delivery_pkey PRIMARY KEY,
    lane   BIGINT NOT NULL
);

-- Until when the worker that the lane is for is believed to live, whether it holds the
-- lane or not. The shared lanes are for everybody.
ALTER TABLE delivery_lane ADD COLUMN IF NOT EXISTS claimed_until TIMESTAMPTZ NOT NULL DEFAULT '2000-01-01T00:00:00Z';

-- +goose Down
ALTER TABLE delivery_lane DROP COLUMN IF EXISTS claimed_until;
DROP TABLE IF EXISTS dedicated_delivery;
DROP INDEX IF EXISTS webhook_by_own_lane;
DROP INDEX IF EXISTS webhook_by_lane;
DROP INDEX IF EXISTS webhook_delivered;
DROP INDEX IF EXISTS webhook_managed;
ALTER TABLE webhook DROP COLUMN IF EXISTS lane;
ALTER TABLE webhook DROP COLUMN IF EXISTS own_lane;
ALTER TABLE webhook DROP COLUMN IF EXISTS delivered_at;
ALTER TABLE webhook DROP COLUMN IF EXISTS rotated_for;
ALTER TABLE webhook DROP COLUMN IF EXISTS managed_by;
