-- Documents are read by processes of their own, who pass the other jobs by, and the
-- others theirs.

-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX IF NOT EXISTS job_due_by_kind ON job (heavy, due_at, kind) WHERE due_at IS NOT NULL;
DROP INDEX IF EXISTS job_due_in_line;

-- +goose Down
CREATE INDEX IF NOT EXISTS job_due_in_line ON job (heavy, due_at) WHERE due_at IS NOT NULL;
DROP INDEX IF EXISTS job_due_by_kind;
