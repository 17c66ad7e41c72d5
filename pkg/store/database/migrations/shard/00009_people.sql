-- People, their places in portals, the units they belong to, and what personas
-- remember of them.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS person (
    org_id       UUID        NOT NULL,
    id           UUID        NOT NULL,
    name         TEXT        NOT NULL,
    given_name   TEXT,
    family_name  TEXT,
    email        TEXT,
    -- the address in the form that tells two apart; null without one
    email_key    TEXT,
    -- nobody vouches that the address is theirs: they gave it themselves
    claimed      BOOLEAN     NOT NULL DEFAULT false,
    phone        TEXT,
    external_id  TEXT,
    language     TEXT,
    timezone     TEXT,
    -- under_13 | 13_15 | 16_17 | adult | unknown
    age_band     TEXT        NOT NULL,
    -- invited | active | disabled | erased
    state        TEXT        NOT NULL,
    last_seen_at TIMESTAMPTZ,
    metadata     JSONB       NOT NULL,
    edition      BIGINT      NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    erased_at    TIMESTAMPTZ,
    CONSTRAINT person_pkey PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX IF NOT EXISTS person_by_external ON person (org_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS person_by_email ON person (org_id, email_key) WHERE email_key IS NOT NULL;

CREATE TABLE IF NOT EXISTS unit (
    org_id      UUID        NOT NULL,
    id          UUID        NOT NULL,
    portal_id   UUID        NOT NULL,
    parent_id   UUID,
    -- class | team | group | department | site
    kind        TEXT        NOT NULL,
    name        TEXT        NOT NULL,
    code        TEXT,
    enabled     BOOLEAN     NOT NULL,
    -- people
    manager_ids UUID[]      NOT NULL,
    external_id TEXT,
    metadata    JSONB       NOT NULL,
    edition     BIGINT      NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT unit_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS unit_by_portal ON unit (org_id, portal_id, id);
CREATE INDEX IF NOT EXISTS unit_by_parent ON unit (org_id, parent_id, id) WHERE parent_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS membership (
    org_id          UUID        NOT NULL,
    id              UUID        NOT NULL,
    person_id       UUID        NOT NULL,
    portal_id       UUID        NOT NULL,
    unit_id         UUID,
    -- learner | manager | reviewer | teacher | staff | admin
    role            TEXT        NOT NULL,
    -- its own switch; that of its unit, and of the units above it, counts beside it
    enabled         BOOLEAN     NOT NULL,
    starts_at       TIMESTAMPTZ,
    ends_at         TIMESTAMPTZ,
    -- the guardian's consent that counts; null for none
    consent_id      UUID,
    -- the door that it came in by last; null before the first
    door            TEXT,
    last_sign_in_at TIMESTAMPTZ,
    external_id     TEXT,
    metadata        JSONB       NOT NULL,
    edition         BIGINT      NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    -- when the place was taken away; that it was there is remembered for a while
    removed_at      TIMESTAMPTZ,
    -- what was last told: whether it is switched on, all switches taken together
    told_on         BOOLEAN     NOT NULL,
    CONSTRAINT membership_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX IF NOT EXISTS membership_by_person ON membership (org_id, person_id, id);
CREATE INDEX IF NOT EXISTS membership_by_portal ON membership (org_id, portal_id, person_id) WHERE removed_at IS NULL;
CREATE INDEX IF NOT EXISTS membership_by_unit ON membership (org_id, unit_id, person_id) WHERE unit_id IS NOT NULL AND removed_at IS NULL;
CREATE INDEX IF NOT EXISTS membership_by_removal ON membership (removed_at) WHERE removed_at IS NOT NULL;
-- Nobody has the same place twice.
CREATE UNIQUE INDEX IF NOT EXISTS membership_in_unit ON membership (org_id, person_id, portal_id, unit_id)
    WHERE unit_id IS NOT NULL AND removed_at IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS membership_outside ON membership (org_id, person_id, portal_id) WHERE unit_id IS NULL AND removed_at IS NULL;

-- A guardian's consent is about a place, and says who gave it for what.
ALTER TABLE consent ADD COLUMN IF NOT EXISTS membership_id UUID;
ALTER TABLE consent ADD COLUMN IF NOT EXISTS guardian JSONB;
ALTER TABLE consent ADD COLUMN IF NOT EXISTS person_id UUID;
CREATE INDEX IF NOT EXISTS consent_by_person ON consent (org_id, person_id, id) WHERE person_id IS NOT NULL;

-- What a persona remembers of a person.
CREATE TABLE IF NOT EXISTS memory (
    org_id     UUID        NOT NULL,
    persona_id UUID        NOT NULL,
    person_id  UUID        NOT NULL,
    id         UUID        NOT NULL,
    items      JSONB       NOT NULL,
    session_id UUID        NOT NULL,
    written_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT memory_pkey PRIMARY KEY (org_id, persona_id, person_id)
);
CREATE INDEX IF NOT EXISTS memory_by_person ON memory (org_id, person_id);
CREATE INDEX IF NOT EXISTS memory_by_expiry ON memory (expires_at);

-- +goose Down
DROP TABLE IF EXISTS memory;
DROP INDEX IF EXISTS consent_by_person;
ALTER TABLE consent DROP COLUMN IF EXISTS person_id;
ALTER TABLE consent DROP COLUMN IF EXISTS guardian;
ALTER TABLE consent DROP COLUMN IF EXISTS membership_id;
DROP TABLE IF EXISTS membership;
DROP TABLE IF EXISTS unit;
DROP TABLE IF EXISTS person;
