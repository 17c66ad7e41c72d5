-- Who manages a webhook, and whose workers deliver to it.

-- +goose Up

-- 'api', or the custom resource that declares the webhook
ALTER TABLE webhook ADD COLUMN managed_by TEXT NOT NULL DEFAULT 'api';
-- what its secret was replaced for the last time, where something declares it
ALTER TABLE webhook ADD COLUMN rotated_for TEXT NOT NULL DEFAULT '';
-- when it first delivered something
ALTER TABLE webhook ADD COLUMN delivered_at TIMESTAMPTZ;
-- the lane that it has of its own where it is to have one
ALTER TABLE webhook ADD COLUMN own_lane BIGINT;
-- the lane it is in where that is not one of the shared; whoever holds the lane it is
-- in takes it to the one where it is to be
ALTER TABLE webhook ADD COLUMN lane BIGINT;

-- A resource declares one webhook.
CREATE UNIQUE INDEX webhook_managed ON webhook (org_id, managed_by) WHERE managed_by <> 'api' AND deleted_at IS NULL;
CREATE INDEX webhook_delivered ON webhook (delivered_at) WHERE managed_by <> 'api' AND delivered_at IS NOT NULL;
CREATE INDEX webhook_by_lane ON webhook (lane) WHERE lane IS NOT NULL;
CREATE INDEX webhook_by_own_lane ON webhook (own_lane) WHERE own_lane IS NOT NULL;

-- The organisations whose webhooks have a lane of their own together.
CREATE TABLE dedicated_delivery (
    org_id UUID   NOT NULL CONSTRAINT dedicated_delivery_pkey PRIMARY KEY,
    lane   BIGINT NOT NULL
);

-- Until when the worker that the lane is for is believed to live, whether it holds the
-- lane or not. The shared lanes are for everybody.
ALTER TABLE delivery_lane ADD COLUMN claimed_until TIMESTAMPTZ NOT NULL DEFAULT '2000-01-01T00:00:00Z';

-- +goose Down
ALTER TABLE delivery_lane DROP COLUMN claimed_until;
DROP TABLE dedicated_delivery;
DROP INDEX webhook_by_own_lane;
DROP INDEX webhook_by_lane;
DROP INDEX webhook_delivered;
DROP INDEX webhook_managed;
ALTER TABLE webhook DROP COLUMN lane;
ALTER TABLE webhook DROP COLUMN own_lane;
ALTER TABLE webhook DROP COLUMN delivered_at;
ALTER TABLE webhook DROP COLUMN rotated_for;
ALTER TABLE webhook DROP COLUMN managed_by;
