-- The figures of dashboards, counted from the event log.

-- +goose NO TRANSACTION
-- +goose Up

-- How far the log was counted. The figures of a step are committed with it.
CREATE TABLE IF NOT EXISTS dashboard_cursor (
    org_id UUID   NOT NULL,
    -- events | deliveries
    source TEXT   NOT NULL,
    -- the last event that was counted
    after  UUID   NOT NULL,
    -- how many sessions are live, by portal; that of no portal has all of the organization
    live   JSONB  NOT NULL,
    CONSTRAINT dashboard_cursor_pkey PRIMARY KEY (org_id, source)
);

-- What was counted in a quarter of an hour: of a unit, of a portal, or of the organization,
-- where the ids of the others are zero.
CREATE TABLE IF NOT EXISTS dashboard_count (
    org_id    UUID        NOT NULL,
    -- sessions | ratings | breakdowns | learning | inbox | hiring | deliveries
    area      TEXT        NOT NULL,
    portal_id UUID        NOT NULL,
    unit_id   UUID        NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    -- numbers by what was counted
    counts    JSONB       NOT NULL,
    CONSTRAINT dashboard_count_pkey PRIMARY KEY (org_id, area, portal_id, unit_id, at)
);
CREATE INDEX IF NOT EXISTS dashboard_count_by_time ON dashboard_count (org_id, at);

-- What waits to be counted until it is of five people.
CREATE TABLE IF NOT EXISTS dashboard_waiting (
    org_id    UUID  NOT NULL,
    measure   TEXT  NOT NULL,
    portal_id UUID  NOT NULL,
    unit_id   UUID  NOT NULL,
    -- a person or a candidate
    person_id UUID  NOT NULL,
    counts    JSONB NOT NULL,
    -- when the last of it happened
    at        TIMESTAMPTZ NOT NULL,
    CONSTRAINT dashboard_waiting_pkey PRIMARY KEY (org_id, measure, portal_id, unit_id, person_id)
);
CREATE INDEX IF NOT EXISTS dashboard_waiting_by_person ON dashboard_waiting (org_id, person_id);
CREATE INDEX IF NOT EXISTS dashboard_waiting_by_time ON dashboard_waiting (at);

-- What was counted of a thing that may change, so that the change can be counted.
CREATE TABLE IF NOT EXISTS dashboard_fact (
    org_id UUID        NOT NULL,
    -- lead | rating | result | completion | delivery
    kind   TEXT        NOT NULL,
    id     UUID        NOT NULL,
    at     TIMESTAMPTZ NOT NULL,
    body   JSONB       NOT NULL,
    CONSTRAINT dashboard_fact_pkey PRIMARY KEY (org_id, kind, id)
);
CREATE INDEX IF NOT EXISTS dashboard_fact_by_time ON dashboard_fact (at);

-- +goose Down
DROP TABLE IF EXISTS dashboard_fact;
DROP TABLE IF EXISTS dashboard_waiting;
DROP TABLE IF EXISTS dashboard_count;
DROP TABLE IF EXISTS dashboard_cursor;
