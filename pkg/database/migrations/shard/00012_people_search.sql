-- People are found by a part of what they are called, and come in files.

-- +goose Up

-- The beginnings of the words that a person is found by.
CREATE TABLE person_term (
    org_id    UUID NOT NULL,
    term      TEXT NOT NULL,
    person_id UUID NOT NULL,
    CONSTRAINT person_term_pkey PRIMARY KEY (org_id, term, person_id)
);
CREATE INDEX person_term_by_person ON person_term (org_id, person_id);

-- the edition of the person that the terms are of; a lower one than theirs says
-- that the terms are still to be entered
ALTER TABLE person ADD COLUMN terms_edition BIGINT NOT NULL DEFAULT 0;
CREATE INDEX person_without_terms ON person (org_id, id) WHERE terms_edition < edition;

CREATE INDEX unit_by_code ON unit (org_id, portal_id, code) WHERE code IS NOT NULL;

-- the file that a job works from; null once it ended and the file is gone
ALTER TABLE job ADD COLUMN source_id UUID;
-- the file that came of it
ALTER TABLE job ADD COLUMN file_id UUID;
-- the first lines of the source that it refused
ALTER TABLE job ADD COLUMN refused JSONB NOT NULL DEFAULT '[]';
CREATE INDEX job_with_source ON job (finished_at) WHERE source_id IS NOT NULL AND finished_at IS NOT NULL;

-- What a job with a source notes beside its row until it ends.
CREATE TABLE job_note (
    org_id UUID   NOT NULL,
    job_id UUID   NOT NULL,
    number BIGINT NOT NULL,
    -- its form is the kind's
    body   JSONB  NOT NULL,
    CONSTRAINT job_note_pkey PRIMARY KEY (org_id, job_id, number)
);

-- +goose Down
DROP TABLE job_note;
DROP INDEX job_with_source;
ALTER TABLE job DROP COLUMN refused;
ALTER TABLE job DROP COLUMN file_id;
ALTER TABLE job DROP COLUMN source_id;
DROP INDEX unit_by_code;
DROP INDEX person_without_terms;
ALTER TABLE person DROP COLUMN terms_edition;
DROP TABLE person_term;
