-- Roles that candidates are interviewed for, who they are, and the record of what was done.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS hiring_role (
    org_id      UUID        NOT NULL,
    id          UUID        NOT NULL,
    title       TEXT        NOT NULL,
    portal_id   UUID        NOT NULL,
    -- what is asked
    subject_id  UUID        NOT NULL,
    -- draft | open | paused | closed
    state       TEXT        NOT NULL,
    definition  JSONB       NOT NULL,
    -- of the published questions
    questions   BIGINT      NOT NULL,
    deadline    TIMESTAMPTZ,
    external_id TEXT,
    metadata    JSONB       NOT NULL,
    created_by  TEXT        NOT NULL,
    edition     BIGINT      NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT hiring_role_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS hiring_role_by_portal ON hiring_role (org_id, portal_id, id);
CREATE INDEX IF NOT EXISTS hiring_role_by_state ON hiring_role (org_id, state, id);

-- How far a role's candidates got. It is apart from the role, so that whoever opens an invite
-- waits for nobody who changes that.
CREATE TABLE IF NOT EXISTS hiring_role_count (
    org_id   UUID   NOT NULL,
    role_id  UUID   NOT NULL,
    invited  BIGINT NOT NULL,
    opened   BIGINT NOT NULL,
    screened BIGINT NOT NULL,
    reviewed BIGINT NOT NULL,
    advanced BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    hired    BIGINT NOT NULL,
    CONSTRAINT hiring_role_count_pkey PRIMARY KEY (org_id, role_id)
);

CREATE TABLE IF NOT EXISTS candidate (
    org_id        UUID        NOT NULL,
    id            UUID        NOT NULL,
    role_id       UUID        NOT NULL,
    invite_id     UUID        NOT NULL,
    name          TEXT        NOT NULL,
    email         TEXT,
    -- the address as it is compared
    email_key     TEXT,
    phone         TEXT,
    resume_url    TEXT,
    external_id   TEXT,
    language      TEXT        NOT NULL,
    metadata      JSONB       NOT NULL,
    -- invited | opened | in_progress | screened | reviewed | decided | withdrawn | erased
    state         TEXT        NOT NULL,
    -- screening | interview | offer | closed
    stage         TEXT        NOT NULL,
    -- what they were told, when and how; null before
    notice        JSONB,
    -- when the interview may begin at the earliest; null while they were not told
    starts_from   TIMESTAMPTZ,
    -- what they agreed to, and when
    consent       JSONB       NOT NULL,
    screening_id  UUID,
    -- interviews that counted, and further ones that were granted
    attempts      BIGINT      NOT NULL,
    extra         BIGINT      NOT NULL,
    screened_at   TIMESTAMPTZ,
    reviewed_at   TIMESTAMPTZ,
    reviewer_id   UUID,
    -- the last one, without its note; null before
    decision      JSONB,
    decision_note TEXT,
    on_hold       BOOLEAN     NOT NULL,
    retain_until  TIMESTAMPTZ NOT NULL,
    -- when they got a new link; null for never
    link_at       TIMESTAMPTZ,
    -- until when what they said is kept; null once it is deleted
    words_until   TIMESTAMPTZ,
    -- when the clock deletes what they said; null once it did, and while they are held
    silence_at    TIMESTAMPTZ,
    -- when the clock erases them; null while they are held, and once they are erased
    erase_at      TIMESTAMPTZ,
    erased_at     TIMESTAMPTZ,
    -- how many entries their record has, and the hash of the last
    record_length BIGINT      NOT NULL,
    record_head   BYTEA       NOT NULL,
    sandbox       BOOLEAN     NOT NULL,
    edition       BIGINT      NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT candidate_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS candidate_by_role ON candidate (org_id, role_id, id);
CREATE INDEX IF NOT EXISTS candidate_by_state ON candidate (org_id, role_id, state, id);
CREATE INDEX IF NOT EXISTS candidate_by_erasure ON candidate (erase_at) WHERE erase_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS candidate_by_silence ON candidate (silence_at) WHERE silence_at IS NOT NULL;
-- Nobody is invited to a role twice at a time.
CREATE UNIQUE INDEX IF NOT EXISTS candidate_by_email ON candidate (org_id, role_id, email_key)
    WHERE email_key IS NOT NULL AND state NOT IN ('withdrawn', 'erased');
CREATE UNIQUE INDEX IF NOT EXISTS candidate_by_external ON candidate (org_id, role_id, external_id)
    WHERE external_id IS NOT NULL AND state NOT IN ('withdrawn', 'erased');

CREATE TABLE IF NOT EXISTS candidate_invite (
    org_id         UUID        NOT NULL,
    id             UUID        NOT NULL,
    role_id        UUID        NOT NULL,
    candidate_id   UUID        NOT NULL,
    -- email | link
    channel        TEXT        NOT NULL,
    language       TEXT        NOT NULL,
    token_hash     BYTEA       NOT NULL,
    -- what the organization says to the candidate in the mail
    message        TEXT,
    expires_at     TIMESTAMPTZ NOT NULL,
    -- when it expires unused; null once it was used, cancelled or told to have expired
    due_at         TIMESTAMPTZ,
    sent_at        TIMESTAMPTZ,
    opened_at      TIMESTAMPTZ,
    started_at     TIMESTAMPTZ,
    completed_at   TIMESTAMPTZ,
    cancelled_at   TIMESTAMPTZ,
    reminders_sent BIGINT      NOT NULL,
    external_id    TEXT,
    created_by     TEXT        NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT candidate_invite_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS candidate_invite_by_role ON candidate_invite (org_id, role_id, id);
CREATE INDEX IF NOT EXISTS candidate_invite_by_candidate ON candidate_invite (org_id, candidate_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS candidate_invite_by_token ON candidate_invite (org_id, token_hash);
CREATE INDEX IF NOT EXISTS candidate_invite_by_due ON candidate_invite (due_at) WHERE due_at IS NOT NULL;

-- Interviews with an avatar. What was said is the session's.
CREATE TABLE IF NOT EXISTS screening (
    org_id          UUID        NOT NULL,
    id              UUID        NOT NULL,
    candidate_id    UUID        NOT NULL,
    role_id         UUID        NOT NULL,
    session_id      UUID        NOT NULL,
    subject_id      UUID        NOT NULL,
    subject_version BIGINT      NOT NULL,
    language        TEXT        NOT NULL,
    -- in_progress | scored | voided
    state           TEXT        NOT NULL,
    -- what is left of it: all | scores | nothing
    kept            TEXT        NOT NULL,
    -- the keys of the questions that were to be asked, in order
    asked           JSONB       NOT NULL,
    complete        BOOLEAN     NOT NULL,
    answered        BIGINT      NOT NULL,
    percent         DOUBLE PRECISION,
    band            TEXT,
    -- with what was said; empty where nothing is scored
    criteria        JSONB       NOT NULL,
    knockouts       JSONB       NOT NULL,
    -- what the page saw beside the words; null for nothing
    integrity       JSONB,
    duration_s      BIGINT,
    started_at      TIMESTAMPTZ NOT NULL,
    ended_at        TIMESTAMPTZ,
    CONSTRAINT screening_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS screening_by_candidate ON screening (org_id, candidate_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS screening_by_session ON screening (org_id, session_id);

-- What was done about a candidate, each entry with the hash of the one before. Rows are never
-- changed. No personal word is in them.
CREATE TABLE IF NOT EXISTS candidate_entry (
    org_id       UUID        NOT NULL,
    candidate_id UUID        NOT NULL,
    number       BIGINT      NOT NULL,
    at           TIMESTAMPTZ NOT NULL,
    actor        TEXT        NOT NULL,
    action       TEXT        NOT NULL,
    -- the facts, exactly as they were hashed
    data         TEXT        NOT NULL,
    -- of the words beside the entry; empty for none
    words_hash   BYTEA       NOT NULL,
    previous     BYTEA       NOT NULL,
    hash         BYTEA       NOT NULL,
    CONSTRAINT candidate_entry_pkey PRIMARY KEY (org_id, candidate_id, number)
);

-- Personal words of entries, with the salt of their hash: without both nobody can tell what
-- they were.
CREATE TABLE IF NOT EXISTS candidate_words (
    org_id       UUID   NOT NULL,
    candidate_id UUID   NOT NULL,
    number       BIGINT NOT NULL,
    salt         BYTEA  NOT NULL,
    words        TEXT   NOT NULL,
    CONSTRAINT candidate_words_pkey PRIMARY KEY (org_id, candidate_id, number)
);

-- The candidate that a visit is of; null for others.
ALTER TABLE portal_visit ADD COLUMN IF NOT EXISTS candidate_id UUID;

-- +goose Down
ALTER TABLE portal_visit DROP COLUMN IF EXISTS candidate_id;
DROP TABLE IF EXISTS candidate_words;
DROP TABLE IF EXISTS candidate_entry;
DROP TABLE IF EXISTS screening;
DROP TABLE IF EXISTS candidate_invite;
DROP TABLE IF EXISTS candidate;
DROP TABLE IF EXISTS hiring_role_count;
DROP TABLE IF EXISTS hiring_role;
