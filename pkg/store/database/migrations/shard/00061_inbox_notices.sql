-- What chats and helpdesks are told of the inbox.

-- +goose NO TRANSACTION
-- +goose Up

-- An item that a chat or a helpdesk is told, or was.
CREATE TABLE IF NOT EXISTS inbox_notice (
    org_id        UUID        NOT NULL,
    connection_id UUID        NOT NULL,
    item_id       UUID        NOT NULL,
    -- the item's that is to be told, and the last that was; 0 for none
    edition       BIGINT      NOT NULL,
    told          BIGINT      NOT NULL,
    -- whether what becomes of the item is told too, as a helpdesk is
    follows       BOOLEAN     NOT NULL,
    -- nothing is told before
    not_before    TIMESTAMPTZ NOT NULL,
    -- the ticket's id, and the address of the account that has it; empty for none
    external_id   TEXT        NOT NULL,
    account       TEXT        NOT NULL,
    -- of what was told last: the item's state, the last note, and the SHA-256 of how to reach the visitor and what they said
    state         TEXT        NOT NULL,
    note_id       UUID,
    said          TEXT        NOT NULL,
    -- why what is untold is not being told; empty while it is
    trouble       TEXT        NOT NULL,
    -- the job that tells it
    job_id        UUID,
    changed_at    TIMESTAMPTZ NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT inbox_notice_pkey PRIMARY KEY (org_id, connection_id, item_id)
);
CREATE INDEX IF NOT EXISTS inbox_notice_by_item ON inbox_notice (org_id, item_id);
CREATE INDEX IF NOT EXISTS inbox_notice_untold ON inbox_notice (org_id, connection_id, changed_at) WHERE edition > told;

-- +goose Down
DROP TABLE IF EXISTS inbox_notice;
