-- Events that are committed and have no place in the log yet. Whoever reads the log or
-- delivers gives them one: takes them from here, in order, and enters them as rows of event
-- with their deliveries. So the commits of an organization do not wait for each other.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS event_staged (
    org_id       UUID        NOT NULL,
    id           UUID        NOT NULL,
    -- by which they are ordered, in seconds of the server's clock, and place among those of
    -- one commit; on CockroachDB the timestamp of the row itself comes first
    committed_at DECIMAL     NOT NULL,
    place        BIGINT      NOT NULL,
    type         TEXT        NOT NULL,
    at           TIMESTAMPTZ NOT NULL,
    session_id   UUID,
    subject_id   UUID,
    -- the one webhook that receives it; null for all that subscribe
    webhook_id   UUID,
    data         JSONB       NOT NULL,
    CONSTRAINT event_staged_pkey PRIMARY KEY (org_id, id)
);
-- place is never negative. The condition keeps what deletes by the key from scanning all of an
-- organization's here, where the two seem to cost the same.
CREATE INDEX IF NOT EXISTS event_staged_order ON event_staged (org_id, committed_at, place) WHERE place >= 0;

-- +goose Down
DROP TABLE IF EXISTS event_staged;
