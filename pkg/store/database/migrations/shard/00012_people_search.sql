-- People are found by a part of what they are called, and come in files.

-- +goose NO TRANSACTION
-- +goose Up

-- The beginnings of the words that a person is found by.
CREATE TABLE IF NOT EXISTS person_term (
    org_id    UUID NOT NULL,
    term      TEXT NOT NULL,
    person_id UUID NOT NULL,
    CONSTRAINT person_term_pkey PRIMARY KEY (org_id, term, person_id)
);
CREATE INDEX IF NOT EXISTS person_term_by_person ON person_term (org_id, person_id);

-- the edition of the person that the terms are of; a lower one than theirs says
-- that the terms are still to be entered
ALTER TABLE person ADD COLUMN IF NOT EXISTS terms_edition BIGINT NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS person_without_terms ON person (org_id, id) WHERE terms_edition < edition;

CREATE INDEX IF NOT EXISTS unit_by_code ON unit (org_id, portal_id, code) WHERE code IS NOT NULL;

-- the file that a job works from; null once it ended and the file is gone
ALTER TABLE job ADD COLUMN IF NOT EXISTS source_id UUID;
-- the file that came of it
ALTER TABLE job ADD COLUMN IF NOT EXISTS file_id UUID;
-- the first lines of the source that it refused
ALTER TABLE job ADD COLUMN IF NOT EXISTS refused JSONB NOT NULL DEFAULT '[]';
CREATE INDEX IF NOT EXISTS job_with_source ON job (finished_at) WHERE source_id IS NOT NULL AND finished_at IS NOT NULL;

-- What a job with a source notes beside its row until it ends.
CREATE TABLE IF NOT EXISTS job_note (
    org_id UUID   NOT NULL,
    job_id UUID   NOT NULL,
    number BIGINT NOT NULL,
    -- its form is the kind's
    body   JSONB  NOT NULL,
    CONSTRAINT job_note_pkey PRIMARY KEY (org_id, job_id, number)
);

-- +goose Down
DROP TABLE IF EXISTS job_note;
DROP INDEX IF EXISTS job_with_source;
ALTER TABLE job DROP COLUMN IF EXISTS refused;
ALTER TABLE job DROP COLUMN IF EXISTS file_id;
ALTER TABLE job DROP COLUMN IF EXISTS source_id;
DROP INDEX IF EXISTS unit_by_code;
DROP INDEX IF EXISTS person_without_terms;
ALTER TABLE person DROP COLUMN IF EXISTS terms_edition;
DROP TABLE IF EXISTS person_term;
