-- A persona is rehearsed before people talk with it.

-- +goose NO TRANSACTION
-- +goose Up

-- Questions that a persona is to answer well.
CREATE TABLE IF NOT EXISTS persona_test (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    persona_id UUID        NOT NULL,
    name       TEXT        NOT NULL,
    question   TEXT        NOT NULL,
    -- null for the persona's, or the question's
    language   TEXT,
    -- what the answer is to hold, and what came of it last; null before
    expect     JSONB       NOT NULL,
    last_run   JSONB,
    enabled    BOOLEAN     NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT persona_test_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS persona_test_by_persona ON persona_test (org_id, persona_id, id);

-- the rehearsals of a persona that are under way
CREATE INDEX IF NOT EXISTS job_rehearsal ON job (org_id, resource_id) WHERE kind = 'simulate' AND finished_at IS NULL;

-- +goose Down
DROP INDEX IF EXISTS job_rehearsal;
DROP TABLE IF EXISTS persona_test;
