-- What visitors leave: who wants to be contacted, and who wants to talk with a person.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS inbox_item (
    org_id         UUID        NOT NULL,
    id             UUID        NOT NULL,
    -- lead | handoff
    kind           TEXT        NOT NULL,
    -- new | open | waiting | snoozed | won | lost | done | spam | forgotten
    state          TEXT        NOT NULL,
    portal_id      UUID,
    widget_id      UUID,
    persona_id     UUID,
    -- the conversation that it came of; null for what the organization entered
    session_id     UUID,
    -- video | voice | chat; null without a conversation
    channel        TEXT,
    language       TEXT        NOT NULL,
    -- how to reach the visitor, and whether they agreed; null once it is forgotten
    contact        JSONB,
    -- what the visitor said of the matter
    words          JSONB       NOT NULL,
    -- hot | warm | cold of a lead; null of a hand-off
    band           TEXT,
    -- whether a person chose the band, which no rule changes then
    band_chosen    BOOLEAN     NOT NULL,
    -- low | normal | high
    urgency        TEXT        NOT NULL,
    department     TEXT,
    -- visitor | avatar | rule of a hand-off; null of a lead
    requested_by   TEXT,
    -- since when the visitor waits, and who of the team came when; null of a lead
    waiting_since  TIMESTAMPTZ,
    staff_id       UUID,
    joined_at      TIMESTAMPTZ,
    -- the page and the campaign that the visitor came by
    source         JSONB       NOT NULL,
    assignee_id    UUID,
    tags           TEXT[]      NOT NULL,
    snoozed_until  TIMESTAMPTZ,
    forgotten_at   TIMESTAMPTZ,
    external_id    TEXT,
    metadata       JSONB       NOT NULL,
    edition        BIGINT      NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT inbox_item_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS inbox_item_by_state ON inbox_item (org_id, state, id);
CREATE INDEX IF NOT EXISTS inbox_item_by_kind ON inbox_item (org_id, kind, id);
CREATE INDEX IF NOT EXISTS inbox_item_by_band ON inbox_item (org_id, band, id);
CREATE INDEX IF NOT EXISTS inbox_item_by_portal ON inbox_item (org_id, portal_id, id);
CREATE INDEX IF NOT EXISTS inbox_item_by_assignee ON inbox_item (org_id, assignee_id, id);
CREATE INDEX IF NOT EXISTS inbox_item_active ON inbox_item (org_id, id) WHERE state IN ('new', 'open', 'waiting', 'snoozed');
-- A conversation leaves one item of a kind.
CREATE UNIQUE INDEX IF NOT EXISTS inbox_item_by_session ON inbox_item (org_id, session_id, kind) WHERE session_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS inbox_item_by_snooze ON inbox_item (snoozed_until) WHERE snoozed_until IS NOT NULL;

-- What the team wrote to an item, for itself.
CREATE TABLE IF NOT EXISTS inbox_note (
    org_id   UUID        NOT NULL,
    item_id  UUID        NOT NULL,
    id       UUID        NOT NULL,
    author   TEXT        NOT NULL,
    text     TEXT        NOT NULL,
    at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT inbox_note_pkey PRIMARY KEY (org_id, item_id, id)
);

-- The beginnings of words that items are found by.
CREATE TABLE IF NOT EXISTS inbox_term (
    org_id  UUID NOT NULL,
    term    TEXT NOT NULL,
    item_id UUID NOT NULL,
    CONSTRAINT inbox_term_pkey PRIMARY KEY (org_id, term, item_id)
);
CREATE INDEX IF NOT EXISTS inbox_term_by_item ON inbox_term (org_id, item_id);

-- +goose Down
DROP TABLE IF EXISTS inbox_term;
DROP TABLE IF EXISTS inbox_note;
DROP TABLE IF EXISTS inbox_item;
