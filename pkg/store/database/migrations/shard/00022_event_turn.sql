-- The row that CockroachDB's transactions with events of an organization lock, so that they
-- wait for each other and nobody else does. It is made with the organization and never changes.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS event_turn (
    org_id UUID NOT NULL CONSTRAINT event_turn_pkey PRIMARY KEY
);
INSERT INTO event_turn (org_id) SELECT org_id FROM org_fence WHERE state <> 'moved'
ON CONFLICT (org_id) DO NOTHING;

-- +goose Down
DROP TABLE IF EXISTS event_turn;
