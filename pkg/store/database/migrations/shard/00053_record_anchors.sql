-- What was on record of an organization's candidates at a moment, signed once a day.

-- +goose NO TRANSACTION
-- +goose Up

-- how many entries of the record the last anchor holds
ALTER TABLE candidate ADD COLUMN IF NOT EXISTS anchored_length BIGINT NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS candidate_by_anchor ON candidate (org_id, id) WHERE record_length > anchored_length;

CREATE TABLE IF NOT EXISTS record_anchor (
    org_id     UUID        NOT NULL,
    -- counts from one
    number     BIGINT      NOT NULL,
    at         TIMESTAMPTZ NOT NULL,
    -- how many records it holds, and the root of their Merkle tree
    leaves     BIGINT      NOT NULL,
    root       BYTEA       NOT NULL,
    -- the hash of the anchor before
    previous   BYTEA       NOT NULL,
    hash       BYTEA       NOT NULL,
    -- the issuer's key that signed the hash, and its Ed25519 signature
    key_id     UUID        NOT NULL,
    public_key BYTEA       NOT NULL,
    signature  BYTEA       NOT NULL,
    CONSTRAINT record_anchor_pkey PRIMARY KEY (org_id, number)
);
CREATE INDEX IF NOT EXISTS record_anchor_by_time ON record_anchor (org_id, at);

-- How a candidate's record stands in an anchor.
CREATE TABLE IF NOT EXISTS record_leaf (
    org_id       UUID   NOT NULL,
    candidate_id UUID   NOT NULL,
    number       BIGINT NOT NULL,
    -- how many entries the record had
    length       BIGINT NOT NULL,
    -- the hashes between it and the root, each after a byte that says on which side it stands
    path         BYTEA  NOT NULL,
    CONSTRAINT record_leaf_pkey PRIMARY KEY (org_id, candidate_id, number)
);

-- +goose Down
DROP TABLE IF EXISTS record_leaf;
DROP TABLE IF EXISTS record_anchor;
DROP INDEX IF EXISTS candidate_by_anchor;
ALTER TABLE candidate DROP COLUMN IF EXISTS anchored_length;
