-- The hours in which times are offered, the times that are reserved, and the bookings of the inbox.

-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS schedule (
    org_id      UUID        NOT NULL,
    id          UUID        NOT NULL,
    name        TEXT        NOT NULL,
    -- zone, weekly hours with exceptions, kinds of appointments, notice, horizon, capacity
    plan        JSONB       NOT NULL,
    edition     BIGINT      NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT schedule_pkey PRIMARY KEY (org_id, id)
);

-- Whose time is reserved: a schedule or a person. Whoever reserves holds the row.
CREATE TABLE IF NOT EXISTS slot_holder (
    org_id     UUID   NOT NULL,
    holder_id  UUID   NOT NULL,
    turn       BIGINT NOT NULL,
    CONSTRAINT slot_holder_pkey PRIMARY KEY (org_id, holder_id)
);

-- A time of a holder that is reserved for something, such as an item of the inbox, which has
-- one time of each holder.
CREATE TABLE IF NOT EXISTS slot_reservation (
    org_id       UUID        NOT NULL,
    holder_id    UUID        NOT NULL,
    reserved_by  UUID        NOT NULL,
    -- with the buffers before and after
    busy_from    TIMESTAMPTZ NOT NULL,
    busy_to      TIMESTAMPTZ NOT NULL,
    CONSTRAINT slot_reservation_pkey PRIMARY KEY (org_id, holder_id, reserved_by)
);
CREATE INDEX IF NOT EXISTS slot_reservation_by_time ON slot_reservation (org_id, holder_id, busy_from);
CREATE INDEX IF NOT EXISTS slot_reservation_by_reserver ON slot_reservation (org_id, reserved_by);
CREATE INDEX IF NOT EXISTS slot_reservation_by_end ON slot_reservation (busy_to);

-- when, where and how far, of an item that is a booking
ALTER TABLE inbox_item ADD COLUMN IF NOT EXISTS booking JSONB;

-- +goose Down
ALTER TABLE inbox_item DROP COLUMN IF EXISTS booking;
DROP TABLE IF EXISTS slot_reservation;
DROP TABLE IF EXISTS slot_holder;
DROP TABLE IF EXISTS schedule;
