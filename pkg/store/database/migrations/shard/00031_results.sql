-- What came of practices and assessments, who looks at it, and who objects.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS result (
    org_id           UUID        NOT NULL,
    id               UUID        NOT NULL,
    -- in_progress | awaiting_review | released | contested | withdrawn | voided
    state            TEXT        NOT NULL,
    -- assessment | practice
    kind             TEXT        NOT NULL,
    subject_id       UUID        NOT NULL,
    portal_id        UUID        NOT NULL,
    person_id        UUID        NOT NULL,
    membership_id    UUID        NOT NULL,
    unit_id          UUID,
    session_id       UUID        NOT NULL,
    assignment_id    UUID,
    attempt          BIGINT      NOT NULL,
    attempts_allowed BIGINT,
    pass_percent     BIGINT,
    -- the version of the subject whose rubrics count
    rubric_version   BIGINT      NOT NULL,
    language         TEXT        NOT NULL,
    -- the keys of the questions that were to be asked, in order
    asked            JSONB       NOT NULL,
    started_at       TIMESTAMPTZ NOT NULL,
    completed_at     TIMESTAMPTZ,
    released_at      TIMESTAMPTZ,
    -- nobody but who may change results is shown these before it is released
    percent          DOUBLE PRECISION,
    score            DOUBLE PRECISION,
    max_score        DOUBLE PRECISION NOT NULL,
    band             TEXT,
    passed           BOOLEAN,
    criteria         JSONB       NOT NULL,
    confidence       DOUBLE PRECISION,
    -- avatar | person | mixed; null before the first score
    scored_by        TEXT,
    needs_review     BOOLEAN     NOT NULL,
    -- why it needs a review; null where it does not
    doubt            TEXT,
    on_hold          BOOLEAN     NOT NULL,
    edition          BIGINT      NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT result_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS result_by_state ON result (org_id, state, id);
CREATE INDEX IF NOT EXISTS result_by_subject ON result (org_id, subject_id, id);
CREATE INDEX IF NOT EXISTS result_by_portal ON result (org_id, portal_id, id);
CREATE INDEX IF NOT EXISTS result_by_person ON result (org_id, person_id, id);
CREATE INDEX IF NOT EXISTS result_by_unit ON result (org_id, unit_id, id) WHERE unit_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS result_by_session ON result (org_id, session_id);
-- Nobody makes the same attempt twice.
CREATE UNIQUE INDEX IF NOT EXISTS result_attempt ON result (org_id, person_id, subject_id, kind, attempt);

CREATE TABLE IF NOT EXISTS review (
    org_id           UUID        NOT NULL,
    id               UUID        NOT NULL,
    result_id        UUID        NOT NULL,
    -- open | completed
    state            TEXT        NOT NULL,
    -- the platform, or the id of a key
    requested_by     TEXT        NOT NULL,
    reason_code      TEXT        NOT NULL,
    -- a person
    assignee_id      UUID,
    due_at           TIMESTAMPTZ,
    -- who completed it
    reviewer         TEXT,
    -- upheld | changed | voided
    outcome          TEXT,
    changes          JSONB       NOT NULL,
    previous_percent DOUBLE PRECISION,
    note             TEXT,
    created_at       TIMESTAMPTZ NOT NULL,
    completed_at     TIMESTAMPTZ,
    CONSTRAINT review_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS review_by_result ON review (org_id, result_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS review_open ON review (org_id, result_id) WHERE state = 'open';

CREATE TABLE IF NOT EXISTS contest (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    result_id  UUID        NOT NULL,
    -- open | upheld | rejected | withdrawn
    state      TEXT        NOT NULL,
    -- the learner's, and of who decided
    words      TEXT        NOT NULL,
    note       TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    decided_at TIMESTAMPTZ,
    CONSTRAINT contest_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS contest_by_result ON contest (org_id, result_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS contest_open ON contest (org_id, result_id) WHERE state = 'open';

-- +goose Down
DROP TABLE IF EXISTS contest;
DROP TABLE IF EXISTS review;
DROP TABLE IF EXISTS result;
