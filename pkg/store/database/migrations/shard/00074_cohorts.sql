-- Reports of groups: their rows name no result, and what is counted of a group is kept, so that no two
-- reports tell of few people by their difference.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE report ALTER COLUMN result_id DROP NOT NULL;
ALTER TABLE report ALTER COLUMN session_id DROP NOT NULL;
ALTER TABLE report ADD COLUMN IF NOT EXISTS portal_id UUID;
ALTER TABLE report ADD COLUMN IF NOT EXISTS subject_id UUID;
ALTER TABLE report ADD COLUMN IF NOT EXISTS assignment_id UUID;
ALTER TABLE report ADD COLUMN IF NOT EXISTS unit_id UUID;
-- what it is of, unless that is a result
ALTER TABLE report ADD COLUMN IF NOT EXISTS selection TEXT;
CREATE INDEX IF NOT EXISTS report_by_selection ON report (org_id, selection, id) WHERE selection IS NOT NULL;

CREATE TABLE IF NOT EXISTS cohort_figures (
    org_id     UUID        NOT NULL,
    subject_id UUID        NOT NULL,
    -- whom of the subject; empty in the row that the others of the subject are locked by
    selection  TEXT        NOT NULL,
    -- which of its figures; empty in that row
    part       TEXT        NOT NULL,
    -- a digest of what each person had a part in the figures with, in order; in that row, the salt of those
    prints     BYTEA       NOT NULL,
    figures    JSONB       NOT NULL,
    edition    BIGINT      NOT NULL,
    counted_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT cohort_figures_pkey PRIMARY KEY (org_id, subject_id, selection, part)
);

-- +goose Down
DROP TABLE IF EXISTS cohort_figures;
DROP INDEX IF EXISTS report_by_selection;
ALTER TABLE report DROP COLUMN IF EXISTS selection;
ALTER TABLE report DROP COLUMN IF EXISTS unit_id;
ALTER TABLE report DROP COLUMN IF EXISTS assignment_id;
ALTER TABLE report DROP COLUMN IF EXISTS subject_id;
ALTER TABLE report DROP COLUMN IF EXISTS portal_id;
