-- What people completed, and what they confirmed.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS completion (
    org_id        UUID        NOT NULL,
    id            UUID        NOT NULL,
    person_id     UUID        NOT NULL,
    membership_id UUID,
    subject_id    UUID        NOT NULL,
    portal_id     UUID        NOT NULL,
    -- what it rests on; null for none
    result_id     UUID,
    -- session | api | import
    source        TEXT        NOT NULL,
    evidence      JSONB       NOT NULL,
    completed_at  TIMESTAMPTZ NOT NULL,
    valid_until   TIMESTAMPTZ,
    created_at    TIMESTAMPTZ NOT NULL,
    withdrawn_at  TIMESTAMPTZ,
    CONSTRAINT completion_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS completion_by_person ON completion (org_id, person_id, id);
CREATE INDEX IF NOT EXISTS completion_by_subject ON completion (org_id, subject_id, id);
-- A result counts once at a time.
CREATE UNIQUE INDEX IF NOT EXISTS completion_by_result ON completion (org_id, result_id) WHERE result_id IS NOT NULL AND withdrawn_at IS NULL;

CREATE TABLE IF NOT EXISTS attestation (
    org_id            UUID        NOT NULL,
    id                UUID        NOT NULL,
    person_id         UUID        NOT NULL,
    membership_id     UUID,
    subject_id        UUID        NOT NULL,
    portal_id         UUID        NOT NULL,
    statement_key     TEXT        NOT NULL,
    statement_version TEXT        NOT NULL,
    text              TEXT        NOT NULL,
    -- click | spoken | signed | witness
    method            TEXT        NOT NULL,
    witness_id        UUID,
    recorded_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT attestation_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS attestation_by_person ON attestation (org_id, person_id, id);
CREATE INDEX IF NOT EXISTS attestation_by_witness ON attestation (org_id, witness_id, id) WHERE witness_id IS NOT NULL;

-- +goose Down
DROP TABLE IF EXISTS attestation;
DROP TABLE IF EXISTS completion;
