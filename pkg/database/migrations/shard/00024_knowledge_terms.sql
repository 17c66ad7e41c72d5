-- The forms of bounded size have taken the place of one for a whole document.

-- +goose NO TRANSACTION
-- +goose Up
DROP TABLE IF EXISTS knowledge_terms;

-- +goose Down
CREATE TABLE IF NOT EXISTS knowledge_terms (
    org_id      UUID  NOT NULL,
    document_id UUID  NOT NULL,
    analysed    BYTEA NOT NULL,
    CONSTRAINT knowledge_terms_pkey PRIMARY KEY (org_id, document_id)
);
INSERT INTO knowledge_terms (org_id, document_id, analysed)
    SELECT x.org_id, x.document_id, x.form FROM knowledge_index x
    JOIN knowledge_document d ON d.org_id = x.org_id AND d.id = x.document_id AND d.generation = x.generation
    WHERE x.part = 0
    ON CONFLICT (org_id, document_id) DO NOTHING;
