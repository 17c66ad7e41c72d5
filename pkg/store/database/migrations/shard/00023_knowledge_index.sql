-- What the search needs of a document's passages comes in forms of bounded size, of
-- a generation as the passages are; and what a pack takes of memory is counted.
--
-- knowledge_terms, which had one form for a whole document, stays for a release: the
-- one before reads and writes it while pods are replaced, and after a rollback. Both
-- find what the other read by analyzing its passages anew. The release after this one
-- drops the table.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS knowledge_index (
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
    JOIN knowledge_document d ON d.org_id = t.org_id AND d.id = t.document_id
    ON CONFLICT (org_id, document_id, generation, part) DO NOTHING;

-- How many different terms the passages have, summed up, and a sketch of what the
-- different terms take; zero and empty of documents of before.
ALTER TABLE knowledge_document ADD COLUMN IF NOT EXISTS postings BIGINT NOT NULL DEFAULT 0;
ALTER TABLE knowledge_document ADD COLUMN IF NOT EXISTS vocabulary BYTEA NOT NULL DEFAULT '';
-- The sum of its documents', and a sketch of at least what they have together.
ALTER TABLE knowledge_base ADD COLUMN IF NOT EXISTS postings BIGINT NOT NULL DEFAULT 0;
ALTER TABLE knowledge_base ADD COLUMN IF NOT EXISTS vocabulary BYTEA NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE knowledge_base DROP COLUMN IF EXISTS vocabulary;
ALTER TABLE knowledge_base DROP COLUMN IF EXISTS postings;
ALTER TABLE knowledge_document DROP COLUMN IF EXISTS vocabulary;
ALTER TABLE knowledge_document DROP COLUMN IF EXISTS postings;
DROP TABLE IF EXISTS knowledge_index;
