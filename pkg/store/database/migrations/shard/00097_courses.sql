-- Courses of learning platforms whose members are read, and who of them is in the class that was made for each.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS course (
    org_id        UUID        NOT NULL,
    -- made of the connection, the platform, the portal and the platform's name of the course
    id            UUID        NOT NULL,
    connection_id UUID        NOT NULL,
    -- the platform that it is of, as the connection knew it, and who alone is asked for its members
    issuer        TEXT        NOT NULL,
    client_id     TEXT        NOT NULL,
    deployment_id TEXT        NOT NULL,
    context_id    TEXT        NOT NULL,
    title         TEXT        NOT NULL,
    portal_id     UUID        NOT NULL,
    -- the class; NULL until its members were read
    unit_id       UUID,
    -- where its members are listed
    address       TEXT        NOT NULL,
    -- counts the readings
    reading       BIGINT      NOT NULL,
    -- when it is to be read, when that was begun last, and when a reading last came to its end
    due_at        TIMESTAMPTZ NOT NULL,
    begun_at      TIMESTAMPTZ,
    read_at       TIMESTAMPTZ,
    -- when somebody who teaches it came last
    taught_at     TIMESTAMPTZ NOT NULL,
    -- how many readings in a row did not come to their end, and why the last did not
    failures      BIGINT      NOT NULL,
    trouble       TEXT        NOT NULL,
    -- how many members the list left out who stay in the class until that is confirmed
    kept          BIGINT      NOT NULL,
    -- whether that is confirmed of the next reading
    confirmed     BOOLEAN     NOT NULL,
    -- the job that reads it
    job_id        UUID,
    created_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT course_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS course_by_connection ON course (org_id, connection_id, id);

CREATE TABLE IF NOT EXISTS course_member (
    org_id        UUID        NOT NULL,
    course_id     UUID        NOT NULL,
    person_id     UUID        NOT NULL,
    -- the place in the class
    membership_id UUID        NOT NULL,
    -- the last reading that found them in the list
    reading       BIGINT      NOT NULL,
    -- when the place was taken away because the list had them no more
    left_at       TIMESTAMPTZ,
    CONSTRAINT course_member_pkey PRIMARY KEY (org_id, course_id, person_id)
);
CREATE INDEX IF NOT EXISTS course_member_by_person ON course_member (org_id, person_id);

-- Whom no list brings back: people who were erased.
CREATE TABLE IF NOT EXISTS course_erased (
    org_id        UUID        NOT NULL,
    connection_id UUID        NOT NULL,
    -- of the platform and its name of the person
    digest        BYTEA       NOT NULL,
    CONSTRAINT course_erased_pkey PRIMARY KEY (org_id, connection_id, digest)
);

-- +goose Down
DROP TABLE IF EXISTS course_erased;
DROP TABLE IF EXISTS course_member;
DROP TABLE IF EXISTS course;
