-- Portals and their subjects: the drafts that are worked on, and the versions
-- that were published, which never change.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS portal (
    org_id            UUID        NOT NULL,
    id                UUID        NOT NULL,
    name              TEXT        NOT NULL,
    -- where its page is: unique in the directory, which routes by it
    slug              TEXT        NOT NULL,
    -- the slugs it had before, whose addresses lead to the one of now
    former_slugs      TEXT[]      NOT NULL DEFAULT '{}',
    -- a host of the customer's own, or empty
    host              TEXT        NOT NULL,
    -- learning | support | sales | hiring | reception | custom
    kind              TEXT        NOT NULL,
    template_key      TEXT        NOT NULL,
    -- draft | published | unpublished | archived
    state             TEXT        NOT NULL,
    -- who speaks
    persona_id        UUID        NOT NULL,
    -- the draft
    definition        JSONB       NOT NULL,
    -- grows with each change of the draft
    draft_version     BIGINT      NOT NULL,
    -- the version of portal_version that visitors see; null before the first
    published_version BIGINT,
    published_at      TIMESTAMPTZ,
    -- grows with everything that changes what visitors see
    page_stamp        BIGINT      NOT NULL,
    managed_by        TEXT        NOT NULL DEFAULT 'api',
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    archived_at       TIMESTAMPTZ,
    CONSTRAINT portal_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS portal_by_persona ON portal (org_id, persona_id, id);

CREATE TABLE IF NOT EXISTS portal_version (
    org_id       UUID        NOT NULL,
    portal_id    UUID        NOT NULL,
    -- the draft_version that was published
    version      BIGINT      NOT NULL,
    name         TEXT        NOT NULL,
    persona_id   UUID        NOT NULL,
    definition   JSONB       NOT NULL,
    published_at TIMESTAMPTZ NOT NULL,
    published_by TEXT        NOT NULL,
    change_note  TEXT,
    CONSTRAINT portal_version_pkey PRIMARY KEY (org_id, portal_id, version)
);
CREATE INDEX IF NOT EXISTS portal_version_by_persona ON portal_version (org_id, persona_id, portal_id, version);

-- The ways in. They are no part of the draft: a door that is closed is closed now.
CREATE TABLE IF NOT EXISTS portal_door (
    org_id     UUID        NOT NULL,
    portal_id  UUID        NOT NULL,
    -- visitors | members_link | join_code | sso | embed | customers | staff | candidates
    key        TEXT        NOT NULL,
    open       BOOLEAN     NOT NULL,
    requires   TEXT[]      NOT NULL,
    message    TEXT,
    -- of a join code
    code       TEXT,
    changed_at TIMESTAMPTZ NOT NULL,
    changed_by TEXT        NOT NULL,
    CONSTRAINT portal_door_pkey PRIMARY KEY (org_id, portal_id, key)
);

CREATE TABLE IF NOT EXISTS subject (
    org_id            UUID        NOT NULL,
    id                UUID        NOT NULL,
    portal_id         UUID        NOT NULL,
    title             TEXT        NOT NULL,
    -- course | topic | practice | assessment | screening | faq | guide
    kind              TEXT        NOT NULL,
    -- draft | published | archived
    state             TEXT        NOT NULL,
    -- its place among the portal's subjects, from zero
    place             BIGINT      NOT NULL,
    -- what it is, besides its content
    definition        JSONB       NOT NULL,
    -- grows with each change of title and definition, for If-Match
    edition           BIGINT      NOT NULL,
    -- the versions of subject_version: the last that was saved, and the one that
    -- people are taught from; null before the first
    draft_version     BIGINT      NOT NULL,
    published_version BIGINT,
    published_at      TIMESTAMPTZ,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    archived_at       TIMESTAMPTZ,
    CONSTRAINT subject_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS subject_by_portal ON subject (org_id, portal_id, place, id);

-- Every content that was saved: what was overwritten can be restored.
CREATE TABLE IF NOT EXISTS subject_version (
    org_id           UUID        NOT NULL,
    subject_id       UUID        NOT NULL,
    version          BIGINT      NOT NULL,
    -- the version that it was made from; zero of the first
    base_version     BIGINT      NOT NULL,
    content          JSONB       NOT NULL,
    changed_sections TEXT[]      NOT NULL,
    change_note      TEXT,
    saved_at         TIMESTAMPTZ NOT NULL,
    saved_by         TEXT        NOT NULL,
    published_at     TIMESTAMPTZ,
    published_by     TEXT,
    CONSTRAINT subject_version_pkey PRIMARY KEY (org_id, subject_id, version)
);

ALTER TABLE widget ADD COLUMN IF NOT EXISTS portal_id UUID;
CREATE INDEX IF NOT EXISTS widget_by_portal ON widget (org_id, portal_id, id) WHERE portal_id IS NOT NULL AND deleted_at IS NULL;

-- +goose Down
DROP INDEX IF EXISTS widget_by_portal;
ALTER TABLE widget DROP COLUMN IF EXISTS portal_id;
DROP TABLE IF EXISTS subject_version;
DROP TABLE IF EXISTS subject;
DROP TABLE IF EXISTS portal_door;
DROP TABLE IF EXISTS portal_version;
DROP TABLE IF EXISTS portal;
