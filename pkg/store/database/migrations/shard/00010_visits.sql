-- How people come in: the keys that sign tokens, who is signed in, chats that are
-- handed to the avatar, and links to cases.

-- +goose NO TRANSACTION
-- +goose Up

-- The newest signs; the older ones are only believed, until no token of theirs is left.
CREATE TABLE IF NOT EXISTS signing_key (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    -- sealed
    secret     BYTEA       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT signing_key_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS signing_key_by_age ON signing_key (created_at);

-- Tokens that open once and were used.
CREATE TABLE IF NOT EXISTS used_token (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT used_token_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS used_token_by_expiry ON used_token (expires_at);

-- A browser that is signed in to a portal.
CREATE TABLE IF NOT EXISTS portal_visit (
    org_id        UUID        NOT NULL,
    -- of the secret in the browser's cookie
    hash          BYTEA       NOT NULL,
    portal_id     UUID        NOT NULL,
    door          TEXT        NOT NULL,
    person_id     UUID,
    membership_id UUID,
    escalation_id UUID,
    case_link_id  UUID,
    -- what a token, or a visitor, said of who it is and what it is for
    details       JSONB       NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT portal_visit_pkey PRIMARY KEY (org_id, hash)
);
CREATE INDEX IF NOT EXISTS portal_visit_by_person ON portal_visit (org_id, person_id) WHERE person_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS portal_visit_by_expiry ON portal_visit (expires_at);

CREATE TABLE IF NOT EXISTS escalation (
    org_id           UUID        NOT NULL,
    id               UUID        NOT NULL,
    portal_id        UUID        NOT NULL,
    -- waiting | live | completed | expired | declined
    state            TEXT        NOT NULL,
    external_chat_id TEXT        NOT NULL,
    channel          TEXT        NOT NULL,
    customer_ref     TEXT,
    -- the chat so far
    context          JSONB       NOT NULL,
    reason           TEXT,
    language         TEXT        NOT NULL,
    token_hash       BYTEA       NOT NULL,
    expires_at       TIMESTAMPTZ NOT NULL,
    session_id       UUID,
    outcome          TEXT,
    started_at       TIMESTAMPTZ,
    completed_at     TIMESTAMPTZ,
    external_id      TEXT,
    metadata         JSONB       NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT escalation_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS escalation_by_token ON escalation (org_id, token_hash);
CREATE INDEX IF NOT EXISTS escalation_by_portal ON escalation (org_id, portal_id, id);
CREATE INDEX IF NOT EXISTS escalation_waiting ON escalation (expires_at) WHERE state = 'waiting';

CREATE TABLE IF NOT EXISTS case_link (
    org_id       UUID        NOT NULL,
    id           UUID        NOT NULL,
    portal_id    UUID        NOT NULL,
    case_ref     TEXT        NOT NULL,
    customer_ref TEXT,
    title        TEXT        NOT NULL,
    case_summary TEXT        NOT NULL,
    language     TEXT        NOT NULL,
    channel      TEXT        NOT NULL,
    contact      JSONB,
    token_hash   BYTEA       NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL,
    max_opens    BIGINT,
    open_count   BIGINT      NOT NULL,
    opened_at    TIMESTAMPTZ,
    used_at      TIMESTAMPTZ,
    revoked_at   TIMESTAMPTZ,
    session_id   UUID,
    external_id  TEXT,
    metadata     JSONB       NOT NULL,
    created_by   TEXT        NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT case_link_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS case_link_by_token ON case_link (org_id, token_hash);
CREATE INDEX IF NOT EXISTS case_link_by_portal ON case_link (org_id, portal_id, id);

ALTER TABLE session ADD COLUMN IF NOT EXISTS membership_id UUID;
ALTER TABLE session ADD COLUMN IF NOT EXISTS escalation_id UUID;
ALTER TABLE session ADD COLUMN IF NOT EXISTS case_link_id UUID;
CREATE INDEX IF NOT EXISTS session_by_portal ON session (org_id, portal_id, id) WHERE portal_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_by_person ON session (org_id, person_id, id) WHERE person_id IS NOT NULL;

-- +goose Down
DROP INDEX IF EXISTS session_by_person;
DROP INDEX IF EXISTS session_by_portal;
ALTER TABLE session DROP COLUMN IF EXISTS case_link_id;
ALTER TABLE session DROP COLUMN IF EXISTS escalation_id;
ALTER TABLE session DROP COLUMN IF EXISTS membership_id;
DROP TABLE IF EXISTS case_link;
DROP TABLE IF EXISTS escalation;
DROP TABLE IF EXISTS portal_visit;
DROP TABLE IF EXISTS used_token;
DROP TABLE IF EXISTS signing_key;
