-- What guards and counts an organisation on its shard. Every primary key of a
-- shard begins with org_id.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS org_fence (
    org_id   UUID   NOT NULL CONSTRAINT org_fence_pkey PRIMARY KEY,
    epoch    BIGINT NOT NULL,
    -- open | capture | fenced | moved | deleting
    state    TEXT   NOT NULL,
    -- the shard the organisation went to; empty unless state is moved
    moved_to TEXT   NOT NULL
);

-- While an organisation is copied away, the keys of the rows that changed.
CREATE TABLE IF NOT EXISTS move_dirty (
    org_id     UUID NOT NULL,
    table_name TEXT NOT NULL,
    pk         TEXT NOT NULL,
    CONSTRAINT move_dirty_pkey PRIMARY KEY (org_id, table_name, pk)
);

-- Requests of a key (holder is its id) or of the organisation (holder is
-- 'org') in the current window of a rate class.
CREATE TABLE IF NOT EXISTS rate_window (
    org_id    UUID   NOT NULL,
    holder    TEXT   NOT NULL,
    class     TEXT   NOT NULL,
    minute    BIGINT NOT NULL,
    granted   BIGINT NOT NULL,
    last_took BIGINT NOT NULL,
    CONSTRAINT rate_window_pkey PRIMARY KEY (org_id, holder, class)
);

-- How many of a countable thing the organisation has, kept with the things.
CREATE TABLE IF NOT EXISTS org_counter (
    org_id UUID   NOT NULL,
    name   TEXT   NOT NULL,
    value  BIGINT NOT NULL,
    CONSTRAINT org_counter_pkey PRIMARY KEY (org_id, name)
);

CREATE TABLE IF NOT EXISTS idempotency_record (
    org_id       UUID        NOT NULL,
    key_id       UUID        NOT NULL,
    method       TEXT        NOT NULL,
    path         TEXT        NOT NULL,
    client_key   TEXT        NOT NULL,
    request_hash BYTEA       NOT NULL,
    -- running | done
    state        TEXT        NOT NULL,
    -- who runs it, and until when that is believed
    owner        UUID        NOT NULL,
    lease_until  TIMESTAMPTZ NOT NULL,
    status       BIGINT      NOT NULL,
    answer       BYTEA       NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT idempotency_record_pkey PRIMARY KEY (org_id, key_id, method, path, client_key)
);
CREATE INDEX IF NOT EXISTS idempotency_record_by_expiry ON idempotency_record (expires_at);

-- Changes that the directory is to take over, committed with what caused them.
CREATE TABLE IF NOT EXISTS directory_change (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    kind       TEXT        NOT NULL,
    payload    JSONB       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT directory_change_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS directory_change_by_age ON directory_change (created_at);

CREATE TABLE IF NOT EXISTS activity (
    org_id      UUID        NOT NULL,
    id          UUID        NOT NULL,
    at          TIMESTAMPTZ NOT NULL,
    actor       TEXT        NOT NULL,
    action      TEXT        NOT NULL,
    target_kind TEXT        NOT NULL,
    target_id   TEXT        NOT NULL,
    changes     JSONB       NOT NULL,
    address     TEXT        NOT NULL,
    CONSTRAINT activity_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS activity_by_time ON activity (org_id, at DESC, id DESC);

CREATE TABLE IF NOT EXISTS setting (
    org_id     UUID        NOT NULL,
    scope_kind TEXT        NOT NULL,
    scope_id   TEXT        NOT NULL,
    key        TEXT        NOT NULL,
    value      JSONB       NOT NULL,
    changed_at TIMESTAMPTZ NOT NULL,
    changed_by TEXT        NOT NULL,
    CONSTRAINT setting_pkey PRIMARY KEY (org_id, scope_kind, scope_id, key)
);

-- Prepaid minutes: what was granted and what is left of each grant.
CREATE TABLE IF NOT EXISTS minute_grant (
    org_id      UUID        NOT NULL,
    id          UUID        NOT NULL,
    seconds     BIGINT      NOT NULL,
    remaining_s BIGINT      NOT NULL CONSTRAINT minute_grant_remaining_check CHECK (remaining_s >= 0),
    granted_at  TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ,
    CONSTRAINT minute_grant_pkey PRIMARY KEY (org_id, id)
);

-- Session time, debited in blocks.
CREATE TABLE IF NOT EXISTS usage_block (
    org_id     UUID        NOT NULL,
    session_id UUID        NOT NULL,
    block      BIGINT      NOT NULL,
    kind       TEXT        NOT NULL,
    persona_id UUID,
    sandbox    BOOLEAN     NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    seconds    BIGINT      NOT NULL,
    CONSTRAINT usage_block_pkey PRIMARY KEY (org_id, session_id, block)
);
CREATE INDEX IF NOT EXISTS usage_block_by_time ON usage_block (org_id, started_at);

-- +goose Down
DROP TABLE IF EXISTS usage_block;
DROP TABLE IF EXISTS minute_grant;
DROP TABLE IF EXISTS setting;
DROP TABLE IF EXISTS activity;
DROP TABLE IF EXISTS directory_change;
DROP TABLE IF EXISTS idempotency_record;
DROP TABLE IF EXISTS org_counter;
DROP TABLE IF EXISTS rate_window;
DROP TABLE IF EXISTS move_dirty;
DROP TABLE IF EXISTS org_fence;
