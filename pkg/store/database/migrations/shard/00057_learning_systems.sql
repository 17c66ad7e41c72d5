-- What learning platforms are told of results.

-- +goose NO TRANSACTION
-- +goose Up

-- Where somebody came from to a subject, as far as their grade goes back there.
CREATE TABLE IF NOT EXISTS resource_link (
    org_id        UUID        NOT NULL,
    person_id     UUID        NOT NULL,
    subject_id    UUID        NOT NULL,
    -- made of the connection and the line item
    id            UUID        NOT NULL,
    connection_id UUID        NOT NULL,
    -- the platform that it is of, as the connection knew it, and whose alone the line item is
    issuer        TEXT        NOT NULL,
    client_id     TEXT        NOT NULL,
    deployment_id TEXT        NOT NULL,
    -- the platform's name of the person, and where their scores go
    user_id       TEXT        NOT NULL,
    line_item     TEXT        NOT NULL,
    -- counts what is to be told, and what was
    edition       BIGINT      NOT NULL,
    told          BIGINT      NOT NULL,
    -- why what is untold is not being told; empty while it is
    trouble       TEXT        NOT NULL,
    -- the job that tells it
    job_id        UUID,
    -- when the person's results of the subject last changed
    changed_at    TIMESTAMPTZ NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT resource_link_pkey PRIMARY KEY (org_id, person_id, subject_id, id)
);
CREATE INDEX IF NOT EXISTS resource_link_by_connection ON resource_link (org_id, connection_id);
CREATE INDEX IF NOT EXISTS resource_link_untold ON resource_link (org_id, connection_id, changed_at) WHERE edition > told;

-- +goose Down
DROP TABLE IF EXISTS resource_link;
