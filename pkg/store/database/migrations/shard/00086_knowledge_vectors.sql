-- Packs whose passages are also found by what they mean: vectors that a connection of the
-- organization's makes.

-- +goose NO TRANSACTION
-- +goose Up

-- The connection that makes the vectors of a pack; NULL for none. job_id is the job that makes
-- them now, done_at when it was last seen that none is missing, due_at when it is tried again,
-- and error_code why it was not done.
ALTER TABLE knowledge_base ADD COLUMN IF NOT EXISTS embedding_connection_id UUID;
ALTER TABLE knowledge_base ADD COLUMN IF NOT EXISTS embedding_job_id UUID;
ALTER TABLE knowledge_base ADD COLUMN IF NOT EXISTS embedding_done_at TIMESTAMPTZ;
ALTER TABLE knowledge_base ADD COLUMN IF NOT EXISTS embedding_due_at TIMESTAMPTZ;
ALTER TABLE knowledge_base ADD COLUMN IF NOT EXISTS embedding_error TEXT NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS knowledge_base_by_embedding ON knowledge_base (org_id, embedding_connection_id)
    WHERE embedding_connection_id IS NOT NULL;

-- Of which generation of a document the vectors are, and with which others they can be compared.
ALTER TABLE knowledge_document ADD COLUMN IF NOT EXISTS embedded_generation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE knowledge_document ADD COLUMN IF NOT EXISTS embedded_space TEXT NOT NULL DEFAULT '';

-- The vectors of a document's passages, some hundreds in a part (package vector).
CREATE TABLE IF NOT EXISTS knowledge_vector (
    org_id      UUID   NOT NULL,
    document_id UUID   NOT NULL,
    generation  BIGINT NOT NULL,
    part        BIGINT NOT NULL,
    space       TEXT   NOT NULL,
    form        BYTEA  NOT NULL,
    CONSTRAINT knowledge_vector_pkey PRIMARY KEY (org_id, document_id, generation, part)
);

-- +goose Down
DROP TABLE IF EXISTS knowledge_vector;
ALTER TABLE knowledge_document DROP COLUMN IF EXISTS embedded_space;
ALTER TABLE knowledge_document DROP COLUMN IF EXISTS embedded_generation;
DROP INDEX IF EXISTS knowledge_base_by_embedding;
ALTER TABLE knowledge_base DROP COLUMN IF EXISTS embedding_error;
ALTER TABLE knowledge_base DROP COLUMN IF EXISTS embedding_due_at;
ALTER TABLE knowledge_base DROP COLUMN IF EXISTS embedding_done_at;
ALTER TABLE knowledge_base DROP COLUMN IF EXISTS embedding_job_id;
ALTER TABLE knowledge_base DROP COLUMN IF EXISTS embedding_connection_id;
