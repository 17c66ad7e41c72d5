-- What is printed of results, to download.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS report (
    org_id      UUID        NOT NULL,
    id          UUID        NOT NULL,
    -- result
    kind        TEXT        NOT NULL,
    result_id   UUID        NOT NULL,
    session_id  UUID        NOT NULL,
    -- what the subject is called
    title       TEXT        NOT NULL,
    language    TEXT        NOT NULL,
    -- html | pdf | json
    format      TEXT        NOT NULL,
    -- building | ready | failed
    state       TEXT        NOT NULL,
    -- counts the reports of the result
    version     BIGINT      NOT NULL,
    -- whether words of the conversation are in it
    words       BOOLEAN     NOT NULL,
    bytes       BIGINT,
    file_id     UUID,
    created_by  TEXT        NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    produced_at TIMESTAMPTZ,
    CONSTRAINT report_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS report_by_result ON report (org_id, result_id, id);
CREATE INDEX IF NOT EXISTS report_by_state ON report (org_id, state, id);
CREATE INDEX IF NOT EXISTS report_by_session ON report (org_id, session_id) WHERE words;

-- +goose Down
DROP TABLE IF EXISTS report;
