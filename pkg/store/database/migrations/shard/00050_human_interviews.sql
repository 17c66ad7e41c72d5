-- Interviews of candidates with people: the times that are offered, and the one that was chosen.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS human_interview (
    org_id           UUID        NOT NULL,
    id               UUID        NOT NULL,
    role_id          UUID        NOT NULL,
    candidate_id     UUID        NOT NULL,
    -- offered | booked | cancelled | completed | no_show
    state            TEXT        NOT NULL,
    -- the times that the candidate can choose
    slots            JSONB       NOT NULL,
    -- null before one is chosen
    starts_at        TIMESTAMPTZ,
    ends_at          TIMESTAMPTZ,
    timezone         TEXT        NOT NULL,
    -- video | phone | onsite
    mode             TEXT        NOT NULL,
    interviewer_ids  UUID[]      NOT NULL,
    join_url         TEXT,
    location         TEXT,
    -- whose time it is beside the interviewers'; null where the times were given
    schedule_id      UUID,
    schedule_kind    TEXT        NOT NULL,
    -- counts what calendars are to take over
    sequence         BIGINT      NOT NULL,
    expires_at       TIMESTAMPTZ NOT NULL,
    reason_code      TEXT,
    edition          BIGINT      NOT NULL,
    created_by       TEXT        NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT human_interview_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS human_interview_by_role ON human_interview (org_id, role_id, id);
CREATE INDEX IF NOT EXISTS human_interview_by_candidate ON human_interview (org_id, candidate_id, id);

-- +goose Down
DROP TABLE IF EXISTS human_interview;
