-- The event log, webhooks, and the delivery of one to the other.

-- +goose NO TRANSACTION
-- +goose Up

-- The id of an event is greater than every id the organisation's log had
-- before, in the order of the commits. So the key is the order of the log.
CREATE TABLE IF NOT EXISTS event (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    type       TEXT        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    session_id UUID,
    subject_id UUID,
    -- data's fields of the class structure; the other classes are read from
    -- the live rows each time the event is shown or sent
    data       JSONB       NOT NULL,
    CONSTRAINT event_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS event_by_type ON event (org_id, type, id);
CREATE INDEX IF NOT EXISTS event_by_session ON event (org_id, session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS event_by_subject ON event (org_id, subject_id, id) WHERE subject_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS webhook (
    org_id               UUID        NOT NULL,
    id                   UUID        NOT NULL,
    url                  TEXT        NOT NULL,
    description          TEXT,
    -- types, or the one item *
    events               TEXT[]      NOT NULL,
    include_conversation BOOLEAN     NOT NULL,
    active               BOOLEAN     NOT NULL,
    -- when it was paused after failing every delivery for three days
    paused_at            TIMESTAMPTZ,
    -- the first failed attempt since the last delivered one, or since it was resumed
    failing_since        TIMESTAMPTZ,
    api_version          TEXT        NOT NULL,
    -- both sealed; the previous one signs too until its time
    secret               BYTEA       NOT NULL,
    previous_secret      BYTEA,
    previous_until       TIMESTAMPTZ,
    created_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL,
    -- a deleted webhook stays until its delivery log is swept
    deleted_at           TIMESTAMPTZ,
    CONSTRAINT webhook_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS webhook_deleted ON webhook (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS webhook_failing ON webhook (failing_since) WHERE failing_since IS NOT NULL OR paused_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS delivery (
    org_id           UUID        NOT NULL,
    id               UUID        NOT NULL,
    webhook_id       UUID        NOT NULL,
    event_id         UUID        NOT NULL,
    type             TEXT        NOT NULL,
    -- the contract of the webhook when the event happened: it keeps it when
    -- the webhook moves to another
    api_version      TEXT        NOT NULL,
    -- pending | retrying | delivered | failed
    state            TEXT        NOT NULL,
    attempts         BIGINT      NOT NULL,
    -- of the last attempt
    status           BIGINT,
    response_ms      BIGINT,
    error_code       TEXT,
    created_at       TIMESTAMPTZ NOT NULL,
    -- from which the retries count; null before it
    first_attempt_at TIMESTAMPTZ,
    -- when the next attempt is to be made; null when none is
    due_at           TIMESTAMPTZ,
    -- every attempt, oldest first
    log              JSONB       NOT NULL,
    -- the job that opened it again
    job_id           UUID,
    CONSTRAINT delivery_pkey PRIMARY KEY (org_id, id),
    -- an event reaches a webhook through one delivery
    CONSTRAINT delivery_event_key UNIQUE (org_id, event_id, webhook_id)
);
CREATE INDEX IF NOT EXISTS delivery_by_webhook ON delivery (org_id, webhook_id, id);
CREATE INDEX IF NOT EXISTS delivery_due ON delivery (webhook_id, due_at, id) WHERE due_at IS NOT NULL;
-- those a job opened that have not been attempted since
CREATE INDEX IF NOT EXISTS delivery_by_job ON delivery (org_id, job_id)
    WHERE job_id IS NOT NULL AND due_at IS NOT NULL AND first_attempt_at IS NULL;

-- Who delivers: the webhooks of a shard fall into lanes by their ids, and a
-- worker holds a lane by a lease. These two tables are the shard's own.
CREATE TABLE IF NOT EXISTS delivery_lane (
    lane        BIGINT      NOT NULL CONSTRAINT delivery_lane_pkey PRIMARY KEY,
    owner       UUID,
    -- grows each time the lane changes hands
    epoch       BIGINT      NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);
INSERT INTO delivery_lane (lane, epoch, lease_until)
SELECT lane, 0, TIMESTAMPTZ '2000-01-01T00:00:00Z' FROM generate_series(0, 31) AS g (lane)
ON CONFLICT (lane) DO NOTHING;

CREATE TABLE IF NOT EXISTS delivery_worker (
    id          UUID        NOT NULL CONSTRAINT delivery_worker_pkey PRIMARY KEY,
    lease_until TIMESTAMPTZ NOT NULL
);

-- Work that outlasts a request.
CREATE TABLE IF NOT EXISTS job (
    org_id        UUID        NOT NULL,
    id            UUID        NOT NULL,
    kind          TEXT        NOT NULL,
    -- queued | running | succeeded | failed | cancelled
    state         TEXT        NOT NULL,
    -- what it is to do, and how far it got; their form is the kind's
    input         JSONB       NOT NULL,
    progress      JSONB       NOT NULL,
    done          BIGINT      NOT NULL,
    total         BIGINT      NOT NULL,
    resource_kind TEXT        NOT NULL,
    resource_id   TEXT        NOT NULL,
    -- a key that holds this scope may see the job
    scope         TEXT        NOT NULL,
    error_code    TEXT        NOT NULL,
    attempts      BIGINT      NOT NULL,
    created_by    TEXT        NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    started_at    TIMESTAMPTZ,
    finished_at   TIMESTAMPTZ,
    -- who runs it and until when that is believed; null once it ended
    owner         UUID,
    due_at        TIMESTAMPTZ,
    CONSTRAINT job_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS job_due ON job (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS job_finished ON job (finished_at) WHERE finished_at IS NOT NULL;

-- +goose Down
DROP TABLE IF EXISTS job;
DROP TABLE IF EXISTS delivery_worker;
DROP TABLE IF EXISTS delivery_lane;
DROP TABLE IF EXISTS delivery;
DROP TABLE IF EXISTS webhook;
DROP TABLE IF EXISTS event;
