-- What learning record stores are told (xAPI).

-- +goose NO TRANSACTION
-- +goose Up

-- Something of somebody's that a record store has, or is to have, a statement of.
CREATE TABLE IF NOT EXISTS record_statement (
    org_id        UUID        NOT NULL,
    connection_id UUID        NOT NULL,
    -- made of kind, object and person
    id            UUID        NOT NULL,
    kind          TEXT        NOT NULL,
    object_id     UUID        NOT NULL,
    -- none once the person is erased: what the store has is voided then
    person_id     UUID,
    -- counts the changes that are to be told; each has a statement of its own
    edition       BIGINT      NOT NULL,
    -- the one that is being told, noted before it is; 0 for none
    sending       BIGINT      NOT NULL,
    -- the last that was told, and whether its statement stands there
    told          BIGINT      NOT NULL,
    stands        BOOLEAN     NOT NULL,
    -- the address of the store that was told
    store         TEXT        NOT NULL,
    -- SHA-256 of what the statement says that stands there, or that is being told; empty where it is not known
    said          TEXT        NOT NULL,
    -- why what is untold is not being told; empty while it is
    trouble       TEXT        NOT NULL,
    -- the job that tells it
    job_id        UUID,
    changed_at    TIMESTAMPTZ NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT record_statement_pkey PRIMARY KEY (org_id, connection_id, id)
);
CREATE INDEX IF NOT EXISTS record_statement_by_person ON record_statement (org_id, person_id) WHERE person_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS record_statement_untold ON record_statement (org_id, connection_id, changed_at) WHERE edition > told;

-- +goose Down
DROP TABLE IF EXISTS record_statement;
