-- Personas, duos and widgets, and the faces prepared for them.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS persona (
    org_id            UUID        NOT NULL,
    id                UUID        NOT NULL,
    name              TEXT        NOT NULL,
    -- standard | duo
    kind              TEXT        NOT NULL,
    -- of a duo's persona, the lead host's
    avatar_id         UUID        NOT NULL,
    voice_id          UUID        NOT NULL,
    -- the other host's face
    partner_avatar_id UUID,
    duo_id            UUID,
    definition        JSONB       NOT NULL,
    version           BIGINT      NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    deleted_at        TIMESTAMPTZ,
    CONSTRAINT persona_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS persona_deleted ON persona (deleted_at) WHERE deleted_at IS NOT NULL;

-- Every version that a persona had, the present one too.
CREATE TABLE IF NOT EXISTS persona_version (
    org_id     UUID        NOT NULL,
    persona_id UUID        NOT NULL,
    version    BIGINT      NOT NULL,
    name       TEXT        NOT NULL,
    avatar_id  UUID        NOT NULL,
    voice_id   UUID        NOT NULL,
    definition JSONB       NOT NULL,
    created_by TEXT        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT persona_version_pkey PRIMARY KEY (org_id, persona_id, version)
);

-- An own face made ready to be worn in sessions. A library face needs no row.
CREATE TABLE IF NOT EXISTS face (
    org_id    UUID        NOT NULL,
    avatar_id UUID        NOT NULL,
    -- preparing | ready | failed
    state     TEXT        NOT NULL,
    -- when it was ready; while preparing, when that is expected
    ready_at  TIMESTAMPTZ NOT NULL,
    -- the job that prepares it, or did
    job_id    UUID        NOT NULL,
    -- the pictures that clients load, smallest first
    images    JSONB       NOT NULL,
    CONSTRAINT face_pkey PRIMARY KEY (org_id, avatar_id)
);

CREATE TABLE IF NOT EXISTS duo (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    name       TEXT        NOT NULL,
    -- draft | live | paused
    status     TEXT        NOT NULL,
    hosts      JSONB       NOT NULL,
    languages  TEXT[]      NOT NULL,
    interplay  JSONB       NOT NULL,
    persona_id UUID        NOT NULL,
    live_at    TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    deleted_at TIMESTAMPTZ,
    CONSTRAINT duo_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS duo_deleted ON duo (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS widget (
    org_id       UUID        NOT NULL,
    id           UUID        NOT NULL,
    name         TEXT        NOT NULL,
    persona_id   UUID        NOT NULL,
    enabled      BOOLEAN     NOT NULL,
    definition   JSONB       NOT NULL,
    -- not secret: it is in the pages that show the widget
    public_key   TEXT        NOT NULL,
    last_seen_at TIMESTAMPTZ,
    version      BIGINT      NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    deleted_at   TIMESTAMPTZ,
    CONSTRAINT widget_pkey PRIMARY KEY (org_id, id),
    CONSTRAINT widget_public_key_key UNIQUE (org_id, public_key)
);
CREATE INDEX IF NOT EXISTS widget_by_persona ON widget (org_id, persona_id, id);
CREATE INDEX IF NOT EXISTS widget_deleted ON widget (deleted_at) WHERE deleted_at IS NOT NULL;

-- +goose Down
DROP TABLE IF EXISTS widget;
DROP TABLE IF EXISTS duo;
DROP TABLE IF EXISTS face;
DROP TABLE IF EXISTS persona_version;
DROP TABLE IF EXISTS persona;
