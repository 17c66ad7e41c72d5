-- What candidates ask for, and lists of the interviews of a role.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS candidate_request (
    org_id       UUID        NOT NULL,
    id           UUID        NOT NULL,
    role_id      UUID        NOT NULL,
    candidate_id UUID        NOT NULL,
    -- accommodation | human_alternative | data_access | correction | erasure | explanation | appeal | retake
    kind         TEXT        NOT NULL,
    -- open | granted | declined | done
    state        TEXT        NOT NULL,
    -- by when it is to be answered
    due_at       TIMESTAMPTZ NOT NULL,
    -- the candidate's words, and those of whoever answered; null for none, and once they are erased
    message      TEXT,
    answer       TEXT,
    -- the person who answered; null before, and where it ended with the candidate's erasure
    decided_by   UUID,
    decided_at   TIMESTAMPTZ,
    edition      BIGINT      NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT candidate_request_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS candidate_request_by_role ON candidate_request (org_id, role_id, id);
CREATE INDEX IF NOT EXISTS candidate_request_by_state ON candidate_request (org_id, role_id, state, id);
CREATE INDEX IF NOT EXISTS candidate_request_by_candidate ON candidate_request (org_id, candidate_id, id);
-- The same is not asked for twice at a time.
CREATE UNIQUE INDEX IF NOT EXISTS candidate_request_open ON candidate_request (org_id, candidate_id, kind) WHERE state = 'open';

CREATE INDEX IF NOT EXISTS screening_by_role ON screening (org_id, role_id, id);

-- +goose Down
DROP INDEX IF EXISTS screening_by_role;
DROP TABLE IF EXISTS candidate_request;
