-- Work that is set for people, whose it is, and how far they got with it.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS assignment (
    org_id           UUID        NOT NULL,
    id               UUID        NOT NULL,
    title            TEXT        NOT NULL,
    subject_id       UUID        NOT NULL,
    portal_id        UUID        NOT NULL,
    -- learn | practice | assess
    kind             TEXT        NOT NULL,
    -- scheduled | open | closed | archived
    state            TEXT        NOT NULL,
    unit_ids         UUID[]      NOT NULL,
    person_ids       UUID[]      NOT NULL,
    everyone         BOOLEAN     NOT NULL,
    opens_at         TIMESTAMPTZ,
    due_at           TIMESTAMPTZ,
    closes_at        TIMESTAMPTZ,
    -- the zone whose calendar months and reminders go by, where the person's is not known
    timezone         TEXT        NOT NULL,
    -- null where it does not recur, and once the next one was made
    every_months     BIGINT,
    -- when the first of a row opened, was due and closed, and how many came before this one:
    -- months are counted from the first, so that a 31st stays one
    first_opens_at   TIMESTAMPTZ,
    first_due_at     TIMESTAMPTZ,
    first_closes_at  TIMESTAMPTZ,
    occurrence       BIGINT      NOT NULL,
    attempts_allowed BIGINT,
    pass_percent     BIGINT,
    required         BOOLEAN     NOT NULL,
    -- days before it is due
    reminders        BIGINT[]    NOT NULL,
    -- when somebody last asked to have all reminded who are not done
    remind_all_at    TIMESTAMPTZ,
    -- when the clock changes something of it next; null for never
    turn_at          TIMESTAMPTZ,
    -- when its people are looked through next, after whom, and how often places of the portal
    -- had changed when that last began; null for never
    walk_at          TIMESTAMPTZ,
    walk_after       UUID,
    places           BIGINT      NOT NULL,
    archived_at      TIMESTAMPTZ,
    -- the id of a key, or platform
    created_by       TEXT        NOT NULL,
    external_id      TEXT,
    metadata         JSONB       NOT NULL,
    edition          BIGINT      NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT assignment_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS assignment_by_subject ON assignment (org_id, subject_id, id);
CREATE INDEX IF NOT EXISTS assignment_by_portal ON assignment (org_id, portal_id, id);
CREATE INDEX IF NOT EXISTS assignment_by_state ON assignment (org_id, state, id);
CREATE INDEX IF NOT EXISTS assignment_by_turn ON assignment (turn_at) WHERE turn_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS assignment_by_walk ON assignment (walk_at) WHERE walk_at IS NOT NULL;

-- How many people an assignment has, by how far they got. It is apart from the assignment, so
-- that whoever begins waits for nobody who changes that.
CREATE TABLE IF NOT EXISTS assignment_count (
    org_id        UUID   NOT NULL,
    assignment_id UUID   NOT NULL,
    assigned      BIGINT NOT NULL,
    started       BIGINT NOT NULL,
    completed     BIGINT NOT NULL,
    overdue       BIGINT NOT NULL,
    -- by released results
    passed        BIGINT NOT NULL,
    CONSTRAINT assignment_count_pkey PRIMARY KEY (org_id, assignment_id)
);

CREATE TABLE IF NOT EXISTS assignment_person (
    org_id         UUID    NOT NULL,
    assignment_id  UUID    NOT NULL,
    person_id      UUID    NOT NULL,
    membership_id  UUID    NOT NULL,
    -- not_started | started | completed | overdue | excused
    state          TEXT    NOT NULL,
    attempts       BIGINT  NOT NULL,
    -- attempts that were granted beyond those that everybody has
    extra_attempts BIGINT  NOT NULL,
    -- the result that it was completed by, or else the latest
    result_id      UUID,
    completion_id  UUID,
    started_at     TIMESTAMPTZ,
    completed_at   TIMESTAMPTZ,
    late           BOOLEAN NOT NULL,
    -- by a released result
    passed         BOOLEAN NOT NULL,
    -- what was done in time waits to be released
    waiting        BOOLEAN NOT NULL,
    excused_at     TIMESTAMPTZ,
    excuse_reason  TEXT,
    -- when they left those whom it is for; null while they are among them
    left_at        TIMESTAMPTZ,
    -- when to remind them next; null for never
    remind_at      TIMESTAMPTZ,
    -- when they were last reminded because somebody asked for it
    asked_at       TIMESTAMPTZ,
    CONSTRAINT assignment_person_pkey PRIMARY KEY (org_id, assignment_id, person_id)
);
CREATE INDEX IF NOT EXISTS assignment_person_by_state ON assignment_person (org_id, assignment_id, state, person_id);
CREATE INDEX IF NOT EXISTS assignment_person_by_person ON assignment_person (org_id, person_id, assignment_id);
CREATE INDEX IF NOT EXISTS assignment_person_by_reminder ON assignment_person (remind_at, org_id) WHERE remind_at IS NOT NULL;

-- Nobody is reminded of the same work twice in a day of theirs.
CREATE TABLE IF NOT EXISTS assignment_reminder (
    org_id        UUID NOT NULL,
    assignment_id UUID NOT NULL,
    person_id     UUID NOT NULL,
    -- in the person's time zone: 2026-11-23
    day           TEXT NOT NULL,
    reminded_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT assignment_reminder_pkey PRIMARY KEY (org_id, assignment_id, person_id, day)
);
CREATE INDEX IF NOT EXISTS assignment_reminder_by_person ON assignment_reminder (org_id, person_id);

CREATE INDEX IF NOT EXISTS assignment_reminder_by_time ON assignment_reminder (reminded_at);

CREATE TABLE IF NOT EXISTS attempt_grant (
    org_id         UUID        NOT NULL,
    id             UUID        NOT NULL,
    assignment_id  UUID        NOT NULL,
    person_id      UUID        NOT NULL,
    subject_id     UUID        NOT NULL,
    extra_attempts BIGINT      NOT NULL,
    reason         TEXT,
    granted_by     TEXT        NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT attempt_grant_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS attempt_grant_by_person ON attempt_grant (org_id, person_id, id);

-- The assignment that a session belongs to; null for none.
ALTER TABLE session ADD COLUMN IF NOT EXISTS assignment_id UUID;

-- +goose Down
ALTER TABLE session DROP COLUMN IF EXISTS assignment_id;
DROP TABLE IF EXISTS attempt_grant;
DROP TABLE IF EXISTS assignment_reminder;
DROP TABLE IF EXISTS assignment_person;
DROP TABLE IF EXISTS assignment_count;
DROP TABLE IF EXISTS assignment;
