-- Connections to services of the organisation's own, and the voices made with them.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS connection (
    org_id          UUID        NOT NULL,
    id              UUID        NOT NULL,
    -- model | speech | recognition | media
    kind            TEXT        NOT NULL,
    provider        TEXT        NOT NULL,
    name            TEXT        NOT NULL,
    -- unverified | active | failing | disabled
    state           TEXT        NOT NULL,
    -- of the provider's form; holds no secret
    config          JSONB       NOT NULL,
    timeout_ms      BIGINT      NOT NULL,
    -- builtin | fail
    fallback        TEXT        NOT NULL,
    -- both sealed; the previous one is tried too until its time
    secret          BYTEA,
    secret_last4    TEXT        NOT NULL,
    previous_secret BYTEA,
    previous_until  TIMESTAMPTZ,
    ok_at           TIMESTAMPTZ,
    error_at        TIMESTAMPTZ,
    error_code      TEXT        NOT NULL,
    failures        BIGINT      NOT NULL,
    -- of the calls that are kept; negative while there is none
    p95_ms          BIGINT      NOT NULL,
    -- when config or secret last changed; what was seen before says nothing
    settled_at      TIMESTAMPTZ NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    deleted_at      TIMESTAMPTZ,
    CONSTRAINT connection_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS connection_deleted ON connection (deleted_at) WHERE deleted_at IS NOT NULL;

-- Which personas and voices use a connection.
CREATE TABLE IF NOT EXISTS connection_use (
    org_id        UUID NOT NULL,
    connection_id UUID NOT NULL,
    -- persona | voice
    user_kind     TEXT NOT NULL,
    user_id       UUID NOT NULL,
    CONSTRAINT connection_use_pkey PRIMARY KEY (org_id, connection_id, user_kind, user_id)
);
CREATE INDEX IF NOT EXISTS connection_use_by_user ON connection_use (org_id, user_kind, user_id);

-- The last calls of each connection; no words.
CREATE TABLE IF NOT EXISTS connection_call (
    org_id        UUID   NOT NULL,
    connection_id UUID   NOT NULL,
    -- made of the moment of the call
    id            UUID   NOT NULL,
    name          TEXT   NOT NULL,
    -- of HTTP; 0 when there was none
    status        BIGINT NOT NULL,
    ms            BIGINT NOT NULL,
    -- empty for a good one
    error_code    TEXT   NOT NULL,
    CONSTRAINT connection_call_pkey PRIMARY KEY (org_id, connection_id, id)
);

CREATE TABLE IF NOT EXISTS voice (
    org_id         UUID        NOT NULL,
    id             UUID        NOT NULL,
    name           TEXT        NOT NULL,
    description    TEXT        NOT NULL,
    gender         TEXT        NOT NULL,
    languages      TEXT[]      NOT NULL,
    -- training | ready | failed
    status         TEXT        NOT NULL,
    -- why it failed; empty otherwise
    status_reason  TEXT        NOT NULL,
    connection_id  UUID        NOT NULL,
    -- the voice's name at the service; empty until it is ready
    service_voice  TEXT        NOT NULL,
    consent_id     UUID        NOT NULL,
    -- the samples' files, until they were used
    samples        UUID[]      NOT NULL,
    pronunciations JSONB       NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    deleted_at     TIMESTAMPTZ,
    CONSTRAINT voice_pkey PRIMARY KEY (org_id, id),
    CONSTRAINT voice_consent_fkey FOREIGN KEY (org_id, consent_id) REFERENCES consent (org_id, id)
);
CREATE INDEX IF NOT EXISTS voice_by_age ON voice (org_id, created_at, id);
CREATE INDEX IF NOT EXISTS voice_deleted ON voice (deleted_at) WHERE deleted_at IS NOT NULL;

-- Which personas and duos speak with a voice (a studio voice or the organisation's own).
CREATE TABLE IF NOT EXISTS voice_use (
    org_id    UUID NOT NULL,
    voice_id  UUID NOT NULL,
    -- persona | duo
    user_kind TEXT NOT NULL,
    user_id   UUID NOT NULL,
    CONSTRAINT voice_use_pkey PRIMARY KEY (org_id, voice_id, user_kind, user_id)
);
CREATE INDEX IF NOT EXISTS voice_use_by_user ON voice_use (org_id, user_kind, user_id);

-- A voice's consent is kept beside an avatar's.
ALTER TABLE consent ADD COLUMN IF NOT EXISTS voice_id UUID;

-- +goose Down
ALTER TABLE consent DROP COLUMN IF EXISTS voice_id;
DROP TABLE IF EXISTS voice_use;
DROP TABLE IF EXISTS voice;
DROP TABLE IF EXISTS connection_call;
DROP TABLE IF EXISTS connection_use;
DROP TABLE IF EXISTS connection;
