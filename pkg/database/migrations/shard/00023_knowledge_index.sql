-- What the search needs of a document's passages comes in forms of bounded size, of
-- a generation as the passages are; and what a pack takes of memory is counted.

-- +goose Up
CREATE TABLE knowledge_index (
    org_id      UUID   NOT NULL,
    document_id UUID   NOT NULL,
    generation  BIGINT NOT NULL,
    -- counts from zero
    part        BIGINT NOT NULL,
    form        BYTEA  NOT NULL,
    CONSTRAINT knowledge_index_pkey PRIMARY KEY (org_id, document_id, generation, part)
);
INSERT INTO knowledge_index (org_id, document_id, generation, part, form)
    SELECT t.org_id, t.document_id, d.generation, 0, t.analysed FROM knowledge_terms t
    JOIN knowledge_document d ON d.org_id = t.org_id AND d.id = t.document_id;
DROP TABLE knowledge_terms;

-- How many different terms the passages have, summed up, and a sketch of what the
-- different terms take; zero and empty of documents of before.
ALTER TABLE knowledge_document ADD COLUMN postings BIGINT NOT NULL DEFAULT 0;
ALTER TABLE knowledge_document ADD COLUMN vocabulary BYTEA NOT NULL DEFAULT '';
-- The sum of its documents', and a sketch of at least what they have together.
ALTER TABLE knowledge_base ADD COLUMN postings BIGINT NOT NULL DEFAULT 0;
ALTER TABLE knowledge_base ADD COLUMN vocabulary BYTEA NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE knowledge_base DROP COLUMN vocabulary;
ALTER TABLE knowledge_base DROP COLUMN postings;
ALTER TABLE knowledge_document DROP COLUMN vocabulary;
ALTER TABLE knowledge_document DROP COLUMN postings;
CREATE TABLE knowledge_terms (
    org_id      UUID  NOT NULL,
    document_id UUID  NOT NULL,
    analysed    BYTEA NOT NULL,
    CONSTRAINT knowledge_terms_pkey PRIMARY KEY (org_id, document_id)
);
INSERT INTO knowledge_terms (org_id, document_id, analysed)
    SELECT x.org_id, x.document_id, x.form FROM knowledge_index x
    JOIN knowledge_document d ON d.org_id = x.org_id AND d.id = x.document_id AND d.generation = x.generation
    WHERE x.part = 0;
DROP TABLE knowledge_index;
