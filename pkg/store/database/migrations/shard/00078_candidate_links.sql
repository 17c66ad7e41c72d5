-- Links that were mailed to candidates open their invitation beside the one that it was made with.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS candidate_link (
    org_id    UUID        NOT NULL,
    hash      BYTEA       NOT NULL,
    invite_id UUID        NOT NULL,
    made_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT candidate_link_pkey PRIMARY KEY (org_id, hash)
);
CREATE INDEX IF NOT EXISTS candidate_link_by_invite ON candidate_link (org_id, invite_id, made_at);

-- Of requests that are open from before teams were told, they are told as of others.
UPDATE candidate_request SET watch_at = CASE WHEN due_at - INTERVAL '3 days' > now() THEN due_at - INTERVAL '3 days' ELSE due_at END
WHERE state = 'open' AND watch_at IS NULL;

-- +goose Down
DROP TABLE IF EXISTS candidate_link;
