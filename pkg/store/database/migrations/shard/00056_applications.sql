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
    role_id        UUID        NOT NULL,
    candidate_id   UUID        NOT NULL,
    -- the application's id there; null once the candidate was sent anew
    reference      TEXT,
    -- where the system is told that there is something new; null where it has one address for all
    callback       TEXT,
    -- what it is told: invited | opened | started | in_review | expired | complete | cancelled
    standing       TEXT        NOT NULL,
    standing_at    TIMESTAMPTZ NOT NULL,
    -- of the interview that was released; null of none
    percent        DOUBLE PRECISION,
    band           TEXT,
    -- counts the standings, and told is the last one that the system knows
    edition        BIGINT      NOT NULL,
    told           BIGINT      NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT candidate_application_pkey PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX IF NOT EXISTS candidate_application_by_reference ON candidate_application (org_id, connection_id, role_id, reference);
CREATE INDEX IF NOT EXISTS candidate_application_by_candidate ON candidate_application (org_id, candidate_id);

-- +goose Down
DROP TABLE IF EXISTS candidate_application;
ALTER TABLE candidate DROP COLUMN IF EXISTS tracked;
