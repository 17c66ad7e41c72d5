-- What items of the inbox are in a connected system.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS connection_link (
    org_id         UUID        NOT NULL,
    connection_id  UUID        NOT NULL,
    item_id        UUID        NOT NULL,
    -- its id there
    external_id    TEXT        NOT NULL,
    -- the item's when it was last written there
    edition        BIGINT      NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT connection_link_pkey PRIMARY KEY (org_id, connection_id, item_id)
);

-- +goose Down
DROP TABLE IF EXISTS connection_link;
