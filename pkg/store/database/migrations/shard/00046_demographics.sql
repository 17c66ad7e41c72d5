-- What candidates say of themselves of their own free will, and what was counted of it.

-- +goose NO TRANSACTION
-- +goose Up

-- when somebody first decided for good or to go on, and whether it was to go on; null before
ALTER TABLE candidate ADD COLUMN IF NOT EXISTS settled_at TIMESTAMPTZ;
ALTER TABLE candidate ADD COLUMN IF NOT EXISTS selected BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX IF NOT EXISTS candidate_by_settling ON candidate (org_id, role_id, id) WHERE settled_at IS NOT NULL;

-- the session of the last interview that was held in the visit: what the candidate says of themselves is taken
-- there alone, since others may have their link too
ALTER TABLE portal_visit ADD COLUMN IF NOT EXISTS interview_id UUID;

CREATE TABLE IF NOT EXISTS demographic_role (
    org_id  UUID NOT NULL,
    role_id UUID NOT NULL,
    -- what the ids of its candidates' answers are made with, sealed; null before the first
    secret  BYTEA,
    -- when it is looked at next whether there are enough to count; null for not before another is decided on
    due_at  TIMESTAMPTZ,
    CONSTRAINT demographic_role_pkey PRIMARY KEY (org_id, role_id)
);
CREATE INDEX IF NOT EXISTS demographic_role_by_due ON demographic_role (due_at) WHERE due_at IS NOT NULL;

-- No column leads back to a candidate: the id is a keyed hash of theirs.
CREATE TABLE IF NOT EXISTS demographic_answer (
    org_id UUID  NOT NULL,
    id     UUID  NOT NULL,
    -- what was answered, or that it was counted, of one length, sealed
    sealed BYTEA NOT NULL,
    CONSTRAINT demographic_answer_pkey PRIMARY KEY (org_id, id)
);

-- Candidates who were counted together.
CREATE TABLE IF NOT EXISTS bias_cohort (
    org_id    UUID        NOT NULL,
    id        UUID        NOT NULL,
    portal_id UUID        NOT NULL,
    role_id   UUID        NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    -- how many they were, how many of them were selected, and the same of each category that can be told
    counts    JSONB       NOT NULL,
    CONSTRAINT bias_cohort_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS bias_cohort_by_time ON bias_cohort (org_id, at);
CREATE INDEX IF NOT EXISTS bias_cohort_by_portal ON bias_cohort (org_id, portal_id, at);
CREATE INDEX IF NOT EXISTS bias_cohort_by_role ON bias_cohort (org_id, role_id, at);

-- +goose Down
DROP TABLE IF EXISTS bias_cohort;
DROP TABLE IF EXISTS demographic_answer;
DROP TABLE IF EXISTS demographic_role;
ALTER TABLE portal_visit DROP COLUMN IF EXISTS interview_id;
DROP INDEX IF EXISTS candidate_by_settling;
ALTER TABLE candidate DROP COLUMN IF EXISTS selected;
ALTER TABLE candidate DROP COLUMN IF EXISTS settled_at;
