-- Knowledge packs, their documents and passages, and the questions that they
-- do not answer.

-- +goose NO TRANSACTION
-- +goose Up

-- Heavy jobs wait in a line of their own.
ALTER TABLE job ADD COLUMN IF NOT EXISTS heavy BOOLEAN NOT NULL DEFAULT false;
DROP INDEX IF EXISTS job_due;
CREATE INDEX IF NOT EXISTS job_due_in_line ON job (heavy, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS knowledge_base (
    org_id      UUID        NOT NULL,
    id          UUID        NOT NULL,
    name        TEXT        NOT NULL,
    description TEXT,
    language    TEXT,
    -- kept with the documents: how many there are, how many of them are ready
    -- and how many failed, their bytes and passages
    documents   BIGINT      NOT NULL,
    ready       BIGINT      NOT NULL,
    failed      BIGINT      NOT NULL,
    bytes       BIGINT      NOT NULL,
    chunks      BIGINT      NOT NULL,
    -- grows with every change of what can be found in it
    revision    BIGINT      NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    deleted_at  TIMESTAMPTZ,
    CONSTRAINT knowledge_base_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS knowledge_base_deleted ON knowledge_base (deleted_at) WHERE deleted_at IS NOT NULL;

-- Which personas and portals answer from a pack.
CREATE TABLE IF NOT EXISTS knowledge_use (
    org_id    UUID NOT NULL,
    base_id   UUID NOT NULL,
    -- persona | portal
    user_kind TEXT NOT NULL,
    user_id   UUID NOT NULL,
    CONSTRAINT knowledge_use_pkey PRIMARY KEY (org_id, base_id, user_kind, user_id)
);

CREATE TABLE IF NOT EXISTS knowledge_document (
    org_id         UUID        NOT NULL,
    id             UUID        NOT NULL,
    base_id        UUID        NOT NULL,
    -- file | url | text
    kind           TEXT        NOT NULL,
    title          TEXT        NOT NULL,
    -- whether the title was given, and is not to be replaced by the document's own
    titled         BOOLEAN     NOT NULL,
    -- processing | ready | failed
    status         TEXT        NOT NULL,
    -- of the last reading; empty when it went well. A document that is ready
    -- can have one: its refresh failed.
    error_code     TEXT        NOT NULL,
    url            TEXT,
    filename       TEXT,
    content_type   TEXT        NOT NULL,
    bytes          BIGINT      NOT NULL,
    -- of the content; empty while it is not known
    sha256         BYTEA       NOT NULL,
    -- what another document of the pack must not have: the content's hash, or
    -- for an address the hash of that
    same_key       BYTEA       NOT NULL,
    file_id        UUID,
    pages          BIGINT,
    chunks         BIGINT      NOT NULL,
    language       TEXT,
    tags           TEXT[]      NOT NULL,
    -- none | daily | weekly
    refresh        TEXT        NOT NULL,
    crawl_depth    BIGINT      NOT NULL,
    -- zero when the one page is meant
    crawl_pages    BIGINT      NOT NULL,
    fetched_at     TIMESTAMPTZ,
    refresh_due_at TIMESTAMPTZ,
    -- the job that reads it; null when none does
    job_id         UUID,
    -- which set of passages can be found; zero before the first
    generation     BIGINT      NOT NULL,
    -- the pack's revision when what can be found of it changed last
    revision       BIGINT      NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    deleted_at     TIMESTAMPTZ,
    CONSTRAINT knowledge_document_pkey PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX IF NOT EXISTS knowledge_document_same_key ON knowledge_document (org_id, base_id, same_key) WHERE deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS knowledge_document_by_base ON knowledge_document (org_id, base_id, id) WHERE deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS knowledge_document_by_revision ON knowledge_document (org_id, base_id, revision);
CREATE INDEX IF NOT EXISTS knowledge_document_refresh ON knowledge_document (refresh_due_at)
    WHERE refresh_due_at IS NOT NULL AND job_id IS NULL AND deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS knowledge_document_deleted ON knowledge_document (deleted_at) WHERE deleted_at IS NOT NULL;

-- What the search needs of a ready document's passages.
CREATE TABLE IF NOT EXISTS knowledge_terms (
    org_id      UUID  NOT NULL,
    document_id UUID  NOT NULL,
    analysed    BYTEA NOT NULL,
    CONSTRAINT knowledge_terms_pkey PRIMARY KEY (org_id, document_id)
);

-- The passages. Those of the document's generation are the ones that can be
-- found; those of the next one are being written.
CREATE TABLE IF NOT EXISTS knowledge_chunk (
    org_id      UUID   NOT NULL,
    document_id UUID   NOT NULL,
    generation  BIGINT NOT NULL,
    position    BIGINT NOT NULL,
    id          UUID   NOT NULL,
    heading     TEXT   NOT NULL,
    text        TEXT   NOT NULL,
    page        BIGINT,
    url         TEXT,
    CONSTRAINT knowledge_chunk_pkey PRIMARY KEY (org_id, document_id, generation, position)
);
CREATE UNIQUE INDEX IF NOT EXISTS knowledge_chunk_by_id ON knowledge_chunk (org_id, id);

-- Documents whose passages up to a generation are to be deleted.
CREATE TABLE IF NOT EXISTS knowledge_litter (
    org_id      UUID   NOT NULL,
    document_id UUID   NOT NULL,
    generation  BIGINT NOT NULL,
    CONSTRAINT knowledge_litter_pkey PRIMARY KEY (org_id, document_id, generation)
);

-- Questions that the packs do not answer; those that mean the same are one.
CREATE TABLE IF NOT EXISTS knowledge_gap (
    org_id                UUID        NOT NULL,
    id                    UUID        NOT NULL,
    same_key              BYTEA       NOT NULL,
    -- open | answered | dismissed
    state                 TEXT        NOT NULL,
    questions             BIGINT      NOT NULL,
    language              TEXT        NOT NULL,
    base_ids              UUID[]      NOT NULL,
    persona_id            UUID,
    portal_id             UUID,
    suggested_document_id UUID,
    first_seen_at         TIMESTAMPTZ NOT NULL,
    last_seen_at          TIMESTAMPTZ NOT NULL,
    -- when an event told of it last, and a mark of who recorded that
    told_at               TIMESTAMPTZ NOT NULL,
    told_by               UUID        NOT NULL,
    updated_at            TIMESTAMPTZ NOT NULL,
    CONSTRAINT knowledge_gap_pkey PRIMARY KEY (org_id, id),
    CONSTRAINT knowledge_gap_same_key UNIQUE (org_id, same_key)
);

-- Some of a gap's questions, in their words.
CREATE TABLE IF NOT EXISTS knowledge_question (
    org_id     UUID        NOT NULL,
    gap_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    session_id UUID,
    text       TEXT        NOT NULL,
    -- whether the words may not leave in events
    withheld   BOOLEAN     NOT NULL,
    asked_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT knowledge_question_pkey PRIMARY KEY (org_id, gap_id, id)
);
CREATE INDEX IF NOT EXISTS knowledge_question_by_session ON knowledge_question (org_id, session_id) WHERE session_id IS NOT NULL;

-- +goose Down
DROP TABLE IF EXISTS knowledge_question;
DROP TABLE IF EXISTS knowledge_gap;
DROP TABLE IF EXISTS knowledge_litter;
DROP TABLE IF EXISTS knowledge_chunk;
DROP TABLE IF EXISTS knowledge_terms;
DROP TABLE IF EXISTS knowledge_document;
DROP TABLE IF EXISTS knowledge_use;
DROP TABLE IF EXISTS knowledge_base;
DROP INDEX IF EXISTS job_due_in_line;
CREATE INDEX IF NOT EXISTS job_due ON job (due_at) WHERE due_at IS NOT NULL;
ALTER TABLE job DROP COLUMN IF EXISTS heavy;
