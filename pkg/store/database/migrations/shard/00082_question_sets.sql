-- What the candidates of a role are asked, frozen: the same words for everybody who has a version.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS hiring_question_set (
    org_id          UUID        NOT NULL,
    role_id         UUID        NOT NULL,
    version         BIGINT      NOT NULL,
    hash            TEXT        NOT NULL,
    -- As it was hashed, to the byte.
    document        TEXT        NOT NULL,
    subject_id      UUID        NOT NULL,
    subject_version BIGINT      NOT NULL,
    questions       BIGINT      NOT NULL,
    invited         BIGINT      NOT NULL,
    interviewed     BIGINT      NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT hiring_question_set_pkey PRIMARY KEY (org_id, role_id, version)
);
CREATE UNIQUE INDEX IF NOT EXISTS hiring_question_set_by_hash ON hiring_question_set (org_id, role_id, hash);

-- 0 of who was invited before there were any: theirs is frozen once their interview begins.
ALTER TABLE candidate ADD COLUMN IF NOT EXISTS question_set BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE candidate DROP COLUMN IF EXISTS question_set;
DROP TABLE IF EXISTS hiring_question_set;
