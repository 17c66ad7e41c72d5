-- Custom avatars, the consent each rests on, and the files of both.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS file (
    org_id       UUID        NOT NULL,
    id           UUID        NOT NULL,
    -- pending (being written) | stored | deleting
    state        TEXT        NOT NULL,
    content_type TEXT        NOT NULL,
    bytes        BIGINT      NOT NULL,
    sha256       BYTEA       NOT NULL,
    changed_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT file_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS file_unfinished ON file (changed_at) WHERE state <> 'stored';

CREATE TABLE IF NOT EXISTS consent (
    org_id         UUID        NOT NULL,
    id             UUID        NOT NULL,
    -- likeness for an avatar's picture
    kind           TEXT        NOT NULL,
    -- given | withdrawn
    state          TEXT        NOT NULL,
    avatar_id      UUID,
    statement      TEXT        NOT NULL,
    policy_version TEXT        NOT NULL,
    person_name    TEXT        NOT NULL,
    person_email   TEXT,
    signed_at      TIMESTAMPTZ NOT NULL,
    evidence_id    UUID,
    recorded_at    TIMESTAMPTZ NOT NULL,
    recorded_by    TEXT        NOT NULL,
    withdrawn_at   TIMESTAMPTZ,
    CONSTRAINT consent_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS consent_by_time ON consent (org_id, recorded_at DESC, id DESC);

CREATE TABLE IF NOT EXISTS avatar (
    org_id       UUID        NOT NULL,
    id           UUID        NOT NULL,
    name         TEXT        NOT NULL,
    -- empty when not said
    gender       TEXT        NOT NULL,
    age_band     TEXT        NOT NULL,
    heritage     TEXT        NOT NULL,
    width        BIGINT      NOT NULL,
    height       BIGINT      NOT NULL,
    picture_id   UUID        NOT NULL,
    thumbnail_id UUID        NOT NULL,
    consent_id   UUID        NOT NULL,
    landmarks    JSONB,
    metadata     JSONB       NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    deleted_at   TIMESTAMPTZ,
    CONSTRAINT avatar_pkey PRIMARY KEY (org_id, id),
    CONSTRAINT avatar_consent_fkey FOREIGN KEY (org_id, consent_id) REFERENCES consent (org_id, id)
);
CREATE INDEX IF NOT EXISTS avatar_by_age ON avatar (org_id, created_at, id);
CREATE INDEX IF NOT EXISTS avatar_deleted ON avatar (deleted_at) WHERE deleted_at IS NOT NULL;

-- Which personas and duos wear a face (a library face or the organisation's own).
CREATE TABLE IF NOT EXISTS avatar_use (
    org_id      UUID NOT NULL,
    avatar_id   UUID NOT NULL,
    -- persona | duo
    wearer_kind TEXT NOT NULL,
    wearer_id   UUID NOT NULL,
    CONSTRAINT avatar_use_pkey PRIMARY KEY (org_id, avatar_id, wearer_kind, wearer_id)
);

-- +goose Down
DROP TABLE IF EXISTS avatar_use;
DROP TABLE IF EXISTS avatar;
DROP TABLE IF EXISTS consent;
DROP TABLE IF EXISTS file;
