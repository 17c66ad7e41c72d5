-- Certificates, and the keys that sign their badges.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS certificate (
    org_id         UUID        NOT NULL,
    id             UUID        NOT NULL,
    -- as people read it, without hyphens
    number         TEXT        NOT NULL,
    -- its place in the organization's status lists
    ordinal        BIGINT      NOT NULL,
    -- null once the person was erased, as what says for what it was given
    person_id      UUID,
    membership_id  UUID,
    subject_id     UUID,
    portal_id      UUID,
    -- what it rests on; null for nothing
    result_id      UUID,
    completion_id  UUID,
    template       TEXT        NOT NULL,
    language       TEXT        NOT NULL,
    -- as they were when it was issued
    recipient_name TEXT        NOT NULL,
    title          TEXT        NOT NULL,
    issued_at      TIMESTAMPTZ NOT NULL,
    issued_by      TEXT        NOT NULL,
    expires_at     TIMESTAMPTZ,
    -- the one that took its place
    renewed_by     UUID,
    revoked_at     TIMESTAMPTZ,
    reason_code    TEXT,
    revoked_by     TEXT,
    -- when something is to be told of its expiry next
    notice_at      TIMESTAMPTZ,
    CONSTRAINT certificate_pkey PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX IF NOT EXISTS certificate_number ON certificate (org_id, number);
CREATE UNIQUE INDEX IF NOT EXISTS certificate_ordinal ON certificate (org_id, ordinal);
CREATE INDEX IF NOT EXISTS certificate_by_person ON certificate (org_id, person_id, id);
CREATE INDEX IF NOT EXISTS certificate_by_subject ON certificate (org_id, subject_id, id);
-- A result has one at a time.
CREATE UNIQUE INDEX IF NOT EXISTS certificate_by_result ON certificate (org_id, result_id) WHERE result_id IS NOT NULL AND revoked_at IS NULL;
CREATE INDEX IF NOT EXISTS certificate_by_completion ON certificate (org_id, completion_id) WHERE completion_id IS NOT NULL AND revoked_at IS NULL;
CREATE INDEX IF NOT EXISTS certificate_revoked ON certificate (org_id, ordinal) WHERE revoked_at IS NOT NULL;
-- those of which something is to be told soonest, of the whole shard
CREATE INDEX IF NOT EXISTS certificate_by_notice ON certificate (notice_at, org_id, id) WHERE notice_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS issuer_key (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    -- Ed25519
    public_key BYTEA       NOT NULL,
    -- RSA, of tokens
    token_key  BYTEA       NOT NULL,
    -- the private keys, sealed
    secret     BYTEA       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT issuer_key_pkey PRIMARY KEY (org_id, id)
);

-- +goose Down
DROP TABLE IF EXISTS issuer_key;
DROP TABLE IF EXISTS certificate;
