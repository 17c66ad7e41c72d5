-- The pictures that portals' pages show.

-- +goose NO TRANSACTION
-- +goose Up

-- Copies of what the authors of portals named by address: pages load nothing from
-- elsewhere.
CREATE TABLE IF NOT EXISTS portal_picture (
    org_id       UUID        NOT NULL,
    portal_id    UUID        NOT NULL,
    -- of the address
    hash         BYTEA       NOT NULL,
    url          TEXT        NOT NULL,
    -- the copy; null where there is none yet
    file_id      UUID,
    content_type TEXT        NOT NULL,
    -- of the copy
    sum          BYTEA       NOT NULL,
    -- why it could not be fetched the last time, or empty
    failure      TEXT        NOT NULL,
    fetched_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT portal_picture_pkey PRIMARY KEY (org_id, portal_id, hash)
);

-- +goose Down
DROP TABLE IF EXISTS portal_picture;
