-- Coming in by mail, and by an identity provider of the organisation's own.

-- +goose NO TRANSACTION
-- +goose Up

-- Links that were mailed to people and let each in once.
CREATE TABLE IF NOT EXISTS mail_link (
    org_id        UUID        NOT NULL,
    -- of the token in the link
    hash          BYTEA       NOT NULL,
    portal_id     UUID        NOT NULL,
    person_id     UUID        NOT NULL,
    membership_id UUID        NOT NULL,
    -- of the address that it went to: whoever has another one by now did not get it
    address_hash  BYTEA       NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL,
    used_at       TIMESTAMPTZ,
    CONSTRAINT mail_link_pkey PRIMARY KEY (org_id, hash)
);
CREATE INDEX IF NOT EXISTS mail_link_by_person ON mail_link (org_id, person_id);
CREATE INDEX IF NOT EXISTS mail_link_by_expiry ON mail_link (expires_at);

-- How many mails were sent in an hour, for whom the limits count.
CREATE TABLE IF NOT EXISTS mail_count (
    org_id UUID        NOT NULL,
    -- the organisation, or a hash of a recipient
    holder TEXT        NOT NULL,
    hour   TIMESTAMPTZ NOT NULL,
    taken  BIGINT      NOT NULL,
    CONSTRAINT mail_count_pkey PRIMARY KEY (org_id, holder, hour)
);
CREATE INDEX IF NOT EXISTS mail_count_by_hour ON mail_count (hour);

-- Mails that wait for somebody.
CREATE INDEX IF NOT EXISTS job_mail ON job (org_id, resource_id) WHERE kind = 'mail_send';

ALTER TABLE case_link ADD COLUMN IF NOT EXISTS sent_at TIMESTAMPTZ;

-- The connection that a door lets people in by.
ALTER TABLE portal_door ADD COLUMN IF NOT EXISTS connection_id UUID;

-- Who people are at an identity provider: its own name for each, which never changes.
CREATE TABLE IF NOT EXISTS person_identity (
    org_id        UUID        NOT NULL,
    connection_id UUID        NOT NULL,
    -- a connection can be pointed at another provider, whose names are others'
    issuer        TEXT        NOT NULL,
    subject       TEXT        NOT NULL,
    person_id     UUID        NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT person_identity_pkey PRIMARY KEY (org_id, connection_id, issuer, subject)
);
CREATE INDEX IF NOT EXISTS person_identity_by_person ON person_identity (org_id, person_id);

-- +goose Down
DROP TABLE IF EXISTS person_identity;
ALTER TABLE portal_door DROP COLUMN IF EXISTS connection_id;
ALTER TABLE case_link DROP COLUMN IF EXISTS sent_at;
DROP INDEX IF EXISTS job_mail;
DROP TABLE IF EXISTS mail_count;
DROP TABLE IF EXISTS mail_link;
