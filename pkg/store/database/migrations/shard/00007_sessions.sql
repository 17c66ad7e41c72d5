-- Live conversations: who runs each, what was said, and what it cost.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS session (
    org_id           UUID        NOT NULL,
    id               UUID        NOT NULL,
    -- created | live | ended | failed | expired
    state            TEXT        NOT NULL,
    kind             TEXT        NOT NULL,
    source           TEXT        NOT NULL,
    persona_id       UUID        NOT NULL,
    persona_version  BIGINT      NOT NULL,
    avatar_id        UUID        NOT NULL,
    voice_id         UUID        NOT NULL,
    duo_id           UUID,
    portal_id        UUID,
    subject_id       UUID,
    widget_id        UUID,
    person_id        UUID,
    external_id      TEXT,
    metadata         JSONB       NOT NULL,
    language         TEXT        NOT NULL,
    engine           TEXT        NOT NULL,
    transport        TEXT        NOT NULL,
    channel          TEXT        NOT NULL,
    sandbox          BOOLEAN     NOT NULL,
    -- what the caller gave for this conversation alone, as JSON
    brief            JSONB       NOT NULL,
    allowed_origins  TEXT[]      NOT NULL,
    max_duration_s   BIGINT      NOT NULL,
    idle_timeout_s   BIGINT      NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    -- until when the place is kept for a client that has not come yet
    connect_by       TIMESTAMPTZ NOT NULL,
    started_at       TIMESTAMPTZ,
    last_activity_at TIMESTAMPTZ,
    ended_at         TIMESTAMPTZ,
    end_reason       TEXT,
    duration_s       BIGINT,
    billed_s         BIGINT,
    turn_count       BIGINT      NOT NULL,
    languages_heard  TEXT[]      NOT NULL,
    outcome          TEXT,
    collected        JSONB       NOT NULL,
    summary          TEXT,
    rating_score     BIGINT,
    rating_scale     BIGINT,
    rating_comment   TEXT,
    -- why nobody may read its words; null where they may be read
    withheld         TEXT,
    on_hold          BOOLEAN     NOT NULL,
    -- a safety rule was met: its words are sent to nobody. Never shown.
    flagged          BOOLEAN     NOT NULL,
    -- until when its words are kept; null for as long as the session is
    words_until      TIMESTAMPTZ,
    -- whether it holds one of the organisation's places
    slot             BOOLEAN     NOT NULL,
    -- the process that runs it; null before, after, and while it has none
    owner            UUID,
    -- grows each time it changes hands: a process that lost it writes nothing
    epoch            BIGINT      NOT NULL,
    -- since when it has no process
    orphaned_at      TIMESTAMPTZ,
    reconnects       BIGINT      NOT NULL,
    CONSTRAINT session_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS session_by_persona ON session (org_id, persona_id, id);
CREATE INDEX IF NOT EXISTS session_by_external ON session (org_id, external_id, id) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_active ON session (org_id, id) WHERE state IN ('created', 'live');
CREATE INDEX IF NOT EXISTS session_waiting ON session (connect_by) WHERE state = 'created';
CREATE INDEX IF NOT EXISTS session_by_owner ON session (owner) WHERE owner IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_orphaned ON session (orphaned_at) WHERE orphaned_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_words ON session (words_until) WHERE words_until IS NOT NULL AND NOT on_hold;

CREATE TABLE IF NOT EXISTS turn (
    org_id      UUID        NOT NULL,
    session_id  UUID        NOT NULL,
    -- where it stands in the conversation, from zero
    ordinal     BIGINT      NOT NULL,
    id          UUID        NOT NULL,
    -- avatar | user | staff
    speaker     TEXT        NOT NULL,
    name        TEXT        NOT NULL,
    text        TEXT        NOT NULL,
    spoken      TEXT        NOT NULL,
    language    TEXT        NOT NULL,
    origin      TEXT        NOT NULL,
    started_at  TIMESTAMPTZ NOT NULL,
    -- null while it is under way
    ended_at    TIMESTAMPTZ,
    interrupted BOOLEAN     NOT NULL,
    -- its words are not kept, or no longer
    redacted    BOOLEAN     NOT NULL,
    sources     JSONB       NOT NULL,
    grounded    BOOLEAN,
    tool_calls  JSONB       NOT NULL,
    timing      JSONB       NOT NULL,
    CONSTRAINT turn_pkey PRIMARY KEY (org_id, session_id, ordinal)
);

-- What lets somebody in: the client, the client again, a team member.
CREATE TABLE IF NOT EXISTS session_token (
    org_id     UUID        NOT NULL,
    hash       BYTEA       NOT NULL,
    session_id UUID        NOT NULL,
    -- client | resume | staff
    kind       TEXT        NOT NULL,
    staff_id   UUID,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT session_token_pkey PRIMARY KEY (org_id, hash)
);
CREATE INDEX IF NOT EXISTS session_token_by_session ON session_token (org_id, session_id);
CREATE INDEX IF NOT EXISTS session_token_by_expiry ON session_token (expires_at);

CREATE TABLE IF NOT EXISTS session_staff (
    org_id     UUID        NOT NULL,
    session_id UUID        NOT NULL,
    id         UUID        NOT NULL,
    name       TEXT        NOT NULL,
    -- listen | speak | takeover
    mode       TEXT        NOT NULL,
    joined_at  TIMESTAMPTZ,
    left_at    TIMESTAMPTZ,
    CONSTRAINT session_staff_pkey PRIMARY KEY (org_id, session_id, id)
);

-- What the process that runs a session is asked to do.
CREATE TABLE IF NOT EXISTS session_command (
    org_id     UUID        NOT NULL,
    session_id UUID        NOT NULL,
    id         UUID        NOT NULL,
    -- whose it is to carry out; null while the session has no process
    owner      UUID,
    kind       TEXT        NOT NULL,
    body       JSONB       NOT NULL,
    CONSTRAINT session_command_pkey PRIMARY KEY (org_id, session_id, id)
);
CREATE INDEX IF NOT EXISTS session_command_by_owner ON session_command (owner, id) WHERE owner IS NOT NULL;

-- The processes that run sessions. This table is the shard's own.
CREATE TABLE IF NOT EXISTS live_pod (
    id          UUID        NOT NULL CONSTRAINT live_pod_pkey PRIMARY KEY,
    -- where the others reach it
    address     TEXT        NOT NULL,
    seen_at     TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);

-- Which grants paid for a block of a session.
CREATE TABLE IF NOT EXISTS minute_debit (
    org_id     UUID   NOT NULL,
    session_id UUID   NOT NULL,
    block      BIGINT NOT NULL,
    grant_id   UUID   NOT NULL,
    seconds    BIGINT NOT NULL,
    CONSTRAINT minute_debit_pkey PRIMARY KEY (org_id, session_id, block, grant_id)
);

-- How many sessions visitors had today, by a mark of their address that is
-- another each day. Rows of other days are deleted.
CREATE TABLE IF NOT EXISTS widget_visitor (
    org_id    UUID   NOT NULL,
    widget_id UUID   NOT NULL,
    day       DATE   NOT NULL,
    visitor   BYTEA  NOT NULL,
    sessions  BIGINT NOT NULL,
    CONSTRAINT widget_visitor_pkey PRIMARY KEY (org_id, widget_id, day, visitor)
);
CREATE INDEX IF NOT EXISTS widget_visitor_by_day ON widget_visitor (day);

-- What a calendar month (UTC, by its first day) used, for the monthly cap.
CREATE TABLE IF NOT EXISTS usage_month (
    org_id  UUID   NOT NULL,
    month   DATE   NOT NULL,
    seconds BIGINT NOT NULL,
    CONSTRAINT usage_month_pkey PRIMARY KEY (org_id, month)
);

-- The warnings that were given.
CREATE TABLE IF NOT EXISTS usage_threshold (
    org_id     UUID        NOT NULL,
    month      DATE        NOT NULL,
    -- held | cap
    kind       TEXT        NOT NULL,
    percent    BIGINT      NOT NULL,
    reached_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT usage_threshold_pkey PRIMARY KEY (org_id, month, kind, percent)
);

-- +goose Down
DROP TABLE IF EXISTS usage_threshold;
DROP TABLE IF EXISTS usage_month;
DROP TABLE IF EXISTS widget_visitor;
DROP TABLE IF EXISTS minute_debit;
DROP TABLE IF EXISTS live_pod;
DROP TABLE IF EXISTS session_command;
DROP TABLE IF EXISTS session_staff;
DROP TABLE IF EXISTS session_token;
DROP TABLE IF EXISTS turn;
DROP TABLE IF EXISTS session;
