-- Organisations are found by the last digits of their ids, which the numbers of
-- certificates begin with.

-- +goose NO TRANSACTION
-- +goose Up

CREATE INDEX IF NOT EXISTS organization_by_code ON organization (right(id::TEXT, 10));

-- +goose Down
DROP INDEX IF EXISTS organization_by_code;
