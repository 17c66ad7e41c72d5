-- The portals that AI assistants may ask, to be listed.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS agent (
    org_id          UUID        NOT NULL,
    portal_id       UUID        NOT NULL,
    slug            TEXT        NOT NULL,
    -- false for what was looked at and is not to be asked
    listed          BOOLEAN     NOT NULL,
    -- what is shown, in a form of package agent's
    details         JSONB       NOT NULL,
    -- the state of the portal and of its persona that it was read from, and when
    page_stamp      BIGINT      NOT NULL,
    persona_version BIGINT      NOT NULL,
    read_at         TIMESTAMPTZ NOT NULL,
    CONSTRAINT agent_pkey PRIMARY KEY (org_id, portal_id),
    CONSTRAINT agent_org_fkey FOREIGN KEY (org_id) REFERENCES organization (id)
);
CREATE INDEX IF NOT EXISTS agent_by_slug ON agent (slug, portal_id) WHERE listed;

-- The beginnings of the words that an agent is found by, and its languages.
CREATE TABLE IF NOT EXISTS agent_term (
    term      TEXT NOT NULL,
    slug      TEXT NOT NULL,
    portal_id UUID NOT NULL,
    org_id    UUID NOT NULL,
    CONSTRAINT agent_term_pkey PRIMARY KEY (term, slug, portal_id)
);
CREATE INDEX IF NOT EXISTS agent_term_by_portal ON agent_term (org_id, portal_id);

-- +goose Down
DROP TABLE IF EXISTS agent_term;
DROP TABLE IF EXISTS agent;
