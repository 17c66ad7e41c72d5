-- Candidates whom an applicant tracking system sent, and what it was told of them.

-- +goose NO TRANSACTION
-- +goose Up

-- whether there is a row of candidate_application
ALTER TABLE candidate ADD COLUMN IF NOT EXISTS tracked BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE IF NOT EXISTS candidate_application (
    org_id         UUID        NOT NULL,
    -- the invite's
    id             UUID        NOT NULL,
    connection_id  UUID        NOT NULL,
    -- where the connection goes: another one there goes on with it once this one is deleted
    provider       TEXT        NOT NULL,
    address        TEXT        NOT NULL,
    role_id        UUID        NOT NULL,
    candidate_id   UUID        NOT NULL,
    -- the application's id there; null once the candidate was sent anew
    reference      TEXT,
    -- where the system is told that it is complete, by each time that it sent them; empty where it has one address for all
    callbacks      TEXT[]      NOT NULL,
    -- what it is told: invited | opened | started | in_review | expired | complete | cancelled
    standing       TEXT        NOT NULL,
    standing_at    TIMESTAMPTZ NOT NULL,
    -- what it is told once it is complete, as it was decided then; null of nothing
    percent        DOUBLE PRECISION,
    band           TEXT,
    profile_url    TEXT,
    -- counts the standings; acknowledged is the last one that the system took, and dispatched the
    -- last one that no job has to tell any more
    edition        BIGINT      NOT NULL,
    dispatched     BIGINT      NOT NULL,
    acknowledged   BIGINT      NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT candidate_application_pkey PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX IF NOT EXISTS candidate_application_by_reference ON candidate_application (org_id, role_id, reference, connection_id);
CREATE INDEX IF NOT EXISTS candidate_application_by_candidate ON candidate_application (org_id, candidate_id);

-- +goose Down
DROP TABLE IF EXISTS candidate_application;
ALTER TABLE candidate DROP COLUMN IF EXISTS tracked;
