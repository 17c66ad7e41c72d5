-- What is done with items of the inbox by itself: rules, whose turn it is, and due times.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS inbox_rule (
    org_id     UUID        NOT NULL,
    id         UUID        NOT NULL,
    name       TEXT        NOT NULL,
    enabled    BOOLEAN     NOT NULL,
    -- rules of an event are applied in this order
    position   BIGINT      NOT NULL,
    -- item_created | item_updated | reply_received | due_soon | overdue
    event      TEXT        NOT NULL,
    -- when it applies, and what is done then
    definition JSONB       NOT NULL,
    -- the person whom it assigned an item last
    turn       UUID,
    edition    BIGINT      NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT inbox_rule_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS inbox_rule_by_position ON inbox_rule (org_id, position, id);

-- Who of an organization's people deals with items, and when they are there.
CREATE TABLE IF NOT EXISTS inbox_member (
    org_id      UUID        NOT NULL,
    person_id   UUID        NOT NULL,
    away        BOOLEAN     NOT NULL,
    -- they are there again from this moment on; null for until they say so
    away_until  TIMESTAMPTZ,
    departments TEXT[]      NOT NULL,
    -- a time zone and hours of the week; null for any time
    hours       JSONB,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT inbox_member_pkey PRIMARY KEY (org_id, person_id)
);

-- What a rule did with an item on an occasion, on each of which it is applied once.
CREATE TABLE IF NOT EXISTS inbox_rule_run (
    org_id    UUID        NOT NULL,
    item_id   UUID        NOT NULL,
    rule_id   UUID        NOT NULL,
    -- the event and, where it comes more than once, what tells two apart
    occasion  TEXT        NOT NULL,
    rule_name TEXT        NOT NULL,
    event     TEXT        NOT NULL,
    -- the names of the fields that changed, and what could not be done
    did       JSONB       NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    CONSTRAINT inbox_rule_run_pkey PRIMARY KEY (org_id, item_id, rule_id, occasion)
);

ALTER TABLE inbox_item ADD COLUMN IF NOT EXISTS sla_due_at TIMESTAMPTZ;
-- when somebody is told next that the item is due; null for not any more
ALTER TABLE inbox_item ADD COLUMN IF NOT EXISTS due_step_at TIMESTAMPTZ;
CREATE INDEX IF NOT EXISTS inbox_item_by_due_step ON inbox_item (due_step_at) WHERE due_step_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS inbox_item_due ON inbox_item (org_id, sla_due_at, id) WHERE sla_due_at IS NOT NULL AND state IN ('new', 'open', 'waiting', 'snoozed');

-- +goose Down
DROP INDEX IF EXISTS inbox_item_due;
DROP INDEX IF EXISTS inbox_item_by_due_step;
ALTER TABLE inbox_item DROP COLUMN IF EXISTS due_step_at;
ALTER TABLE inbox_item DROP COLUMN IF EXISTS sla_due_at;
DROP TABLE IF EXISTS inbox_rule_run;
DROP TABLE IF EXISTS inbox_member;
DROP TABLE IF EXISTS inbox_rule;
