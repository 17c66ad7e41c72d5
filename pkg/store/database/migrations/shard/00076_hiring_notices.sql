-- What tells hiring teams and candidates in time: answers that are due, explanations that a law wants, reminders.

-- +goose NO TRANSACTION
-- +goose Up

-- When the team is told next that a request waits for an answer; NULL for never.
ALTER TABLE candidate_request ADD COLUMN IF NOT EXISTS watch_at TIMESTAMPTZ;
CREATE INDEX IF NOT EXISTS candidate_request_by_watch ON candidate_request (watch_at) WHERE watch_at IS NOT NULL;

-- When the team is told next that a rejection was not explained; NULL for never.
ALTER TABLE candidate ADD COLUMN IF NOT EXISTS explain_at TIMESTAMPTZ;
CREATE INDEX IF NOT EXISTS candidate_by_explanation ON candidate (explain_at) WHERE explain_at IS NOT NULL;

-- When the candidate is reminded next; NULL for never.
ALTER TABLE candidate_invite ADD COLUMN IF NOT EXISTS remind_at TIMESTAMPTZ;
CREATE INDEX IF NOT EXISTS candidate_invite_by_reminder ON candidate_invite (remind_at) WHERE remind_at IS NOT NULL;

-- +goose Down
DROP INDEX IF EXISTS candidate_invite_by_reminder;
ALTER TABLE candidate_invite DROP COLUMN IF EXISTS remind_at;
DROP INDEX IF EXISTS candidate_by_explanation;
ALTER TABLE candidate DROP COLUMN IF EXISTS explain_at;
DROP INDEX IF EXISTS candidate_request_by_watch;
ALTER TABLE candidate_request DROP COLUMN IF EXISTS watch_at;
