-- Reports of groups: their rows name no result, and what was ever told of results together is kept, so that nothing is told
-- beside which it would be of few people (package cohort).

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

-- One for each subject of which anything was told together. Its row is locked while anything is.
CREATE TABLE IF NOT EXISTS told_ledger (
    org_id     UUID        NOT NULL,
    subject_id UUID        NOT NULL,
    -- of the digests in the other two
    salt       BYTEA       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT told_ledger_pkey PRIMARY KEY (org_id, subject_id)
);

-- Which people, or which of their values, stood in the same figures, as digests.
CREATE TABLE IF NOT EXISTS told_class (
    org_id     UUID  NOT NULL,
    subject_id UUID  NOT NULL,
    kind       TEXT  NOT NULL,
    form       BYTEA NOT NULL,
    CONSTRAINT told_class_pkey PRIMARY KEY (org_id, subject_id, kind)
);

-- What was told last of a group: sums, and digests of whom they were of.
CREATE TABLE IF NOT EXISTS told_figure (
    org_id     UUID  NOT NULL,
    subject_id UUID  NOT NULL,
    -- the id of the subject, the unit or the assignment
    selection  TEXT  NOT NULL,
    kind       TEXT  NOT NULL,
    form       BYTEA NOT NULL,
    CONSTRAINT told_figure_pkey PRIMARY KEY (org_id, subject_id, selection, kind)
);

-- +goose Down
DROP TABLE IF EXISTS told_figure;
DROP TABLE IF EXISTS told_class;
DROP TABLE IF EXISTS told_ledger;
DROP INDEX IF EXISTS report_by_selection;
ALTER TABLE report DROP COLUMN IF EXISTS selection;
ALTER TABLE report DROP COLUMN IF EXISTS unit_id;
ALTER TABLE report DROP COLUMN IF EXISTS assignment_id;
ALTER TABLE report DROP COLUMN IF EXISTS subject_id;
ALTER TABLE report DROP COLUMN IF EXISTS portal_id;
