-- Plans for portals, and what jobs are about and left behind.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE job ADD COLUMN IF NOT EXISTS portal_id UUID;
ALTER TABLE job ADD COLUMN IF NOT EXISTS subject_id UUID;
-- what came of it, by what was counted
ALTER TABLE job ADD COLUMN IF NOT EXISTS counts JSONB NOT NULL DEFAULT '{}';

CREATE TABLE IF NOT EXISTS setup_plan (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    -- the portal that it was made into, or is for; null before
    portal_id  UUID,
    -- planning | ready | applying | applied | failed | discarded
    state      TEXT        NOT NULL,
    input      JSONB       NOT NULL,
    proposal   JSONB,
    -- grows with each change of the proposal
    edition    BIGINT      NOT NULL,
    -- whether a model wrote the proposal
    written    BOOLEAN     NOT NULL,
    -- the job that plans or applies it
    job_id     UUID        NOT NULL,
    created_by TEXT        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT setup_plan_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS setup_plan_by_expiry ON setup_plan (expires_at);

-- +goose Down
DROP TABLE IF EXISTS setup_plan;
ALTER TABLE job DROP COLUMN IF EXISTS counts;
ALTER TABLE job DROP COLUMN IF EXISTS subject_id;
ALTER TABLE job DROP COLUMN IF EXISTS portal_id;
