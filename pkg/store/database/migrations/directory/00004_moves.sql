-- Organisations on their way from one shard to another.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS org_move (
    -- an organisation has one move at a time; the last one stays for the record
    org_id      UUID        NOT NULL CONSTRAINT org_move_pkey PRIMARY KEY,
    from_shard  TEXT        NOT NULL,
    to_shard    TEXT        NOT NULL,
    -- which of the steps of package move is next, and since when
    phase       TEXT        NOT NULL,
    phase_at    TIMESTAMPTZ NOT NULL,
    -- when something of it was done the last time
    progress_at TIMESTAMPTZ NOT NULL,
    -- how far the step is; its form is package move's
    cursor      JSONB       NOT NULL,
    -- it is to be undone
    cancelled   BOOLEAN     NOT NULL,
    -- what keeps it, or ended it; empty where nothing does
    problem     TEXT        NOT NULL,
    asked_by    TEXT        NOT NULL,
    asked_at    TIMESTAMPTZ NOT NULL,
    -- when there is something to do; null once it ended
    due_at      TIMESTAMPTZ,
    -- who does it, and until when that is believed
    lease_owner UUID,
    lease_until TIMESTAMPTZ NOT NULL
);
CREATE INDEX IF NOT EXISTS org_move_due ON org_move (due_at) WHERE due_at IS NOT NULL;

-- +goose Down
DROP TABLE IF EXISTS org_move;
