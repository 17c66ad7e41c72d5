-- Where portals are found: whose a slug or a host is.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS portal_address (
    -- slug | host
    kind       TEXT        NOT NULL,
    name       TEXT        NOT NULL,
    org_id     UUID        NOT NULL,
    portal_id  UUID        NOT NULL,
    claimed_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT portal_address_pkey PRIMARY KEY (kind, name),
    CONSTRAINT portal_address_org_fkey FOREIGN KEY (org_id) REFERENCES organization (id)
);
CREATE INDEX IF NOT EXISTS portal_address_by_portal ON portal_address (org_id, portal_id);

-- +goose Down
DROP TABLE IF EXISTS portal_address;
