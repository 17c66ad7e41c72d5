-- How well people master the objectives of subjects.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS mastery (
    org_id         UUID        NOT NULL,
    person_id      UUID        NOT NULL,
    subject_id     UUID        NOT NULL,
    objective_key  TEXT        NOT NULL,
    -- how likely it was mastered when there was evidence last, from 0 to 1
    known          DOUBLE PRECISION NOT NULL,
    -- in how many days nine of ten remember it still; 0 without evidence
    stability      DOUBLE PRECISION NOT NULL,
    evidence_count BIGINT      NOT NULL,
    -- when there was evidence last, and when it is to be practiced again; null without
    evidence_at    TIMESTAMPTZ,
    due_at         TIMESTAMPTZ,
    -- none | emerging | secure | strong, before the last change
    previous_level TEXT        NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT mastery_pkey PRIMARY KEY (org_id, person_id, subject_id, objective_key)
);

-- +goose Down
DROP TABLE IF EXISTS mastery;
