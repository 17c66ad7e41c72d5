-- The directory: which organisations there are, on which shard each lives,
-- and whose keys open them. Small, and read through caches.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS shard (
    name       TEXT        NOT NULL CONSTRAINT shard_pkey PRIMARY KEY,
    url        TEXT        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE IF NOT EXISTS organization (
    id            UUID        NOT NULL CONSTRAINT organization_pkey PRIMARY KEY,
    name          TEXT        NOT NULL,
    slug          TEXT        NOT NULL CONSTRAINT organization_slug_key UNIQUE,
    region        TEXT        NOT NULL,
    timezone      TEXT        NOT NULL,
    shard         TEXT        NOT NULL CONSTRAINT organization_shard_fkey REFERENCES shard (name),
    epoch         BIGINT      NOT NULL,
    plan          TEXT        NOT NULL,
    -- limits that differ from the plan's, by name
    overrides     JSONB       NOT NULL,
    -- 'creating' until the shard knows the organisation, then 'active'; 'deleting'
    -- while everything that it owns is removed
    state         TEXT        NOT NULL,
    paused_at     TIMESTAMPTZ,
    paused_reason TEXT,
    created_at    TIMESTAMPTZ NOT NULL
);

CREATE TABLE IF NOT EXISTS api_key (
    id                UUID        NOT NULL CONSTRAINT api_key_pkey PRIMARY KEY,
    org_id            UUID        NOT NULL CONSTRAINT api_key_org_fkey REFERENCES organization (id),
    name              TEXT        NOT NULL,
    last4             TEXT        NOT NULL,
    scopes            TEXT[]      NOT NULL,
    full_access       BOOLEAN     NOT NULL,
    contract          TEXT        NOT NULL,
    environment       TEXT        NOT NULL,
    allowed_addresses TEXT[]      NOT NULL,
    created_by        TEXT        NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    last_used_at      TIMESTAMPTZ,
    expires_at        TIMESTAMPTZ,
    revoked_at        TIMESTAMPTZ
);
CREATE INDEX IF NOT EXISTS api_key_by_org ON api_key (org_id, created_at DESC, id DESC);

-- A key has one secret, and during a rotation's grace two. Only the hash is kept.
CREATE TABLE IF NOT EXISTS api_key_secret (
    hash       BYTEA       NOT NULL CONSTRAINT api_key_secret_pkey PRIMARY KEY,
    key_id     UUID        NOT NULL CONSTRAINT api_key_secret_key_fkey REFERENCES api_key (id),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ
);
CREATE INDEX IF NOT EXISTS api_key_secret_by_key ON api_key_secret (key_id);

-- Requests of one address in the current window (Limits, class address).
CREATE TABLE IF NOT EXISTS address_window (
    address   TEXT   NOT NULL CONSTRAINT address_window_pkey PRIMARY KEY,
    minute    BIGINT NOT NULL,
    granted   BIGINT NOT NULL,
    last_took BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS address_window_by_minute ON address_window (minute);

-- Secrets of the deployment that every pod shares, made on first use.
CREATE TABLE IF NOT EXISTS deployment_secret (
    name       TEXT        NOT NULL CONSTRAINT deployment_secret_pkey PRIMARY KEY,
    value      BYTEA       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE IF EXISTS deployment_secret;
DROP TABLE IF EXISTS address_window;
DROP TABLE IF EXISTS api_key_secret;
DROP TABLE IF EXISTS api_key;
DROP TABLE IF EXISTS organization;
DROP TABLE IF EXISTS shard;
