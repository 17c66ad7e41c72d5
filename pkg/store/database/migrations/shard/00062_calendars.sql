-- The calendars that schedules are kept in too, what is written there, and the tokens by which they are asked.

-- +goose NO TRANSACTION
-- +goose Up

-- The access token of a connection. Who has another one given holds the row until a moment.
CREATE TABLE IF NOT EXISTS connection_token (
    org_id         UUID        NOT NULL,
    connection_id  UUID        NOT NULL,
    -- sealed: the access token, the refresh token that holds now, until when
    token          BYTEA,
    holder         UUID,
    held_until     TIMESTAMPTZ,
    CONSTRAINT connection_token_pkey PRIMARY KEY (org_id, connection_id)
);

-- When the calendar of a schedule is busy, as it was last read.
CREATE TABLE IF NOT EXISTS slot_calendar (
    org_id         UUID        NOT NULL,
    schedule_id    UUID        NOT NULL,
    connection_id  UUID        NOT NULL,
    -- a path at CalDAV, an id at Google
    calendar       TEXT        NOT NULL,
    -- the job that reads it
    job_id         UUID        NOT NULL,
    -- seconds since 1970: from, to, from, to
    busy           BIGINT[]    NOT NULL,
    -- up to when busy is whole, and when it was read; null for not yet
    busy_until     TIMESTAMPTZ,
    read_at        TIMESTAMPTZ,
    -- why it could not be read last; empty for nothing
    error_code     TEXT        NOT NULL,
    CONSTRAINT slot_calendar_pkey PRIMARY KEY (org_id, schedule_id)
);

-- The event of an appointment in a calendar. It is there before anything is written.
CREATE TABLE IF NOT EXISTS slot_event (
    org_id         UUID        NOT NULL,
    -- an item of the inbox, or an interview
    reserved_by    UUID        NOT NULL,
    schedule_id    UUID        NOT NULL,
    connection_id  UUID        NOT NULL,
    calendar       TEXT        NOT NULL,
    -- of the appointment, as it was written; negative for not yet
    sequence       BIGINT      NOT NULL,
    starts_at      TIMESTAMPTZ NOT NULL,
    ends_at        TIMESTAMPTZ NOT NULL,
    written_at     TIMESTAMPTZ NOT NULL,
    -- since when it is not found there
    missing_at     TIMESTAMPTZ,
    CONSTRAINT slot_event_pkey PRIMARY KEY (org_id, reserved_by)
);
CREATE INDEX IF NOT EXISTS slot_event_by_schedule ON slot_event (org_id, schedule_id, ends_at);

-- +goose Down
DROP TABLE IF EXISTS slot_event;
DROP TABLE IF EXISTS slot_calendar;
DROP TABLE IF EXISTS connection_token;
